import type { ApiCall } from '../request/context.ts'
import { builtInResource } from './built-in-resource.ts'
import { versionsRead } from './custom-resources/compiled-versions.ts'
import { customResource } from './custom-resources/custom-resource.ts'
import type { Resource } from './resource.ts'
import type { ResourceEntry } from './resources.ts'

/**
 * The resource of an entry, or a subresource of it. No other code asks whether a resource is built in or of a
 * definition (test/check/two-implementations.ts): members of `Resource` or `Serving` tell what differs.
 */
export const resourceOf = (call: ApiCall, entry: ResourceEntry, subresource = ''): Resource =>
  entry.definition === undefined
    ? builtInResource(entry, subresource)
    : customResource(call, entry, entry.definition, subresource)

/**
 * To be waited for where that is possible: what a resource is made of, where it is long and nobody has asked for it yet.
 * @returns undefined where there is nothing to wait for
 */
export const readyResource = (call: ApiCall, entry: ResourceEntry): Promise<void> | undefined =>
  entry.definition && versionsRead(call.tenant, entry.definition, entry.version, entry.storage.version)
