import type { TypedLocalObjectReference, Workload } from '../../api/scheduling/v1alpha2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { path, required } from '../../api/field.ts'
import { flatMapParts } from '../../base/parts.ts'
import type { KubeObject } from '../../api/object.ts'
import { longName, optionalFormat, pathSegment, requiredFormat, shortName } from '../../validation/declared-formats.ts'
import { workloadPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import {
  templateErrors,
  templateWarnings,
  unchangedErrors,
  unchangedListErrors,
  uniqueErrors,
} from './pod-group-rules.ts'

const MAX_TEMPLATES = 8
const TEMPLATE = 'PodGroupTemplate'
const controllerAt = path('spec', 'controllerRef')
const templatesAt = path('spec', 'podGroupTemplates')

export const workloads: BuiltInDefinition<Workload & KubeObject> = {
  printer: workloadPrinter,
  validate: ({ spec: { controllerRef, podGroupTemplates } = {} }) => [
    ...(controllerRef === undefined ? [] : controllerErrors(controllerRef, controllerAt)),
    // storage keeps absent templates as null
    ...((podGroupTemplates ?? []).length === 0
      ? [required(templatesAt)]
      : uniqueErrors(
          podGroupTemplates!,
          TEMPLATE,
          templatesAt,
          (template, at) => [
            ...requiredFormat(at.child('name'), template.name, shortName),
            ...templateErrors(template, at),
          ],
          MAX_TEMPLATES,
        )),
  ],
  // an update cannot change the templates
  warningsOnCreate: ({ spec = {} }, context) =>
    flatMapParts(spec.podGroupTemplates ?? [], (template, at) =>
      templateWarnings(template, templatesAt.index(at), context),
    ),
  validateUpdate: ({ spec = {} }, { spec: old = {} }) => [
    ...unchangedErrors('TypedLocalObjectReference', spec.controllerRef, old.controllerRef, controllerAt),
    ...unchangedListErrors(TEMPLATE, spec.podGroupTemplates ?? [], old.podGroupTemplates ?? [], templatesAt),
    ...((spec.podGroupTemplates ?? []).length === 0 ? [required(templatesAt)] : []),
  ],
}

const controllerErrors = (controller: TypedLocalObjectReference, at: FieldPath): FieldError[] => [
  ...optionalFormat(at.child('apiGroup'), controller.apiGroup || undefined, longName),
  ...requiredFormat(at.child('kind'), controller.kind, pathSegment),
  ...requiredFormat(at.child('name'), controller.name, pathSegment),
]
