/**
 * The place (places.ts) of each shard of a definition. The control shard has a row for each place that is taken. A
 * shard takes a place before its first write, and gives it back when its type is deleted.
 */
import { groupResourceText } from '../../api/group-version.ts'
import { StorageError } from '../errors.ts'
import { linesOf } from '../streams/lines.ts'
import { CUSTOM_PLACES, oneOf, preferredIndex } from './places.ts'
import { everything } from '../selectors/selection.ts'
import type { Collection, NewValue, Revision, ShardName, Storage } from '../storage.ts'
import { hasUid } from '../streams/value-text.ts'
import { CONTROL_SHARD } from '../shards/written-shards.ts'

/** No resource has this group. */
const REVISION_PLACES = { group: 'kedge', resource: 'revisionplaces' }

const placesOf = (tenant: string): Collection => ({
  tenant,
  shard: CONTROL_SHARD,
  prefix: groupResourceText(REVISION_PLACES),
})

/** The uid is the shard's name, so that a repeated create finds its own row. */
function rowOf(index: number, shard: string): NewValue {
  const start = `{"metadata":{"name":"${index}","uid":${JSON.stringify(shard)},"resourceVersion":"`
  return { text: `${start}"}}`, at: start.length, uid: shard }
}

export interface TakenPlace {
  readonly index: number
  /** Every revision of the shard is above this one, because an earlier shard in this place gave those below. */
  readonly since: Revision
}

/** How often another shard may take the wanted place first. */
const TRIES = 8

/**
 * @param control reaches the control shard
 * @returns a place that another shard has too, where none is free
 */
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
  // these rows are never sealed, though other values of the control shard may be
  const query = { selection: everything, at: { kind: 'latest' }, opens: true } as const
  const { values } = await control.list(placesOf(tenant), query)
  for await (const line of linesOf(values)) taken.add(Number(/"name":"(\d+)"/.exec(line)?.[1]))
  return Array.from({ length: CUSTOM_PLACES }, (_, index) => index).filter((index) => !taken.has(index))
}

/**
 * Deletes the row of a place in the control shard, so that another shard may take the place. The revisions of that
 * shard are above `last`.
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
