/** WebhookAdmissionConfiguration: as whom this server calls webhooks. */
import * as z from 'zod/mini'
import type { Kubeconfig } from './kubeconfig.ts'
import { readKubeconfig } from './kubeconfig.ts'
import { readVersioned } from './versioned.ts'

const configuration = z.strictObject({
  // the command line puts the content of kubeConfigFile here: a Worker has no files
  kubeConfig: z.optional(z.unknown()),
})

const TYPES = [
  { group: 'apiserver.config.k8s.io', versions: ['v1'], kind: 'WebhookAdmissionConfiguration' },
  { group: 'apiserver.config.k8s.io', versions: ['v1alpha1'], kind: 'WebhookAdmission' },
] as const

/** Undefined: as nobody. @throws Error */
export function readWebhookClients(raw: unknown): Kubeconfig | undefined {
  if (raw === undefined) return undefined
  const { kubeConfig } = readVersioned(configuration, raw, ...TYPES)
  return kubeConfig === undefined ? undefined : readKubeconfig(kubeConfig)
}
