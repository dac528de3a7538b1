/**
 * Which numbers a shard gives as revisions (revision.ts). Each shard of built-in types has a place of its own; those of
 * definitions, of which there may be any number, share the others. A place may change with a release: it says which
 * numbers come next, and nothing about those that were given.
 */
import { builtInStorages, collectionOf } from './collections.ts'
import { PLACES } from './revision.ts'
import { CONTROL_SHARD } from './written-shards.ts'

const builtIn: ReadonlyMap<string, number> = new Map(
  [...new Set([CONTROL_SHARD, ...builtInStorages().map((resource) => collectionOf({ uid: '' }, resource).shard)])].map(
    (shard, index) => [shard, index + 1],
  ),
)

/** The first place that no built-in type has. */
const SHARED = builtIn.size + 1

/** @param shard its name within its control plane */
export const placeOf = (shard: string): number => builtIn.get(shard) ?? SHARED + (hashOf(shard) % (PLACES - SHARED))

/** FNV-1a of UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
