import type {
  PodGroupTemplate,
  TypedLocalObjectReference,
  Workload,
  WorkloadSpec,
} from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, path, required, tooMany } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { longName, optionalFormat, pathSegment, requiredFormat, shortName } from '../../validation/declared-formats.ts'
import { writtenJson } from '../../validation/written-json.ts'
import type { Strategy } from '../strategy.ts'
import { policyErrors, unchangedErrors } from './pod-group-rules.ts'

const MAX_TEMPLATES = 8
const TEMPLATE = 'PodGroupTemplate'

export const workloads: Strategy<Workload & KubeObject> = {
  validate: ({ spec = {} }) => [
    ...controllerErrors(spec.controllerRef, path('spec', 'controllerRef')),
    ...templatesErrors(spec.podGroupTemplates ?? [], path('spec', 'podGroupTemplates')),
  ],
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
    ...unchangedErrors(
      'TypedLocalObjectReference',
      spec.controllerRef,
      old.controllerRef,
      path('spec', 'controllerRef'),
    ),
    ...changedTemplatesErrors(spec, old, path('spec', 'podGroupTemplates')),
  ],
}

const controllerErrors = (controller: TypedLocalObjectReference | undefined, at: FieldPath): FieldError[] =>
  controller === undefined
    ? []
    : [
        ...optionalFormat(at.child('apiGroup'), controller.apiGroup || undefined, longName),
        ...requiredFormat(at.child('kind'), controller.kind, pathSegment),
        ...requiredFormat(at.child('name'), controller.name, pathSegment),
      ]

function templatesErrors(templates: readonly PodGroupTemplate[], at: FieldPath): FieldError[] {
  if (templates.length === 0) return [required(at)]
  if (templates.length > MAX_TEMPLATES) return [tooMany(at, templates.length, MAX_TEMPLATES)]
  const names = templates.map(({ name = '' }) => name)
  return [
    ...templates.flatMap(({ name, schedulingPolicy = {} }, index) => [
      ...requiredFormat(at.index(index).child('name'), name, shortName),
      ...policyErrors(schedulingPolicy, at.index(index).child('schedulingPolicy')),
    ]),
    ...templates.flatMap((template, index) =>
      names.indexOf(template.name ?? '') < index
        ? [duplicate(at.index(index), writtenJson(`io.k8s.api.scheduling.v1alpha2.${TEMPLATE}`, template))]
        : [],
    ),
  ]
}

function changedTemplatesErrors(spec: WorkloadSpec, old: WorkloadSpec, at: FieldPath): FieldError[] {
  const templates = spec.podGroupTemplates ?? []
  const before = old.podGroupTemplates ?? []
  const changed =
    templates.length === before.length
      ? templates.flatMap((template, index) => unchangedErrors(TEMPLATE, template, before[index], at))
      : unchangedErrors(TEMPLATE, undefined, {}, at)
  return [...changed.slice(0, 1), ...(templates.length === 0 ? [required(at)] : [])]
}
