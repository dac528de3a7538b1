/** The built-in admission plugins, in the order of kube-apiserver: mutating ones first, then validating ones. */
import type { Undo } from '../registry/write/undo.ts'
import { undoAll } from '../registry/write/undo.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'
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
import { measureAdmission } from '../metrics/measurements.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { nodeTaint } from './node-taint.ts'
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy.ts'
import { validatingAdmissionPolicy } from './policies/validating-admission-policy.ts'
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './webhooks/admission-webhooks.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { rbacEscalation } from './rbac-escalation.ts'

const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  nodeRestriction,
  nodeTaint,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  podGroupProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  clusterTrustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  podGroupWorkloadExists,
  rbacEscalation,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  resourceQuota,
]

/** May change `attributes.object` in place. @throws StatusError when a plugin refuses */
export async function admit(attributes: Attributes): Promise<void> {
  const reinvocation = new Reinvocation()
  const reinvoked = { ...attributes, reinvocation }
  await inOrder(plugins, 'admit', reinvoked)
  if (!reinvocation.isWanted) return
  reinvocation.isSecond = true
  await inOrder(plugins, 'admit', reinvoked)
}

/**
 * @returns what takes back what plugins did beside the object
 * @throws StatusError when a plugin refuses
 */
export async function validateAdmission(attributes: Attributes, chain = plugins): Promise<Undo | undefined> {
  const undos = await inOrder(chain, 'validate', attributes)
  return undos.length === 0 ? undefined : () => undoAll(undos, attributes.request)
}

async function inOrder(
  chain: readonly AdmissionPlugin[],
  step: 'admit' | 'validate',
  attributes: Attributes,
): Promise<Undo[]> {
  const undos: Undo[] = []
  await measured(undefined, step, attributes, async () => {
    try {
      for (const plugin of chain) {
        if (plugin[step] === undefined || !plugin.handles(attributes)) continue
        await measured(plugin.name, step, attributes, async () => {
          const undo = await plugin[step]?.(attributes)
          if (undo !== undefined) undos.push(undo)
        })
      }
    } catch (error) {
      await undoAll(undos, attributes.request)
      throw error
    }
  })
  return undos
}

async function measured(
  plugin: string | undefined,
  step: 'admit' | 'validate',
  { request, operation }: Attributes,
  work: () => void | Promise<void>,
): Promise<void> {
  const began = request.clock()
  let rejected = true
  try {
    await work()
    rejected = false
  } finally {
    measureAdmission(request, plugin, { operation, step, rejected }, (request.clock() - began) / 1000)
  }
}
