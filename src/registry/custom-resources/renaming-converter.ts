/** Converts by strategy None between storage and the version of a request. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiCall } from '../../request/context.ts'
import { walked } from '../../request/turns.ts'
import type { VersionConverter } from '../resource.ts'
import { compiledVersion, inVersion, servedForm } from './compiled-versions.ts'
import { storageVersion } from './definition.ts'

/** @param version of the request */
export function renamingConverter(
  request: ApiCall,
  definition: CustomResourceDefinition,
  version: string,
): VersionConverter {
  const { tenant } = request
  const stored = storageVersion(definition)
  const toStored = async (object: KubeObject) => walked(request, () => inVersion(tenant, definition, object, stored))
  return {
    asks: false,
    async toServed(objects, origin) {
      const served: KubeObject[] = []
      for (const object of objects) {
        // a made object is that of a dry run, which shows what a write would have stored
        const kept = origin === 'made' ? await toStored(object) : object
        served.push(await walked(request, () => servedForm(tenant, definition, kept, version)))
      }
      return served
    },
    toStored,
    get stored() {
      const { type, strategy } = compiledVersion(tenant, definition, stored)
      return { storageType: type, strategy }
    },
  }
}
