import { afterEach, expect, test, vi } from 'vitest'
import { builtInForms } from '../../../src/codec/built-in-forms.ts'
import { KeptItems } from '../../../src/codec/protobuf/kept-items.ts'
import { negotiateOutput } from '../../../src/codec/negotiation/negotiate.ts'
import { Presenter } from '../../../src/codec/encode/present.ts'
import { listProtobuf } from '../../../src/codec/protobuf/list.ts'
import type { EncodedItems } from '../../../src/codec/protobuf/list.ts'
import { fakeRequest, fakeScope, NOW } from '../fake-scope.ts'

afterEach(() => void vi.useRealTimers())

const OWN = 10
const MOST = 100

/** Lists of the same isolate, and its clock. */
function isolate() {
  let now = NOW.getTime()
  return { kept: new KeptItems(MOST, OWN, () => now), later: (milliseconds: number) => void (now += milliseconds) }
}

test('all lists share the bound, beyond what each may keep in any case', () => {
  const { kept } = isolate()
  const [one, other, third] = [kept.begin(), kept.begin(), kept.begin()]
  expect(one.take(OWN + 60)).toBe(true)
  expect(other.take(OWN)).toBe(true)
  expect(other.take(41)).toBe(false)
  expect(other.take(40)).toBe(true)
  expect(third.take(OWN)).toBe(true)
  expect(third.take(1)).toBe(false)
  one.leave()
  expect(third.take(60)).toBe(true)
  one.leave()
  expect(third.take(1)).toBe(false)
})

test('a list that the engine dropped counts no longer after two minutes', () => {
  const { kept, later } = isolate()
  expect(kept.begin().take(OWN + MOST)).toBe(true)
  const next = kept.begin()
  later(119_999)
  expect(next.take(OWN + 1)).toBe(false)
  later(1)
  expect(next.take(OWN + 1)).toBe(true)
})

test('a list whose client takes hours counts as long as it is there', () => {
  vi.useFakeTimers({ now: NOW })
  const kept = new KeptItems(MOST, OWN, () => Date.now())
  const slow = kept.begin()
  slow.take(OWN + MOST)
  vi.advanceTimersByTime(3 * 3_600_000)
  expect(kept.begin().take(OWN + 1)).toBe(false)
  slow.leave()
  expect(kept.begin().take(OWN + 1)).toBe(true)
  expect(vi.getTimerCount()).toBe(1)
})

const MIB = 1024 * 1024
const PIECES = 5

/** Lists of 5 MiB, of which one fits. */
function lists() {
  const kept = new KeptItems(5 * MIB, MIB)
  const request = fakeRequest('GET /api/v1/configmaps', { accept: 'application/vnd.kubernetes.protobuf' })
  const { resource } = fakeScope('v1/configmaps', request)
  const presenter = new Presenter(resource, negotiateOutput(request, { kind: 'list', forms: builtInForms }))
  async function* encoded(skipped = 0, broken = false): AsyncGenerator<EncodedItems> {
    for (let piece = skipped; piece < PIECES; piece++) yield { bytes: new Uint8Array(MIB).fill(piece), count: 1 }
    if (broken) throw new Error('the shard broke off')
  }
  let reads = 0
  const again = async (skipped: number) => (reads++, encoded(skipped))
  const list = async (broken = false) => {
    const fail = (error: unknown) => expect.unreachable(String(error))
    const made = await listProtobuf(
      presenter,
      { resourceVersion: '9' },
      { items: encoded(0, broken), again, kept },
      fail,
    )
    // a list of this length is streamed
    return made as ReadableStream<Uint8Array>
  }
  const bytesOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).bytes()
  return { list, bytesOf, reads: () => reads }
}

test('while clients read nothing, one list is kept, and the others are read again', async () => {
  const { list, bytesOf, reads } = lists()
  const streams = [await list(), await list(), await list()]
  const all = await Promise.all(streams.map((stream) => bytesOf(stream)))
  for (const bytes of all) expect(Buffer.compare(bytes, all[0]!)).toBe(0)
  expect(all[0]!.length).toBeGreaterThan(PIECES * MIB)
  expect(reads()).toBe(2)
})

const endings: Readonly<Record<string, (all: ReturnType<typeof lists>) => Promise<unknown>>> = {
  'was read': async ({ list, bytesOf }) => bytesOf(await list()),
  'was not begun by its client': async ({ list }) => (await list()).cancel(),
  'was left by its client': async ({ list }) => {
    const reader = (await list()).getReader()
    await reader.read()
    await reader.read()
    await reader.cancel()
  },
  'broke off': ({ list }) => expect(list(true)).rejects.toThrow('the shard broke off'),
}

test.each(Object.entries(endings))('a list that %s leaves its room to the next one', async (_, end) => {
  const all = lists()
  for (let n = 0; n < 3; n++) await end(all)
  await all.bytesOf(await all.list())
  expect(all.reads()).toBe(0)
})
