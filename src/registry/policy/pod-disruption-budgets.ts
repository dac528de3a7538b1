import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../api/policy/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import { atMost100Percent, nonNegative, validateIntOrPercent } from '../../validation/field-rules.ts'
import { validateLabelSelector } from '../../validation/label-selectors.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { oneOf } from '../../validation/pod/security-context.ts'
import { podDisruptionBudgetPrinter } from '../../codec/table/policies.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { itself } from '../work/work.ts'

const spec = path('spec')
const status = path('status')

export const podDisruptionBudgets: BuiltInDefinition<PodDisruptionBudget> = {
  printer: podDisruptionBudgetPrinter,
  workloadWork: [itself('disruption')],
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  // kube-apiserver checks this metadata by the generic rules only
  leavesNewMetadata: true,
  metadataOnUpdate: 'by strategy',
  validate: (budget) => validateSpec(budget.spec ?? {}, false),
  validateUpdate: (budget, old) =>
    validateSpec(budget.spec ?? {}, validateLabelSelector(spec, old.spec?.selector).length > 0),
  subresources: {
    status: {
      metadataOnUpdate: 'by strategy',
      validateUpdate: ({ status: found = {} }) => [
        ...validateConditions(status.child('conditions'), found.conditions ?? []),
        ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap((field) =>
          nonNegative(status.child(field), found[field]),
        ),
      ],
    },
  },
}

function validateSpec(wanted: PodDisruptionBudgetSpec, allowInvalidValues: boolean): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = wanted
  const shown = () => internalJson('io.k8s.api.policy.v1.PodDisruptionBudgetSpec', wanted)
  return [
    ...(minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalidValue(spec, shown(), 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...(['minAvailable', 'maxUnavailable'] as const).flatMap((field) => {
      const value = wanted[field]
      if (value === undefined) return []
      return [...validateIntOrPercent(spec.child(field), value), ...atMost100Percent(spec.child(field), value)]
    }),
    ...validateLabelSelector(spec.child('selector'), selector, { allowInvalidValues }),
    ...oneOf(spec.child('unhealthyPodEvictionPolicy'), unhealthyPodEvictionPolicy, ['AlwaysAllow', 'IfHealthyBudget']),
  ]
}
