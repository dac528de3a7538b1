import type { DeviceClass, DeviceClassSpec } from '../../api/resource/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { isExtended } from '../../validation/pod/resources.ts'
import type { Strategy } from '../strategy.ts'
import { configurationErrors, MAX_ENTRIES, selectorsErrors } from './device-claim.ts'
import { listErrors } from './names.ts'

export const deviceClasses: Strategy<DeviceClass & KubeObject> = {
  // of a generateName only the name made of it is looked at
  nameRule: (name, prefix) => (prefix ? [] : subdomainName(name, false)),
  validate: ({ spec }) => specErrors(spec),
  validateUpdate: ({ metadata, spec }) => [...validateObjectMeta(metadata, false, subdomainName), ...specErrors(spec)],
}

function specErrors({ selectors, config, extendedResourceName: name }: DeviceClassSpec = {}): FieldError[] {
  const at = path('spec')
  return [
    ...selectorsErrors(selectors, at.child('selectors')),
    ...listErrors(config, MAX_ENTRIES, at.child('config'), configurationErrors),
    ...(name === undefined || isExtended(name)
      ? []
      : [invalidValue(at.child('extendedResourceName'), name, 'must be a valid extended resource name')]),
  ]
}
