/**
 * How admission is set up: which plugins run, and the AdmissionConfiguration (apiserver.config.k8s.io/v1) that
 * --admission-control-config-file names.
 */
import * as z from 'zod/mini'
import { goQuote } from '../go/quote.ts'
import type { PluginLists, PluginName } from './admission-plugins.ts'
import { pluginsThatRun } from './admission-plugins.ts'
import type { EventLimit } from './event-rate-limit.ts'
import { readEventLimits } from './event-rate-limit.ts'
import type { ImagePolicySetting } from './image-policy.ts'
import { readImagePolicy } from './image-policy.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import type { LimitedResource } from './limited-resources.ts'
import { readLimitedResources } from './limited-resources.ts'
import type { PodNodeSelectors } from './pod-node-selectors.ts'
import { readPodNodeSelectors } from './pod-node-selectors.ts'
import type { PodSecuritySetting } from './pod-security.ts'
import { readPodSecurity } from './pod-security.ts'
import type { PodTolerationSetting } from './pod-tolerations.ts'
import { readPodTolerations } from './pod-tolerations.ts'
import { readPolicyManifests } from './policy-manifests.ts'
import { readVersioned } from './versioned.ts'
import { readWebhookClients } from './webhook-clients.ts'

export interface AdmissionSetting {
  readonly plugins: ReadonlySet<PluginName>
  /** Of the plugins that run. */
  readonly eventLimits: readonly EventLimit[]
  readonly imagePolicy: ImagePolicySetting | undefined
  readonly podNodeSelectors: PodNodeSelectors
  readonly podSecurity: PodSecuritySetting
  readonly podTolerations: PodTolerationSetting
  readonly limitedResources: readonly LimitedResource[]
  readonly webhookClients: { readonly mutating: Kubeconfig | undefined; readonly validating: Kubeconfig | undefined }
}

const configuration = z.strictObject({
  plugins: z._default(
    z.nullable(
      z.array(
        z.strictObject({ name: z.string(), path: z.optional(z.string()), configuration: z.optional(z.unknown()) }),
      ),
    ),
    [],
  ),
})

const TYPE = { group: 'apiserver.config.k8s.io', versions: ['v1'], kind: 'AdmissionConfiguration' }
const OLD_TYPE = { group: 'apiserver.k8s.io', versions: ['v1alpha1'], kind: 'AdmissionConfiguration' }

/** @param json an AdmissionConfiguration @returns the configurations by plugin @throws Error */
export function readAdmissionConfiguration(json: string): ReadonlyMap<string, unknown> {
  try {
    const { plugins } = readVersioned(configuration, parsed(json), TYPE, OLD_TYPE)
    const named = (plugins ?? []).toReversed() // the first of a name counts
    const outside = named.find(({ path = '' }) => path !== '')
    if (outside !== undefined) throw new Error(`${outside.name}: a Worker has no files, path must not be set`)
    return new Map(named.map((plugin) => [plugin.name, plugin.configuration ?? undefined]))
  } catch (error) {
    throw new Error(`failed to read plugin config: ${messageOf(error)}`, { cause: error })
  }
}

/** The parser's own words would show what stands there. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new Error('it is not JSON')
  }
}

/** @throws Error in kube-apiserver's words */
export function admissionSetting(
  lists: PluginLists,
  configurations: ReadonlyMap<string, unknown> = new Map(),
): AdmissionSetting {
  const plugins = pluginsThatRun(lists)
  /** What is configured for a plugin that does not run is not looked at. */
  const read = <T>(name: PluginName, reader: (raw: unknown) => T): T | undefined => {
    if (!plugins.has(name)) return undefined
    try {
      return reader(configurations.get(name))
    } catch (error) {
      throw new Error(`couldn't init admission plugin ${goQuote(name)}: ${messageOf(error)}`, { cause: error })
    }
  }
  for (const name of ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'] as const)
    read(name, readPolicyManifests(`${name}Configuration`))
  return {
    plugins,
    eventLimits: read('EventRateLimit', readEventLimits) ?? [],
    imagePolicy: read('ImagePolicyWebhook', readImagePolicy),
    podNodeSelectors: read('PodNodeSelector', readPodNodeSelectors) ?? new Map(),
    podSecurity: read('PodSecurity', readPodSecurity) ?? readPodSecurity(undefined),
    podTolerations: read('PodTolerationRestriction', readPodTolerations) ?? readPodTolerations(undefined),
    limitedResources: read('ResourceQuota', readLimitedResources) ?? [],
    webhookClients: {
      mutating: read('MutatingAdmissionWebhook', readWebhookClients),
      validating: read('ValidatingAdmissionWebhook', readWebhookClients),
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
