import type { Pod, PodSpec } from '../../src/api/core/v1.ts'

/** A Pod with one container, in the namespace `default`, that mounts no token. */
export const plainPod = (name: string, spec: Partial<PodSpec> = {}): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
    ...spec,
  },
})
