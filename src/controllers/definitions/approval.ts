/** Writes the approval condition of a definition in a protected group. Key: the definition's name. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { approvalOf, isProtectedGroup } from '../../registry/apiextensions/approval.ts'
import type { Approval } from '../../registry/apiextensions/approval.ts'
import { setCondition } from '../../registry/apiextensions/custom-resource-definitions.ts'
import { conditionOf, DEFINITIONS } from '../../registry/custom-resources/definition.ts'
import { serverClients } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'

const TYPE = 'KubernetesAPIApprovalPolicyConformant'

const reasons = {
  missing: 'MissingAnnotation',
  bypassed: 'UnapprovedAnnotation',
  approved: 'ApprovedAnnotation',
  invalid: 'InvalidAnnotation',
} satisfies Record<Approval['state'], string>

export const crdApprovalController: Controller = {
  neverGivesUp: true,
  async reconcile(name, context) {
    const client = serverClients(context).resource(DEFINITIONS)
    const definition = (await client.get(name)) as CustomResourceDefinition | undefined
    if (definition === undefined || !isProtectedGroup(definition.spec?.group ?? '')) return undefined
    const { state, why } = approvalOf(definition)
    const condition = {
      type: TYPE,
      status: state === 'approved' ? 'True' : 'False',
      reason: reasons[state],
      message: why,
    }
    const old = conditionOf(definition, TYPE)
    if (old?.status === condition.status && old.reason === condition.reason && old.message === why) return undefined
    await client.updateStatusWithRetries(definition, (object) =>
      setCondition(object as CustomResourceDefinition, context.now(), condition),
    )
    return undefined
  },
}
