/** The built-in admission plugins, in the order of the reference: mutating ones first, then validating ones. */
import type { AdmissionPlugin, Attributes } from './attributes.ts'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { nodeTaint } from './node-taint.ts'
import { rbacEscalation } from '../registry/rbac/escalation.ts'

const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle,
  nodeRestriction,
  nodeTaint,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  rbacEscalation,
]

/** May change `attributes.object` in place. @throws StatusError when a plugin refuses */
export async function admit(attributes: Attributes): Promise<void> {
  for (const plugin of plugins) if (plugin.handles(attributes)) await plugin.admit?.(attributes)
}

/** @throws StatusError when a plugin refuses */
export async function validateAdmission(attributes: Attributes): Promise<void> {
  for (const plugin of plugins) if (plugin.handles(attributes)) await plugin.validate?.(attributes)
}
