import type { PodGroup, PodGroupSpec, PodGroupTemplateReference } from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { validateConditions } from '../../validation/conditions.ts'
import { longName, requiredFormat, shortName } from '../../validation/declared-formats.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import type { Strategy } from '../strategy.ts'
import { policyErrors, unchangedErrors } from './pod-group-rules.ts'

export const podGroups: Strategy<PodGroup & KubeObject> = {
  validate: ({ spec = {} }) => specErrors(spec, path('spec')),
  // a mode that was dropped for its gate, or never given, is the default once it is read back
  completeOnCreate({ spec }) {
    if (spec !== undefined) spec.disruptionMode ??= 'Pod'
  },
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
    ...unchangedErrors(
      'PodGroupTemplateReference',
      spec.podGroupTemplateRef ?? undefined,
      old.podGroupTemplateRef ?? undefined,
      path('spec', 'podGroupTemplateRef'),
    ),
    ...unchangedErrors(
      'PodGroupSchedulingPolicy',
      spec.schedulingPolicy,
      old.schedulingPolicy,
      path('spec', 'schedulingPolicy'),
    ),
  ],
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

const specErrors = ({ podGroupTemplateRef, schedulingPolicy = {} }: PodGroupSpec, at: FieldPath): FieldError[] => [
  // absence is stored as null
  ...(podGroupTemplateRef ? referenceErrors(podGroupTemplateRef, at.child('podGroupTemplateRef')) : []),
  ...policyErrors(schedulingPolicy, at.child('schedulingPolicy')),
]

function referenceErrors({ workload }: PodGroupTemplateReference, at: FieldPath): FieldError[] {
  if (!workload) return [invalidValue(at, '', 'must specify one of: `workload`')]
  const here = at.child('workload')
  return [
    ...requiredFormat(here.child('workloadName'), workload.workloadName, longName),
    ...requiredFormat(here.child('podGroupTemplateName'), workload.podGroupTemplateName, shortName),
  ]
}

const claimStatusErrors = (
  statuses: readonly { name?: string }[],
  { resourceClaims }: PodGroupSpec,
  at: FieldPath,
): FieldError[] =>
  statuses.flatMap(({ name = '' }, index) =>
    resourceClaims?.some((claim) => (claim.name ?? '') === name)
      ? []
      : [invalidValue(at.index(index).child('name'), name, 'must match the name of an entry in `spec.resourceClaims`')],
  )
