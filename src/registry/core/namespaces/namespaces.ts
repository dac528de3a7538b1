import { overlaid } from '../../../schema/overlaid.ts'
import { withoutStatus } from '../../../patch/reset-fields.ts'
import type { Namespace } from '../../../api/core/v1.ts'
import type { FieldError } from '../../../api/field.ts'
import { invalidValue, path } from '../../../api/field.ts'
import { labelName, qualifiedNameProblems } from '../../../validation/names.ts'
import {
  isStandardFinalizer,
  NOT_A_FINALIZER,
  validateKindMetaUpdate,
  validateObjectMeta,
} from '../../../validation/object-meta.ts'
import { namespacePrinter } from '../../../codec/table/core.ts'
import { defaultRule } from '../../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import { work } from '../../work/work.ts'
import { namespaceRules } from './namespace-work.ts'
import { errorsOf } from '../../../validation/errors-of.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'
const KUBERNETES = 'kubernetes'

export const namespaces: BuiltInDefinition<Namespace> = {
  defaults: { v1: defaultRule<Namespace>(applyDefaults) },
  withoutTable: ['finalize'],
  printer: namespacePrinter,
  serverObjects: ['kube-node-lease'],
  work({ object, old }) {
    if (object === undefined) return []
    const { name, deletionTimestamp } = object.metadata
    if (old === undefined) return [...work('service-account', name), ...work('root-ca-publisher', name)]
    return deletionTimestamp === undefined ? [] : work('namespace', name)
  },
  workloadWork: namespaceRules,
  nameRule: labelName,
  resetFields: { finalize: withoutStatus },
  prepareForCreate(namespace) {
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes(KUBERNETES) ? finalizers : [...finalizers, KUBERNETES],
    }
  },
  completeOnCreate: ensureNameLabel,
  leavesNewMetadata: true,
  validate: namespaceErrors,
  metadataOnUpdate: 'by strategy',
  validateUpdate: (namespace, old) => [
    ...namespaceErrors(namespace),
    ...validateKindMetaUpdate(namespace.metadata, old.metadata),
  ],
  prepareForUpdate(namespace, old) {
    namespace.spec = { ...namespace.spec, finalizers: old.spec?.finalizers }
    ensureNameLabel(namespace)
  },
  prepareForDelete(namespace) {
    if (namespace.metadata.deletionTimestamp !== undefined)
      namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  marksOnDelete: true,
  readyToGo: ({ spec }) => (spec?.finalizers ?? []).length === 0,
  selectableFields: ({ metadata, status }) => ({ name: metadata.name ?? '', 'status.phase': status?.phase ?? '' }),
  subresources: {
    finalize: {
      prepareForUpdate(namespace, old) {
        const finalizers = namespace.spec?.finalizers
        namespace.spec = { ...old.spec, finalizers }
        namespace.status = old.status
      },
      validateUpdate: (namespace) => finalizerErrors(namespace, true),
    },
    status: {
      validateUpdate({ metadata, status }) {
        const at = path('status', 'Phase')
        const deleting = metadata.deletionTimestamp !== undefined
        if (!deleting && status?.phase !== 'Active')
          return [invalidValue(at, status?.phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty")]
        if (deleting && status?.phase !== 'Terminating')
          return [
            invalidValue(at, status?.phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty"),
          ]
        return []
      },
    },
  },
}

/** A create and an update set this label, of a generated name after validation. A DELETE leaves it as it is, so that nothing can block the deletion. */
function ensureNameLabel({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name }
}

function namespaceErrors(namespace: Namespace): FieldError[] {
  return [...validateObjectMeta(namespace.metadata, false, labelName), ...finalizerErrors(namespace)]
}

/** @param numbered whether the errors contain the index; only errors of the `finalize` subresource do */
function finalizerErrors({ spec }: Namespace, numbered = false): FieldError[] {
  const list = path('spec', 'finalizers')
  return errorsOf(spec?.finalizers ?? [], (finalizer, index) => {
    const at = numbered ? list.index(index) : list
    return [
      ...qualifiedNameProblems(finalizer).map((problem) => invalidValue(at, finalizer, problem)),
      ...(finalizer.includes('/') || isStandardFinalizer(finalizer)
        ? []
        : [invalidValue(at, finalizer, NOT_A_FINALIZER)]),
    ]
  })
}

function applyDefaults({ metadata }: Namespace): void {
  if (!metadata.name) return
  metadata.labels = overlaid(metadata, metadata.labels)
  metadata.labels['kubernetes.io/metadata.name'] = metadata.name
}
