/** The built-in admission plugins in the order of kube-apiserver. Settings decide which of them run. */
import type { Admission } from '../registry/write/admission.ts'
import type { Undo } from '../registry/write/undo.ts'
import { admissionBy } from './write-admission.ts'
import { undoAll } from '../registry/write/undo.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { denyServiceExternalIPs } from './deny-service-external-ips.ts'
import { eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { imagePolicyWebhook } from './image-policy-webhook.ts'
import { jobValidation } from './job-validation.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { nodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { podResizeValidator } from './pod-resize.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { beginReads } from './read-once.ts'
import { Reinvocation } from './reinvocation.ts'
import { podGroupWorkloadExists } from './pod-groups.ts'
import { podGroupProtection, storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitRanger } from './limit-ranger.ts'
import { priority } from './priority.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import type { PluginName } from '../configuration/admission-plugins.ts'
import { pluginNames } from '../configuration/admission-plugins.ts'
import type { Env } from '../env.ts'
import { stepDurations } from '../metrics/admission.ts'
import { settingsOf } from '../settings.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { nodeTaint } from './node-taint.ts'
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy.ts'
import { validatingAdmissionPolicy } from './policies/validating-admission-policy.ts'
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './webhooks/admission-webhooks.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { rbacEscalation } from './rbac-escalation.ts'

/**
 * A new plugin is a file and a row here. configuration/ holds its name, its place in the order and whether it runs by
 * default.
 */
const NAMED: Readonly<Record<PluginName, AdmissionPlugin>> = {
  AlwaysAdmit: alwaysAdmit,
  NamespaceAutoProvision: namespaceAutoProvision(admissionBy({ admit, validate: validateAdmission })),
  NamespaceLifecycle: namespaceLifecycle,
  NamespaceExists: namespaceExists,
  LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: nodeTaint,
  AlwaysPullImages: alwaysPullImages,
  ImagePolicyWebhook: imagePolicyWebhook,
  PodSecurity: podSecurity,
  PodNodeSelector: podNodeSelector,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  PodTolerationRestriction: podTolerationRestriction,
  EventRateLimit: eventRateLimit,
  ExtendedResourceToleration: extendedResourceToleration,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  PodGroupProtection: podGroupProtection,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  ClusterTrustBundleAttest: clusterTrustBundleAttest,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIPs,
  PodTopologyLabels: podTopologyLabels,
  PodGroupWorkloadExists: podGroupWorkloadExists,
  NodeDeclaredFeatureValidator: nodeDeclaredFeatureValidator,
  JobValidation: jobValidation,
  PodResizeValidator: podResizeValidator,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota(admissionBy({ admit, validate: validateAdmission })),
  AlwaysDeny: alwaysDeny,
}

type Step = 'admit' | 'validate'

type Chain = Readonly<Record<Step | 'reads', readonly AdmissionPlugin[]>>

/** Bound: the environments of an isolate. */
const chains = new WeakMap<Env, Chain>()

function chainOf(env: Env): Chain {
  let chain = chains.get(env)
  if (chain === undefined) {
    const { plugins: names } = settingsOf(env).admission
    const plugins = pluginNames.flatMap((name) => (names.has(name) ? [NAMED[name]] : []))
    // No setting switches it off. It runs last, on the final object, because kube-apiserver calls it where it stores
    // roles.
    plugins.push(rbacEscalation)
    const having = (step: keyof Chain) => plugins.filter((plugin) => plugin[step] !== undefined)
    chains.set(env, (chain = { admit: having('admit'), validate: having('validate'), reads: having('reads') }))
  }
  return chain
}

/** May change `attributes.object` in place. @throws StatusError when a plugin refuses */
export async function admit(attributes: Attributes): Promise<void> {
  const { admit: chain, reads } = chainOf(attributes.request.env)
  beginReads(reads, attributes)
  const reinvocation = new Reinvocation()
  const reinvoked = { ...attributes, reinvocation }
  await inOrder(chain, 'admit', reinvoked)
  if (!reinvocation.isWanted) return
  reinvocation.isSecond = true
  await inOrder(chain, 'admit', reinvoked)
}

/**
 * @returns a function that undoes the plugins' other writes
 * @throws StatusError when a plugin refuses
 */
export async function validateAdmission(
  attributes: Attributes,
  chain = chainOf(attributes.request.env).validate,
): Promise<Undo | undefined> {
  const undos = await inOrder(chain, 'validate', attributes)
  return undos.length === 0 ? undefined : () => undoAll(undos, attributes.request)
}

/** The whole chain, for writes of requests and of controllers. */
export const admissionChain: Admission = admissionBy({ admit, validate: validateAdmission })

async function inOrder(chain: readonly AdmissionPlugin[], step: Step, attributes: Attributes): Promise<Undo[]> {
  const { request, operation } = attributes
  const undos: Undo[] = []
  const durations = stepDurations(request, operation, step, false)
  const began = request.clock()
  let name: string | undefined
  let pluginBegan = began
  try {
    for (const plugin of chain) {
      if (!plugin.handles(attributes)) continue
      name = plugin.name
      pluginBegan = request.clock()
      const done = plugin[step]?.(attributes)
      // most plugins answer at once: only promises are awaited
      const undo = done instanceof Promise ? await done : done
      durations.observe((request.clock() - pluginBegan) / 1000, name)
      if (undo !== undefined) undos.push(undo)
    }
  } catch (error) {
    const rejected = stepDurations(request, operation, step, true)
    const now = request.clock()
    rejected.observe((now - pluginBegan) / 1000, name)
    rejected.observe((now - began) / 1000)
    await undoAll(undos, request)
    throw error
  }
  durations.observe((request.clock() - began) / 1000)
  return undos
}
