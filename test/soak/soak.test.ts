// Writers, watchers and controllers work for KEDGE_SOAK_MINUTES (default 3) while the test kills the engine, the front
// or the whole process tree at random moments (KEDGE_SEED repeats them). At the end every history must be complete,
// also where a backup of that time is restored under kills. KEDGE_SOAK_ENCRYPTED=1 encrypts ConfigMaps and Secrets in
// the database.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Family, Seen, Target, Written } from './actors.ts'
import { countIn, defineAndForget, emptyNamespaces, follow, makeFamilies, SPACE } from './actors.ts'
import type { StoredObject } from './backups.ts'
import { countAll, objectsIn, restore, wholeBackup } from './backups.ts'
import { pause, randomFrom, Victim } from './victim.ts'

const MINUTES = Number(process.env['KEDGE_SOAK_MINUTES'] ?? '3')
const encrypted = process.env['KEDGE_SOAK_ENCRYPTED'] === '1'
const seed = Number(process.env['KEDGE_SEED'] ?? Date.now() % 1_000_000)
const WRITERS = 16
/** The number of restores. */
const RESTORES = Math.max(1, Math.floor(MINUTES / 2))
const NAMESPACES = '/api/v1/namespaces'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const random = randomFrom(seed)

/** The actors' record of a period, to compare with what is stored. */
interface Account {
  readonly acknowledged: Map<string, Written>
  readonly seen: Seen[]
  readonly families: Family[]
  readonly deletedNamespaces: string[]
  readonly forgotten: string[]
}

const newAccount = (): Account => ({
  acknowledged: new Map(),
  seen: [],
  families: [],
  deletedNamespaces: [],
  forgotten: [],
})

const copyOf = ({ acknowledged, seen, families, deletedNamespaces, forgotten }: Account): Account => ({
  acknowledged: new Map(acknowledged),
  seen: [...seen],
  families: [...families],
  deletedNamespaces: [...deletedNamespaces],
  forgotten: [...forgotten],
})

let victim: Victim
/** A backup made under kills, with the actors' records from before and after it. */
let backup: { readonly lines: readonly string[]; readonly before: Account; readonly after: Account } | undefined

beforeAll(async () => {
  victim = await Victim.start(random, encrypted)
})
afterAll(() => victim.stop())

async function counts(target: Target, path: string): Promise<Map<string, number>> {
  const { status, body } = await target.client.send('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${body.message}`)
  return new Map((body.items ?? []).map(({ metadata, data }) => [metadata.name, Number(data?.['count'] ?? 0)] as const))
}

/** Acknowledged writes are stored. The next write may be stored as well, because only its answer was lost. */
function expectAcknowledged({ acknowledged }: Account, stored: ReadonlyMap<string, number>): void {
  for (const [name, { count }] of acknowledged) expect(stored.get(name), name).toBeOneOf([count, count + 1])
}

/** A watcher sees each state exactly once and in order. */
function expectWholeHistories({ seen, acknowledged }: Account): void {
  const versions = seen.map(({ version }) => version)
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  for (const [name] of acknowledged) {
    const of = seen.filter((event) => event.name === name).map(({ count }) => count)
    expect(of, name).toEqual(of.map((_, index) => index))
  }
}

/** Controllers finish the deletions that they began, and delete nothing else. */
async function expectEnds({ families, deletedNamespaces, forgotten }: Account, target: Target): Promise<void> {
  const orphans = families.filter(({ ownerDeleted }) => ownerDeleted).flatMap(({ dependents }) => dependents)
  const kept = families.filter(({ ownerDeleted }) => !ownerDeleted).flatMap(({ dependents }) => dependents)
  const isThere = async (wanted: readonly string[], path: string): Promise<string[]> => {
    const there = await counts(target, path)
    return wanted.filter((name) => there.has(name))
  }
  await expect.poll(() => isThere(orphans, `${SPACE}/configmaps`)).toEqual([])
  await expect.poll(() => isThere(deletedNamespaces, NAMESPACES)).toEqual([])
  await expect.poll(() => isThere(forgotten, DEFINITIONS)).toEqual([])
  expect(await isThere(kept, `${SPACE}/configmaps`)).toEqual(kept)
}

const writers = (target: Target, account: Account, prefix: string): Promise<void>[] =>
  Array.from({ length: WRITERS }, (_, writer) => countIn(target, `${prefix}-${writer}`, account.acknowledged))

async function revisionOf(target: Target): Promise<number> {
  const { body } = await target.client.send('GET', `${SPACE}/configmaps`)
  return Number(body.metadata.resourceVersion)
}

test(
  `nothing is lost in ${MINUTES} minutes of kills (seed ${seed}${encrypted ? ', encrypted' : ''})`,
  { timeout: (MINUTES + 5) * 60_000 },
  async () => {
    const { target } = victim
    await target.client.send('POST', NAMESPACES, { metadata: { name: 'soak' } })
    const began = await revisionOf(target)
    const account = newAccount()
    const { seen, families, deletedNamespaces, forgotten } = account
    const actors = [
      ...writers(target, account, 'writer'),
      follow(target, seen, () => seen.at(-1)?.version ?? began),
      emptyNamespaces(target, deletedNamespaces),
      makeFamilies(target, families),
      defineAndForget(target, forgotten),
    ]
    const until = Date.now() + MINUTES * 60_000
    const backingUp = (async () => {
      await pause((MINUTES * 60_000) / 3)
      const before = copyOf(account)
      const lines = await wholeBackup(target)
      if (lines !== undefined) backup = { lines, before, after: copyOf(account) }
    })()
    await victim.killAtRandom(until)
    await backingUp // there are no more kills, so the backup finishes
    target.stopped = true
    await Promise.all(actors)
    console.log(
      `seed ${seed}: kills ${JSON.stringify(victim.kills)}, ${seen.length} events, ${families.length} families, ${deletedNamespaces.length} namespaces, ${forgotten.length} definitions`,
    )
    expectAcknowledged(account, await eventually(() => counts(target, `${SPACE}/configmaps`)))
    expectWholeHistories(account)
    await expectEnds(account, target)
  },
)

const inSoak = (objects: readonly StoredObject[]): StoredObject[] =>
  objects.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.namespace === 'soak')

