// The shard reads a past state in several turns. Writes since then and during the read do not change it.
import { expect, it } from 'vitest'
import { PastState } from '../../durable-objects/past-state.ts'
import type { Statements } from '../../durable-objects/statements.ts'

interface Version {
  readonly rv: number
  readonly k: string
  readonly prv: number | null
  readonly isDeleted: boolean
}

/** The writes of a shard, and the number of rows that a call read. */
class Writes {
  readonly rev = new Map<number, Version>()
  readonly cur = new Map<string, number>()
  last = 0
  floor = 0
  looked = 0

  put(k: string): void {
    this.append(k, false)
    this.cur.set(k, this.last)
  }

  remove(k: string): void {
    this.append(k, true)
    this.cur.delete(k)
  }

  private append(k: string, isDeleted: boolean): void {
    const rv = ++this.last
    this.rev.set(rv, { rv, k, prv: this.cur.get(k) ?? null, isDeleted })
  }

  /** The state in the order of keys. */
  state(): string[] {
    return [...this.cur].map(([k, rv]) => `${k}@${rv}`).sort()
  }

  /** The statements by which the shard reads these rows. */
  statements(): Statements {
    const keys = () => [...this.cur].map(([k, rv]) => ({ k, rv, l: '{}' })).sort((a, b) => (a.k < b.k ? -1 : 1))
    let sorted: { readonly at: number; readonly keys: ReturnType<typeof keys> } = { at: -1, keys: [] }
    const current = () => (sorted = sorted.at === this.last ? sorted : { at: this.last, keys: keys() }).keys
    const read = {
      replacedSince: (after: number, limit: number, revision: number, { from, to }: { from: string; to: string }) =>
        Array.from({ length: Math.min(limit, this.last - after) }, (_, n) => {
          this.looked++
          const { rv, prv } = this.rev.get(after + 1 + n)!
          const was = prv === null || prv > revision ? undefined : this.rev.get(prv)
          const isAsked = was !== undefined && was.k >= from && was.k < to
          return { at: rv, k: isAsked ? was.k : null, rv: isAsked ? was.rv : null, l: isAsked ? '{}' : null }
        }),
      currentKeys: ({ from, to }: { from: string; to: string }, limit: number) => {
        const found = current().filter(({ k }) => k >= from && k < to).slice(0, limit) // prettier-ignore
        this.looked += found.length
        return found
      },
      countUnchanged: ({ from, to }: { from: string; to: string }, revision: number) =>
        current().filter(({ k, rv }) => k >= from && k < to && rv <= revision).length,
    }
    return read as unknown as Statements
  }
}

const key = (n: number): string => `things/${String(n).padStart(6, '0')}`
const TURN = { keys: 500, begin() {}, isOver: () => false }
const RANGE = { from: 'things/', to: 'things0' }
/** The most rows that a turn reads: changes, and existing keys. */
const A_TURN = 1_500

it.each<[what: string, count: number, change: (writes: Writes, n: number) => void]>([
  ['more keys were deleted since than remain', 25_000, (writes, n) => writes.remove(key(n))],
  ['every key was written again', 3_000, (writes, n) => writes.put(key(n))],
  [
    'every key was written or deleted',
    3_000,
    (writes, n) => (n % 2 === 0 ? writes.remove(key(n)) : writes.put(key(n))),
  ],
  ['new keys were created', 3_000, (writes, n) => writes.put(`${key(n)}-new`)],
  ['a few keys were deleted', 3_000, (writes, n) => void (n % 100 === 0 && writes.remove(key(n)))],
])('%s: the past state is the same, and each turn reads a bounded number of rows', (_, count, change) => {
  const writes = new Writes()
  for (let n = 0; n < count; n++) writes.put(key(n))
  const wanted = writes.state()
  const revision = writes.last
  for (let n = count - 1; n >= 0; n--) change(writes, n)
  const past = new PastState(writes, writes.statements(), revision, RANGE, () => true, TURN)
  const found: string[] = []
  for (let turn = 0, isEnd = false; !isEnd; turn++) {
    writes.looked = 0
    const batch = past.next(Infinity)
    expect(writes.looked).toBeLessThanOrEqual(A_TURN)
    for (const { k, rv } of batch.rows) found.push(`${k}@${rv}`)
    if (turn % 7 === 0 && batch.rows.length > 0) expect(past.remaining()).toBe(wanted.length - found.length)
    isEnd = batch.isEnd
    // A client writes between two turns.
    const n = (turn * 7919) % count
    if (turn % 3 === 0) writes.put(key(n))
    else if (writes.cur.has(key(n))) writes.remove(key(n))
  }
  expect(found).toEqual(wanted)
})

it('a page ends at its limit, and says whether more keys follow', () => {
  const writes = new Writes()
  for (let n = 0; n < 1_200; n++) writes.put(key(n))
  const revision = writes.last
  for (let n = 0; n < 1_200; n += 3) writes.remove(key(n))
  const past = new PastState(writes, writes.statements(), revision, RANGE, () => true, TURN)
  const taken: string[] = []
  while (taken.length < 700) for (const { k } of past.next(700 - taken.length).rows) taken.push(k)
  expect(taken).toEqual(Array.from({ length: 700 }, (_, n) => key(n)))
  expect(past.remaining()).toBe(500)
  expect(past.hasMore()).toBe(true)
  for (let isEnd = false; !isEnd;) isEnd = past.next(Infinity).isEnd
  expect(past.hasMore()).toBe(false)
})

it('a past state below the compaction floor is refused', () => {
  const writes = new Writes()
  writes.put(key(1))
  writes.put(key(1))
  const past = new PastState(writes, writes.statements(), 1, RANGE, () => true, TURN)
  writes.floor = 2
  expect(() => past.next(1)).toThrow('Compacted')
})
