import type { ApiCall } from '../request/context.ts'
import { builtInResource } from './built-in-resource.ts'
import { versionsRead } from './custom-resources/compiled-versions.ts'
import { customResource } from './custom-resources/custom-resource.ts'
import type { Resource } from './resource.ts'
import type { ResourceEntry } from './served/resources.ts'

/**
 * The resource of an entry, or a subresource of it. No other code asks whether a resource is built-in or custom
 * (test/check/two-implementations.ts). Members of `Resource` or `Serving` hold the differences.
 */
export const resourceOf = (call: ApiCall, entry: ResourceEntry, subresource = ''): Resource =>
  entry.definition === undefined
    ? builtInResource(entry, subresource)
    : customResource(call, entry, entry.definition, subresource)

/**
 * Prepares a resource whose long definition is not parsed yet. Callers that can wait await it first.
 * @returns undefined if the resource needs no preparation
 */
export const readyResource = (call: ApiCall, entry: ResourceEntry): Promise<void> | undefined =>
  entry.definition && versionsRead(call.tenant, entry.definition, entry.version, entry.storage.version)
