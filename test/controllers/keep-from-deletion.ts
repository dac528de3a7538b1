/** A ValidatingAdmissionPolicy that refuses to delete some objects. */
import type { GroupResource } from '../../src/api/group-version.ts'
import type { ControlPlaneInMemory } from './control-plane.ts'

const GROUP = 'admissionregistration.k8s.io'

export interface Kept {
  /** @param expression is true for objects that may be deleted */
  keep(resource: GroupResource, expression: string): Promise<void>
  letGo(): Promise<void>
}

export const keepingFromDeletion = (plane: ControlPlaneInMemory): Kept => ({
  async keep({ group, resource }, expression) {
    const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['DELETE'], resources: [resource] }
    await plane.create(
      { group: GROUP, resource: 'validatingadmissionpolicies' },
      {
        kind: 'ValidatingAdmissionPolicy',
        apiVersion: `${GROUP}/v1`,
        metadata: { name: 'keep' },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            resourceRules: [rule],
          },
          validations: [{ expression, message: 'kept' }],
        },
      },
    )
    await plane.create(
      { group: GROUP, resource: 'validatingadmissionpolicybindings' },
      {
        kind: 'ValidatingAdmissionPolicyBinding',
        apiVersion: `${GROUP}/v1`,
        metadata: { name: 'keep' },
        spec: { policyName: 'keep', validationActions: ['Deny'] },
      },
    )
    await plane.pass(1_000)
  },
  letGo: () => plane.delete({ group: GROUP, resource: 'validatingadmissionpolicybindings' }, '', 'keep'),
})
