import { everything, withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { Pod } from '../../api/core/v1.ts'
import type {
  PodGroup,
  PodGroupResourceClaimStatus,
  PodGroupSpec,
  PodGroupTemplateReference,
} from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { longName, optionalFormat, requiredFormat, shortName } from '../../validation/declared-formats.ts'
import { isFinished } from '../core/pods/pod-conditions.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { podGroupPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import {
  changed,
  oneOf,
  templateErrors,
  templateWarnings,
  unchangedErrors,
  unchangedListErrors,
  uniqueErrors,
} from './pod-group-rules.ts'
import { errorsOf } from '../../validation/errors-of.ts'

export const podGroups: BuiltInDefinition<PodGroup & KubeObject> = {
  withoutTable: ['status'],
  printer: podGroupPrinter,
  protection: {
    finalizer: 'scheduling.k8s.io/podgroup-protection',
    account: 'podgroup-protection-controller',
    isUsed: ({ metadata: { namespace = '', name } }, some) =>
      some<Pod>(
        { group: '', resource: 'pods' },
        namespace,
        (pod) => pod.spec?.schedulingGroup?.podGroupName === name && !isFinished(pod),
      ),
  },
  resetFields: { '': everything, status: withoutSpecAndMetadata },
  validate: ({ spec = {} }) => specErrors(spec, path('spec')),
  // kube-apiserver sets this default when it reads an absent mode from storage; a disabled gate drops the mode, too
  completeOnCreate({ spec }) {
    if (spec !== undefined) spec.disruptionMode ??= 'Pod'
  },
  // an update cannot change the spec
  warningsOnCreate: ({ spec = {} }, context) => templateWarnings(spec, path('spec'), context),
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => changeErrors(spec, old, path('spec')),
  subresources: {
    status: {
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      validateUpdate: ({ status: { conditions, resourceClaimStatuses } = {}, spec }) => [
        ...validateConditions(path('status', 'conditions'), conditions ?? []),
        ...claimStatusErrors(resourceClaimStatuses ?? [], spec ?? {}, path('status', 'resourceClaimStatuses')),
      ],
    },
  },
}

const specErrors = (spec: PodGroupSpec, at: FieldPath): FieldError[] => [
  // storage keeps an absent value as null
  ...(spec.podGroupTemplateRef ? referenceErrors(spec.podGroupTemplateRef, at.child('podGroupTemplateRef')) : []),
  ...templateErrors(spec, at),
]

function referenceErrors({ workload }: PodGroupTemplateReference, at: FieldPath): FieldError[] {
  if (!workload) return oneOf({ workload }, at)
  const here = at.child('workload')
  return [
    ...requiredFormat(here.child('workloadName'), workload.workloadName, longName),
    ...requiredFormat(here.child('podGroupTemplateName'), workload.podGroupTemplateName, shortName),
  ]
}

const members = [
  ['podGroupTemplateRef', 'PodGroupTemplateReference'],
  ['schedulingPolicy', 'PodGroupSchedulingPolicy'],
  ['schedulingConstraints', 'PodGroupSchedulingConstraints'],
] as const

/** The spec of a group is immutable. */
const changeErrors = (spec: PodGroupSpec, old: PodGroupSpec, at: FieldPath): FieldError[] => [
  ...members.flatMap(([field, model]) =>
    unchangedErrors(model, spec[field] ?? undefined, old[field] ?? undefined, at.child(field)),
  ),
  ...unchangedListErrors(
    'PodGroupResourceClaim',
    spec.resourceClaims ?? [],
    old.resourceClaims ?? [],
    at.child('resourceClaims'),
  ),
  ...(['disruptionMode', 'priorityClassName', 'priority'] as const).flatMap((field) =>
    (spec[field] ?? '') === (old[field] ?? '') ? [] : [changed(at.child(field))],
  ),
]

function claimStatusErrors(
  statuses: readonly PodGroupResourceClaimStatus[],
  { resourceClaims }: PodGroupSpec,
  at: FieldPath,
): FieldError[] {
  const claims = new Set((resourceClaims ?? []).map(({ name = '' }) => name))
  const unknown = errorsOf(statuses, ({ name = '' }, index) =>
    claims.has(name)
      ? []
      : [invalidValue(at.index(index).child('name'), name, 'must match the name of an entry in `spec.resourceClaims`')],
  )
  return [
    ...unknown,
    ...uniqueErrors(statuses, 'PodGroupResourceClaimStatus', at, ({ resourceClaimName }, here) =>
      optionalFormat(here.child('resourceClaimName'), resourceClaimName, longName),
    ),
  ]
}
