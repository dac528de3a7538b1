/**
 * The JSON of the paths of custom resources. Those of a resource are made together, but a document has them in another
 * order.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { JsonObject } from '../api/object.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import type { Describe } from '../schema/to-openapi.ts'
import type { Member } from './members.ts'
import type { OpenApiSettings, PathItem } from './operation.ts'
import { pathsOf } from './operations.ts'
import { modelsOf } from './served-paths.ts'

/** UTF-16 units of paths that are kept until the document has reached them. */
const MAX_KEPT = 2 * 1024 * 1024

/**
 * One entry a step: its paths, whose texts are made when it is their turn.
 * @param render the paths of a resource, by path @param models gets those that the paths name
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
