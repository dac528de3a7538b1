import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, path, required } from '../../api/field.ts'
import type { CSINode, CSINodeDriver } from '../../api/storage/v1.ts'
import { immutable, nonNegative, validateQualifiedName } from '../../validation/field-rules.ts'
import { byteLength } from '../../base/utf8.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validateCsiDriverName } from '../../validation/pod/volume-sources.ts'
import { sameValue } from '../../validation/same-value.ts'
import { csiNodePrinter } from '../../codec/table/storage.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { attachableRules } from '../core/volumes/volume-work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_NODE_ID = 256
const DRIVER_TYPE = 'io.k8s.api.storage.v1.CSINodeDriver'
const driversAt = path('spec', 'drivers')

export const csiNodes: BuiltInDefinition<CSINode> = {
  workloadWork: attachableRules,
  printer: csiNodePrinter,
  allowUnconditionalUpdate: false,
  validate: ({ spec }) => driversErrors(spec?.drivers ?? []),
  metadataOnUpdate: 'as new',
  validateUpdate: ({ spec }, old) => {
    const drivers = spec?.drivers ?? []
    const driversOf = Map.groupBy(drivers, ({ name }) => name)
    return [
      ...driversErrors(drivers),
      ...errorsOf(old.spec?.drivers ?? [], (before) =>
        errorsOf(driversOf.get(before.name) ?? [], (driver) => changeErrors(driver, before)),
      ),
    ]
  },
}

function driversErrors(drivers: readonly CSINodeDriver[]): FieldError[] {
  const repeats = repeatsIn(drivers.map(({ name = '' }) => name))
  return errorsOf(drivers, (driver, index) => {
    const at = driversAt.index(index)
    const { name = '', nodeID = '', topologyKeys = [] } = driver
    const repeatedKeys = repeatsIn(topologyKeys)
    return [
      ...validateCsiDriverName(at.child('name'), name),
      ...(nodeID === '' ? [required(at.child('nodeID'))] : []),
      ...(byteLength(nodeID) > MAX_NODE_ID
        ? [invalidValue(at.child('nodeID'), nodeID, `must be ${MAX_NODE_ID} characters or less`)]
        : []),
      ...nonNegative(at.child('allocatable', 'count'), driver.allocatable?.count),
      ...(repeats.has(index) ? [duplicate(at.child('name'), name)] : []),
      ...errorsOf(topologyKeys, (key, place) => keyErrors(at, key, repeatedKeys.has(place))),
    ]
  })
}

const keyErrors = (at: FieldPath, key: string, isRepeated: boolean): FieldError[] => [
  ...(key === '' ? [required(at)] : []),
  ...(isRepeated ? [duplicate(at, key)] : []),
  ...validateQualifiedName(at, key),
]

/** An update may change only the allocatable volumes of an existing driver. */
function changeErrors(driver: CSINodeDriver, before: CSINodeDriver): FieldError[] {
  const fixed = ({ allocatable: _changes, ...rest }: CSINodeDriver) => rest
  return immutable(
    driversAt,
    () => internalJson(DRIVER_TYPE, fixed(driver)),
    sameValue(DRIVER_TYPE, fixed(driver), fixed(before)),
  )
}
