/**
 * The numbers that a shard gives as revisions (revision.ts). Each shard of built-in types has a place of its own, which
 * this release knows. A shard of a definition gets one of CUSTOM_PLACES from the control shard before its first write
 * (revision-places.ts). A place of a built-in type may change with a release: it determines the next numbers, and says
 * nothing about earlier ones.
 */
import { builtInStorages, collectionOf } from '../collections.ts'
import type { Place } from './revision.ts'
import { PLACES, TICKS } from './revision.ts'
import { CONTROL_SHARD } from '../shards/written-shards.ts'

/**
 * Remainders by PLACES from this one on are for definitions. Half of them are places like those of built-in types.
 * Each of the others is split into sixteen places with one number in a millisecond. This never changes: shards keep
 * the place that they got.
 */
export const FIRST_CUSTOM = 64
/** The number of definitions with places as wide as those of built-in types. */
export const WIDE_PLACES = (PLACES - FIRST_CUSTOM) / 2
const NARROW_REMAINDERS = PLACES - FIRST_CUSTOM - WIDE_PLACES

const builtIn: ReadonlyMap<string, Place> = new Map(
  [...new Set([CONTROL_SHARD, ...builtInStorages().map((resource) => collectionOf({ uid: '' }, resource).shard)])].map(
    (shard, index) => [shard, { first: index + 1, every: PLACES }],
  ),
)

/**
 * @param shard its name within its control plane
 * @returns undefined for a shard of a definition
 */
export const builtInPlace = (shard: string): Place | undefined => builtIn.get(shard)

/** The number of shards of definitions that can have numbers of their own in one control plane. */
export const CUSTOM_PLACES = WIDE_PLACES + NARROW_REMAINDERS * (TICKS / PLACES)

/** @param index from 0 to CUSTOM_PLACES - 1; the wide places come first */
export function customPlace(index: number): Place {
  if (index < WIDE_PLACES) return { first: FIRST_CUSTOM + index, every: PLACES }
  const narrow = index - WIDE_PLACES
  const remainder = FIRST_CUSTOM + WIDE_PLACES + (narrow % NARROW_REMAINDERS)
  return { first: remainder + PLACES * Math.floor(narrow / NARROW_REMAINDERS), every: TICKS }
}

/** The index that a shard tries first. */
export const preferredIndex = (shard: string): number => hashOf(shard) % WIDE_PLACES

/** Chooses one of the free indexes, differently for each shard and each try. */
export function oneOf(free: readonly number[], shard: string, tries: number): number | undefined {
  const wide = free.filter((index) => index < WIDE_PLACES)
  const candidates = wide.length > 0 ? wide : free
  return candidates[(Math.floor(hashOf(shard) / WIDE_PLACES) + tries) % candidates.length]
}

/** FNV-1a of UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
