import type { DeviceClass, DeviceClassSpec } from '../../api/resource/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { longName } from '../../validation/declared-formats.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { isExtended } from '../../validation/pod/resources.ts'
import type { NameRule } from '../../validation/names.ts'
import { deviceClassPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { supplyRules } from './claim-work.ts'
import { configurationErrors } from './device-claim.ts'
import { withSelectors } from './device-selectors.ts'
import { listErrors, MAX_ENTRIES } from './names.ts'

/** Validates only the generated name, not the generateName. */
const className: NameRule = (name, prefix) => (prefix ? [] : longName(name))

export const deviceClasses: BuiltInDefinition<DeviceClass & KubeObject> = {
  printer: deviceClassPrinter,
  workloadWork: supplyRules,
  hasGeneration: true,
  nameRule: className,
  validate: ({ spec }, context) => specErrors(spec, context),
  metadataOnUpdate: 'by strategy',
  validateUpdate: async ({ metadata, spec }, old, context) => [
    ...validateObjectMeta(metadata, false, className),
    ...validateKindMetaUpdate(metadata, old.metadata),
    ...(await specErrors(spec, context)),
  ],
}

function specErrors(spec: DeviceClassSpec = {}, context: Pick<StrategyContext, 'enabled'>): Promise<FieldError[]> {
  const { selectors, config, extendedResourceName: name } = spec
  const at = path('spec')
  return withSelectors(selectors ?? [], context, (selectorsErrors) => [
    ...selectorsErrors(selectors, at.child('selectors')),
    ...listErrors(config, MAX_ENTRIES, at.child('config'), configurationErrors),
    ...(name === undefined || isExtended(name)
      ? []
      : [invalidValue(at.child('extendedResourceName'), name, 'must be a valid extended resource name')]),
  ])
}
