/** Converts by the definition's webhook between storage and the version of a request. */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiCall } from '../../request/context.ts'
import type { VersionConverter } from '../resource.ts'
import { compiledVersion, currentForm, servedForm } from './compiled-versions.ts'
import { convertByWebhook } from './conversion-webhook.ts'
import { storageVersion } from './definition.ts'

/** @param version of the request */
export function webhookConverter(
  request: ApiCall,
  definition: CustomResourceDefinition,
  version: string,
): VersionConverter {
  const { tenant } = request
  const stored = storageVersion(definition)
  return {
    asks: true,
    async toServed(objects, origin) {
      // first prune and default the objects in the versions in which they were written
      const whole = origin === 'stored' ? objects.map((object) => currentForm(tenant, definition, object)) : objects
      const converted = await convertByWebhook(request, definition, whole, version, origin)
      return converted.map((object, at) =>
        object === whole[at] ? object : servedForm(tenant, definition, object, version),
      )
    },
    async toStored(object): Promise<KubeObject> {
      const [converted = object] = await convertByWebhook(request, definition, [object], stored, 'made')
      return converted === object ? object : currentForm(tenant, definition, converted)
    },
    get stored() {
      const { type, strategy } = compiledVersion(tenant, definition, stored)
      return { storageType: type, strategy }
    },
  }
}