test('a backup of that time is one state of it', () => {
  if (backup === undefined) throw new Error('no backup came to its end between kills')
  const stored = new Map(
    inSoak(objectsIn(backup.lines)).map(({ metadata, data }) => [metadata.name, Number(data?.['count'])]),
  )
  for (const [name, { count }] of backup.before.acknowledged) {
    const after = backup.after.acknowledged.get(name)!
    expect(stored.get(name), name).toBeGreaterThanOrEqual(count)
    expect(stored.get(name), name).toBeLessThanOrEqual(after.count + 1)
  }
})

/** Kills the server at random moments of a restore and of the work that follows. */
async function restoreUnderKills({ lines, before }: NonNullable<typeof backup>): Promise<void> {
  const restored = await Victim.start(random, encrypted)
  const { target } = restored
  const objects = objectsIn(lines)
  const inBackup = inSoak(objects)
  const lists = new Set<number>()
  const reader = { client: target.client, stopped: false }
  const reading = countAll(reader, lists)
  let isOver = false
  const killing = (async () => {
    for (let kills = 0; kills < 4 && !isOver; kills++) {
      await pause(200 + random() * 4_000)
      if (!isOver) await restored.kill()
    }
  })()
  const tries = await restore(restored, lines)
  isOver = true
  reader.stopped = true
  await Promise.all([reading, killing])
  // no list shows a partial restore: it has none of the objects, or all but dependents, which the collector may delete
  const staying = inBackup.filter(({ metadata }) => metadata.ownerReferences === undefined).length
  for (const count of lists) expect(count === 0 || count >= staying, `a list of ${count}, not ${staying}`).toBe(true)

  const account = {
    ...newAccount(),
    families: before.families,
    forgotten: goingIn(objects, 'CustomResourceDefinition'),
  }
  const { seen } = account
  const began = await revisionOf(target)
  const actors = [
    ...writers(target, account, `after-${tries}`),
    follow(target, seen, () => seen.at(-1)?.version ?? began),
    emptyNamespaces(target, account.deletedNamespaces),
  ]
  await restored.killAtRandom(Date.now() + 10_000)
  await pause(2_000)
  target.stopped = true
  await Promise.all(actors)
  console.log(`a restore of ${objects.length} objects: tried ${tries} times, kills ${JSON.stringify(restored.kills)}`)
  const stored = await eventually(() => counts(target, `${SPACE}/configmaps`))
  for (const { metadata, data } of inBackup)
    if (metadata.name.startsWith('writer-')) expect(stored.get(metadata.name)).toBe(Number(data?.['count']))
  expectAcknowledged(account, stored)
  expectWholeHistories(account)
  account.deletedNamespaces.push(...goingIn(objects, 'Namespace'))
  await expectEnds(account, target)
  await restored.stop()
}

const goingIn = (objects: readonly StoredObject[], ofKind: string): string[] =>
  objects
    .filter(({ kind, metadata }) => kind === ofKind && metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name)

test.each(Array.from({ length: RESTORES }, (_, n) => n + 1))(
  'restored under kills it is whole, and goes on (%i)',
  { timeout: 600_000 },
  async () => {
    if (backup === undefined) throw new Error('no backup came to its end between kills')
    await restoreUnderKills(backup)
  },
)
