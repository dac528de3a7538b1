import type { FieldError } from '../../api/field.ts'
import { duplicate, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import type { UpdateStrategy } from '../strategy.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { kept } from '../../base/parts.ts'

interface WithConditions extends KubeObject {
  status?: { conditions?: { type?: string }[] }
}

/** A write of the status changes only managedFields in the metadata. */
export const conditionsAlone: UpdateStrategy<WithConditions> = {
  prepareForUpdate({ metadata }, old) {
    const { managedFields, resourceVersion, ...others } = metadata
    for (const name of Object.keys(others)) delete (metadata as Record<string, unknown>)[name]
    // own key: fields of ObjectMeta
    Object.assign(metadata, { ...old.metadata, ...(managedFields && { managedFields }), resourceVersion })
  },
  metadataOnUpdate: 'by strategy',
  validateUpdate: ({ status }) => conditionErrors(status?.conditions),
}

/** Each condition has a type, and no other condition has the same type. */
export function conditionErrors(conditions: readonly { readonly type?: string }[] = []): FieldError[] {
  const at = path('status', 'conditions')
  const known = kept(conditions, () => new Set<string>())
  return errorsOf(conditions, ({ type = '' }, index) => {
    const typeAt = at.index(index).child('type')
    const errors = known.has(type) ? [duplicate(typeAt, type)] : []
    known.add(type)
    return type === '' ? [...errors, required(typeAt)] : errors
  })
}
