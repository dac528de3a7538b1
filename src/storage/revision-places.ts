/**
 * Which shard of a definition has which place (places.ts): the control shard has a row for each place that is taken. A
 * shard takes one before its first write, and gives it back when its type is gone.
 */
import { groupResourceText } from '../api/group-version.ts'
import { StorageError } from './errors.ts'
import { linesOf } from './lines.ts'
import { CUSTOM_PLACES, oneOf, preferredIndex } from './places.ts'
import { everything } from './selection.ts'
import type { Collection, NewValue, Revision, ShardName, Storage } from './storage.ts'
import { hasUid } from './value-text.ts'
import { CONTROL_SHARD } from './written-shards.ts'

/** No resource has this group. */
const REVISION_PLACES = { group: 'kedge', resource: 'revisionplaces' }

const placesOf = (tenant: string): Collection => ({
  tenant,
  shard: CONTROL_SHARD,
  prefix: groupResourceText(REVISION_PLACES),
})

/** Its uid is the shard's name: storage takes a create with the uid that is there for one that was made before. */
function rowOf(index: number, shard: string): NewValue {
  const start = `{"metadata":{"name":"${index}","uid":${JSON.stringify(shard)},"resourceVersion":"`
  return { text: `${start}"}}`, at: start.length, uid: shard }
}

export interface TakenPlace {
  readonly index: number
  /** The shard gives only numbers above this one: the shard that had the place before gave those below it. */
  readonly since: Revision
}

/** As often as another shard may take the same place first. */
const TRIES = 8

/** @param control reaches the control shard @returns where no place is left, one that another shard has as well */
export async function takePlace(control: Storage, { tenant, shard }: ShardName): Promise<TakenPlace> {
  const preferred = preferredIndex(shard)
  let index: number | undefined = preferred
  for (let tries = 0; index !== undefined && tries < TRIES; tries++) {
    const taken = await tryPlace(control, { tenant, shard }, index)
    if (taken !== undefined) return { index, since: taken }
    index = oneOf(await freePlaces(control, tenant), shard, tries)
  }
  return { index: preferred, since: 0 }
}

async function tryPlace(control: Storage, { tenant, shard }: ShardName, index: number): Promise<Revision | undefined> {
  try {
    return (await control.create(placesOf(tenant), String(index), rowOf(index, shard))).revision
  } catch (error) {
    if (error instanceof StorageError && error.code === 'KeyExists') return undefined
    throw error
  }
}

async function freePlaces(control: Storage, tenant: string): Promise<number[]> {
  const taken = new Set<number>()
  // rows are never sealed, though others of the control shard may be
  const query = { selection: everything, at: { kind: 'latest' }, opens: true } as const
  const { values } = await control.list(placesOf(tenant), query)
  for await (const line of linesOf(values)) taken.add(Number(/"name":"(\d+)"/.exec(line)?.[1]))
  return Array.from({ length: CUSTOM_PLACES }, (_, index) => index).filter((index) => !taken.has(index))
}

/**
 * Frees the place for another shard, whose numbers will be above `last`: the control shard deletes the row at a later
 * revision.
 */
export async function givePlaceBack(
  control: Storage,
  { tenant, shard }: ShardName,
  index: number,
  last: Revision,
): Promise<void> {
  const key = String(index)
  const row = await control.get(placesOf(tenant), key, last)
  if (row === undefined || !hasUid(row.text, shard)) return
  await control.delete(placesOf(tenant), key, rowOf(index, shard), row.revision)
}
