import type { ReplicaSet, ReplicaSetSpec } from '../../api/apps/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { path } from '../../api/field.ts'
import { immutable, nonNegative } from '../../validation/field-rules.ts'
import { templateRules } from '../../validation/pod/pod-template.ts'
import { hostnameWarnings, templateWarnings } from '../../validation/pod/pod-warnings.ts'
import { selectorJson } from '../../validation/pod/internal-json.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { sameSelector } from '../../validation/same-value.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { replicaSetPrinter } from '../../codec/table/apps.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { validateReplicaCounts, validateSelectorAndTemplate } from './workload.ts'
import { scalableWork } from '../autoscaling/autoscaled-work.ts'
import { dependentWork, itself } from '../work/work.ts'

const spec = path('spec')
const status = path('status')

export const replicaSets: BuiltInDefinition<ReplicaSet> = {
  zero: { members: { spec: { replicas: 0 } } },
  podTemplate: ({ spec }) => spec?.template,
  printer: replicaSetPrinter,
  workloadWork: [itself('replica-set'), dependentWork, scalableWork],
  hasGeneration: true,
  prepareForCreate(replicaSet, { enabled }) {
    dropDisabledPodFields(replicaSet.spec?.template?.spec, undefined, enabled)
  },
  prepareForUpdate(replicaSet, old, { enabled }) {
    dropDisabledPodFields(replicaSet.spec?.template?.spec, old.spec?.template?.spec, enabled)
  },
  validate: (replicaSet, context) => validateSpec(replicaSet.spec ?? {}, templateRules(context)),
  validateUpdate: (replicaSet, old, context) => [
    ...validateSpec(replicaSet.spec ?? {}, templateRules(context, old.spec?.template)),
    ...immutable(
      spec.child('selector'),
      () => (replicaSet.spec?.selector ? selectorJson(replicaSet.spec.selector) : null),
      sameSelector(replicaSet.spec?.selector, old.spec?.selector),
    ),
  ],
  selectableFields: (replicaSet) => ({ 'status.replicas': String(replicaSet.status?.replicas ?? 0) }),
  warningsOnCreate: (replicaSet) => [
    ...hostnameWarnings(replicaSet.metadata.name ?? '', 'Pod names and hostnames'),
    ...templateWarnings(spec.child('template'), replicaSet.spec?.template ?? {}),
  ],
  warningsOnUpdate: (replicaSet, old) =>
    replicaSet.metadata.generation === old.metadata.generation
      ? []
      : templateWarnings(spec.child('template'), replicaSet.spec?.template ?? {}),
  subresources: {
    status: {
      prepareForUpdate(replicaSet, old, { enabled }) {
        const gate = 'DeploymentReplicaSetTerminatingReplicas'
        if (!enabled(gate) && old.status?.terminatingReplicas === undefined)
          delete replicaSet.status?.terminatingReplicas
      },
      validateUpdate: ({ status: found = {} }) => validateReplicaCounts(status, found),
    },
  },
}

const validateSpec = (replicaSet: ReplicaSetSpec, rules: PodRules): FieldError[] => [
  ...nonNegative(spec.child('replicas'), replicaSet.replicas),
  ...nonNegative(spec.child('minReadySeconds'), replicaSet.minReadySeconds),
  ...validateSelectorAndTemplate(spec, replicaSet, rules),
]
