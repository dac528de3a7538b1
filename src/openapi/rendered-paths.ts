/**
 * The JSON of the paths of custom resources. One call renders all paths of a resource, but a document sorts the paths
 * of all resources.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import type { ResourceEntry } from '../registry/served/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import type { Member } from './members.ts'
import type { OpenApiSettings, PathItem } from './operation.ts'
import { pathsOf } from './operations.ts'
import { modelsOf } from './served-paths.ts'

/** The limit of rendered paths that wait for their place in the document, in UTF-16 units. */
const MAX_KEPT = 2 * 1024 * 1024

/**
 * Takes one entry in each step. A path's text is made when the document reaches it.
 * @param render renders the paths of a resource
 * @param models the names of the models that the paths refer to are added here
 */
export function* pathMembers(
  entries: readonly ResourceEntry[],
  describe: Describe,
  settings: OpenApiSettings,
  render: (items: readonly PathItem[]) => JsonObject,
  models: Set<string>,
): Generator<undefined, Member[], undefined> {
  const kept = new BoundedMap<ResourceEntry, ReadonlyMap<string, string>>({
    entries: 1_000,
    size: MAX_KEPT,
    sizeOf: (_, paths) => [...paths.values()].reduce((sum, { length }) => sum + length, 0),
  })
  const rendered = (entry: ResourceEntry): ReadonlyMap<string, string> =>
    kept.getOrMake(
      entry,
      () =>
        new Map(
          Object.entries(render(pathsOf(entry, describe, settings))).map(([path, item]) => [
            path,
            JSON.stringify(item),
          ]),
        ),
    )
  const members: Member[] = []
  for (const entry of entries) {
    const own = pathsOf(entry, describe, settings)
    for (const model of modelsOf(own)) models.add(model)
    for (const { path } of own) members.push([path, () => rendered(entry).get(path)!])
    yield
  }
  return members
}
