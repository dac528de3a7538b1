import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import type { CSIStorageCapacity } from '../../api/storage/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import { immutable, NOT_NEGATIVE, validateSubdomain } from '../../validation/field-rules.ts'
import { hasInvalidValue, validateLabelSelector } from '../../validation/label-selectors.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { selectorJson } from '../../validation/pod/internal-json.ts'
import { deprecatedNodeLabels } from '../../validation/pod/pod-warnings.ts'
import { sameSelector } from '../../validation/same-value.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { attachableRules } from '../core/volumes/volume-work.ts'

const topologyAt = path('nodeTopology')

export const csiStorageCapacities: BuiltInDefinition<CSIStorageCapacity> = {
  workloadWork: attachableRules,
  allowUnconditionalUpdate: false,
  validate: (capacity) => capacityErrors(capacity, false),
  metadataOnUpdate: 'by strategy',
  validateUpdate: (capacity, old) => [
    ...validateObjectMeta(capacity.metadata, true, subdomainName),
    ...capacityErrors(capacity, hasInvalidValue(old.nodeTopology ?? {})),
    ...validateKindMetaUpdate(capacity.metadata, old.metadata),
    ...immutable(
      topologyAt,
      () => (capacity.nodeTopology ? selectorJson(capacity.nodeTopology) : null),
      sameSelector(capacity.nodeTopology, old.nodeTopology),
    ),
    ...immutable(
      path('storageClassName'),
      capacity.storageClassName ?? '',
      (capacity.storageClassName ?? '') === (old.storageClassName ?? ''),
    ),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}

function capacityErrors(one: CSIStorageCapacity, allowInvalidValues: boolean): FieldError[] {
  const { nodeTopology, storageClassName = '', capacity } = one
  return [
    ...validateLabelSelector(topologyAt, nodeTopology, { allowInvalidValues }),
    ...validateSubdomain(path('storageClassName'), storageClassName),
    ...(capacity !== undefined && Quantity.parse(capacity).sign < 0
      ? [invalidValue(path('capacity'), Quantity.parse(capacity).toString(), NOT_NEGATIVE)]
      : []),
  ]
}

function warnings({ nodeTopology = {} }: CSIStorageCapacity): string[] {
  const textOf = (key: string) => ownValue(deprecatedNodeLabels, key)
  const { matchExpressions = [], matchLabels = {} } = nodeTopology
  return [
    ...matchExpressions.flatMap(({ key = '' }, index) => {
      const text = textOf(key)
      const at = topologyAt.child('matchExpressions').index(index).child('key')
      return text === undefined ? [] : [`${at}: ${key} is ${text}`]
    }),
    ...Object.keys(matchLabels)
      .sort()
      .flatMap((key) => {
        const text = textOf(key)
        return text === undefined ? [] : [`${topologyAt.child('matchLabels').key(key)}: ${text}`]
      }),
  ]
}
