/** The built-in admission plugins in the order of kube-apiserver. Settings decide which of them run. */
import type { Admission } from '../registry/write/admission.ts'
import type { Undo } from '../registry/write/undo.ts'
import { admissionBy } from './write-admission.ts'
import { undoAll } from '../registry/write/undo.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'
import { alwaysAdmit, alwaysDeny } from './plugins/always.ts'
import { alwaysPullImages } from './plugins/always-pull-images.ts'
import { denyServiceExternalIPs } from './plugins/deny-service-external-ips.ts'
import { eventRateLimit } from './plugins/event-rate-limit.ts'
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts'
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts'
import { jobValidation } from './plugins/job-validation.ts'
import { limitPodHardAntiAffinityTopology } from './plugins/limit-pod-hard-anti-affinity-topology.ts'
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.ts'
import { namespaceExists } from './plugins/namespace-exists.ts'
import { nodeDeclaredFeatureValidator } from './plugins/node-declared-features.ts'
import { ownerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement.ts'
import { podNodeSelector } from './plugins/pod-node-selector.ts'
import { podResizeValidator } from './plugins/pod-resize.ts'
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts'
import { podTopologyLabels } from './plugins/pod-topology-labels.ts'
import { beginReads } from './read-once.ts'
import { Reinvocation } from './reinvocation.ts'
import { podGroupWorkloadExists } from './plugins/pod-groups.ts'
import { podGroupProtection, storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts'
import { podSecurity } from './plugins/pod-security/pod-security.ts'
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts'
import { defaultStorageClass } from './plugins/default-storage-class.ts'
import { defaultIngressClass } from './plugins/default-ingress-class.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.ts'
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts'
import { limitRanger } from './plugins/limit-ranger.ts'
import { priority } from './plugins/priority.ts'
import { runtimeClass } from './plugins/runtime-class.ts'
import { serviceAccount } from './plugins/service-account.ts'
import type { PluginName } from '../configuration/admission-plugins.ts'
import { pluginNames } from '../configuration/admission-plugins.ts'
import type { Env } from '../env.ts'
import { stepDurations } from '../metrics/admission.ts'
import { settingsOf } from '../settings.ts'
import { namespaceLifecycle, namespaceStillThere } from './plugins/namespace-lifecycle.ts'
import { nodeRestriction } from './plugins/node-restriction.ts'
import { nodeTaint } from './plugins/node-taint.ts'
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy.ts'
import { validatingAdmissionPolicy } from './policies/validating-admission-policy.ts'
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './webhooks/admission-webhooks.ts'
import { resourceQuota } from './plugins/quota/resource-quota.ts'
import { rbacEscalation } from './plugins/rbac-escalation.ts'

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
    if (names.has('NamespaceLifecycle')) plugins.push(namespaceStillThere)
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
