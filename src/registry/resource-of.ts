import type { ApiCall } from '../request/context.ts'
import { builtInResource } from './built-in-resource.ts'
import { customResource } from './custom-resources/custom-resource.ts'
import type { Resource } from './resource.ts'
import type { ResourceEntry } from './resources.ts'

/**
 * The resource that an entry is about, or a subresource of it. Nothing else asks whether a resource is built in or of
 * a definition (test/check/two-implementations.ts): what differs is a member of `Resource`, or of `Serving`.
 */
export const resourceOf = (call: ApiCall, entry: ResourceEntry, subresource = ''): Resource =>
  entry.definition === undefined
    ? builtInResource(entry, subresource)
    : customResource(call, entry, entry.definition, subresource)
