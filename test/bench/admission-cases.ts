/** The cases of admission.ts: the admission chain over a Pod, in a namespace without limits and in one with limits. */
import { admissionChain } from '../../src/admission/chain.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { pluginServer } from '../admission/plugin-server.ts'

const NAMESPACE = 'blue'
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`

const options = { dryRun: false, fieldManager: 'bench' }

export interface Chain {
  /**
   * A request with a decoded and defaulted Pod. @returns a function that runs the chain; making the Pod is not measured
   */
  next(): () => Promise<void>
}

/** @param limits objects in the namespace by resource */
export async function chainFor(limits: Readonly<Record<string, object>>): Promise<Chain> {
  const { memory, send, namespace } = pluginServer()
  await namespace(NAMESPACE)
  for (const [resource, object] of Object.entries(limits))
    await send('POST', `/api/v1/namespaces/${NAMESPACE}/${resource}`, object)
  const { code, body } = await send('POST', PODS, {
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      containers: [
        { name: 'web', image: 'nginx', ports: [{ containerPort: 80 }], resources: { requests: { cpu: '100m' } } },
      ],
    },
  })
  if (code !== 201) throw new Error(`${code} ${body.message}`)
  const text = JSON.stringify(asSent(body as unknown as KubeObject & JsonObject))
  const user = { name: 'bench', uid: '', groups: ['system:authenticated'], extra: {} }
  const served = await servedResources(memory.request(PODS))
  const entry = served.find('', 'v1', 'pods')!
  return {
    next() {
      // workerd has Request and Headers
      const request = { ...memory.request(PODS, { method: 'POST' }), user }
      const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: NAMESPACE })
      const object = JSON.parse(text) as KubeObject
      return async () => {
        await admissionChain.mutate(scope, 'CREATE', options, { object })
        await admissionChain.validate(scope, 'CREATE', options, { object })
      }
    },
  }
}

/** The Pod before admission, without the fields that plug-ins set. */
function asSent({ metadata, spec, apiVersion, kind }: KubeObject & JsonObject): object {
  const { tolerations: _t, priority: _p, preemptionPolicy: _e, volumes: _v, ...rest } = spec as JsonObject
  const containers = (rest['containers'] as JsonObject[]).map(({ volumeMounts: _, ...container }) => container)
  const { serviceAccount: _s, serviceAccountName: _n, ...own } = rest
  return { apiVersion, kind, metadata, spec: { ...own, containers } }
}

export const QUOTA = {
  metadata: { name: 'all' },
  spec: { hard: { pods: '1000000', 'requests.cpu': '1000000', 'count/configmaps': '1000' } },
}
export const LIMITS = {
  metadata: { name: 'all' },
  spec: { limits: [{ type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { memory: '64Mi' } }] },
}
