// What a list has read of its shard when its client takes the beginning of the answer, and then nothing. All of it may
// be in the memory of an isolate, and nobody counts the clients of a Worker.
import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, test, vi } from 'vitest'
import { builtInForms } from '../../src/codec/built-in-forms.ts'
import { negotiateOutput } from '../../src/codec/negotiation/negotiate.ts'
import { listShape, respondList } from '../../src/codec/respond.ts'
import type { Env } from '../../src/env.ts'
import { MAX_OBJECT, RequestRecord } from '../../src/request/record.ts'
import { ANONYMOUS } from '../../src/request/user-info.ts'
import { encrypted } from '../../src/storage/encryption/encrypted.ts'
import { mappedLines } from '../../src/storage/streams/lines.ts'
import { Sealer } from '../../src/storage/encryption/sealing.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { ListShape, Storage } from '../../src/storage/storage.ts'
import { unbroken } from '../../src/storage/streams/unbroken-list.ts'
import { METADATA_LIST, TABLE, fakeRequest, fakeScope } from '../codec/fake-scope.ts'
import { inShard } from './in-shard.ts'
import { useOfNothing } from '../codec/use-of-nothing.ts'

const { SHARDS } = env as unknown as Env
const KIB = 1024
const VALUES = 100
const SIZE = 100 * KIB
/** Two chunks. One has 256 KiB, or as much more as its last value has. */
const MOST = 2 * (256 * KIB + SIZE)

const configMaps = { tenant: 'stalled', shard: 'configmaps', prefix: 'configmaps' }
const plain = shardStorage(SHARDS, platformClock)
const key = { id: 'a', secret: new Uint8Array(32) }
const sealed = encrypted(plain, new Sealer({ sealing: key, keys: [key], prefixes: new Set([configMaps.prefix]) }))

/** Nothing that gzip makes much shorter. */
function incompressible(length: number): string {
  const parts: string[] = []
  for (let size = 0; size < length; size += 36) parts.push(crypto.randomUUID())
  return parts.join('')
}

/** Characters of the values that the shard has read. */
let read = 0

beforeAll(async () => {
  const start = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"NAME","namespace":"a","resourceVersion":"'
  for (let n = 0; n < VALUES; n++) {
    const head = start.replace('NAME', `c${n}`)
    const text = `${head}"},"data":{"a":"${incompressible(SIZE)}"}}`
    await sealed.create(configMaps, `a/c${n}`, { text, at: head.length, uid: `${n}` })
    const open = { ...configMaps, shard: 'open' }
    await plain.create(open, `a/c${n}`, { text, at: head.length, uid: `${n}` })
  }
  for (const name of ['configmaps', 'open'])
    await inShard(SHARDS.getByName(`stalled/${name}`), (shard) => {
      const { statements } = shard.parts as unknown as {
        statements: { values: (...call: never) => { v: string }[] }
      }
      const { values } = statements
      statements.values = (...call) => {
        const rows = values(...call)
        for (const { v } of rows) read += v.length
        return rows
      }
    })
})

type Values = ReadableStream<Uint8Array>
interface Way {
  readonly storage?: Storage
  /** The form of the values where the resource asks for it. */
  readonly shape?: ListShape
  readonly through?: (values: Values) => Values
}

const converted = (values: Values) => mappedLines(values, (lines) => lines)
const never = async (): Promise<never> => Promise.reject(new Error('it was not broken'))
const ways: Readonly<Record<string, Way>> = {
  'as stored': {},
  'converted and decorated': { shape: { as: 'lines' }, through: (values) => converted(converted(values)) },
  encrypted: { storage: sealed },
  'of a shard that takes no writes': { through: (values) => unbroken(values, never) },
}

const forms: Readonly<Record<string, readonly [accept: string, query: string]>> = {
  JSON: ['application/json', ''],
  'indented JSON': ['application/json', '?pretty=1'],
  YAML: ['application/yaml', ''],
  CBOR: ['application/cbor', ''],
  metadata: [METADATA_LIST, ''],
  'a Table': [TABLE, ''],
}

const cases = Object.entries(ways).flatMap(([way, how]) =>
  Object.entries(forms).flatMap(([form, [accept, query]]) =>
    // metadata and Tables are short, and gzip reads some of the answer first
    (form === 'metadata' || form === 'a Table' ? [''] : ['', 'gzip']).map(
      (encoding) => [`${form} ${encoding}`, way, { accept, 'accept-encoding': encoding }, query, how] as const,
    ),
  ),
)

test.each(cases)('%s, %s: little is read ahead', async (_form, _way, headers, query, { storage = plain, ...how }) => {
  const request = fakeRequest(`GET /api/v1/configmaps${query}`, headers, 'CBORServingAndStorage=true')
  const asked = Object.assign(request, { user: ANONYMOUS })
  const scope = fakeScope('v1/configmaps', asked, { storedAsServed: true })
  const output = negotiateOutput(asked, { kind: 'list', forms: builtInForms })
  const shape = how.shape ?? listShape(scope.resource, output)
  const collection = storage === plain ? { ...configMaps, shard: 'open' } : configMaps
  read = 0
  const list = await storage.list(collection, { selection: everything, at: { kind: 'latest' }, shape, counted: true })
  const values = how.through?.(list.values) ?? list.values
  const response = await respondList(scope, output, { ...list, values, continueToken: '', shape, use: useOfNothing })
  const reader = response.body!.getReader()
  await reader.read()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThanOrEqual(MOST)
  vi.spyOn(console, 'error').mockImplementation(() => {}) // the log says that the client has gone
  await reader.cancel()
})

test('a list that is audited with its objects is read ahead as far as an event may have it', async () => {
  const request = fakeRequest('GET /api/v1/configmaps', { accept: 'application/json' })
  const record = Object.assign(new RequestRecord(), { level: 'RequestResponse' as const })
  const asked = Object.assign(request, { user: ANONYMOUS, record })
  const scope = fakeScope('v1/configmaps', asked, { storedAsServed: true })
  const output = negotiateOutput(asked, { kind: 'list', forms: builtInForms })
  const shape = listShape(scope.resource, output)
  read = 0
  const open = { ...configMaps, shard: 'open' }
  const list = await plain.list(open, { selection: everything, at: { kind: 'latest' }, shape })
  const response = await respondList(scope, output, { ...list, continueToken: '', shape, use: useOfNothing })
  expect(await record.responseObject).toBeUndefined()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(read).toBeLessThanOrEqual(MOST + MAX_OBJECT)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  await response.body!.cancel()
})

test.each(Object.entries(forms))(
  'a list in %s ends its use, also where it has to break off',
  async (_form, [accept, query]) => {
    const request = fakeRequest(`GET /api/v1/configmaps${query}`, { accept }, 'CBORServingAndStorage=true')
    const asked = Object.assign(request, { user: ANONYMOUS })
    const scope = fakeScope('v1/configmaps', asked, { storedAsServed: true })
    const output = negotiateOutput(asked, { kind: 'list', forms: builtInForms })
    const shape = listShape(scope.resource, output)
    const open = { ...configMaps, shard: 'open' }
    const answer = async () => {
      const { promise: broken, resolve: breakOff } = Promise.withResolvers<void>()
      const use = { ended: vi.fn<() => void>(), onBroken: (work: () => void) => void broken.then(work) }
      const list = await plain.list(open, { selection: everything, at: { kind: 'latest' }, shape, counted: true })
      const { body } = await respondList(scope, output, { ...list, continueToken: '', shape, use })
      return { body: body!, use, breakOff }
    }
    const whole = await answer()
    await new Response(whole.body).arrayBuffer()
    await vi.waitFor(() => expect(whole.use.ended).toHaveBeenCalled())
    const given = await answer()
    await given.body.cancel()
    await vi.waitFor(() => expect(given.use.ended).toHaveBeenCalled())
    const long = await answer()
    const reader = long.body.getReader()
    await reader.read()
    long.breakOff()
    const rest = (async () => {
      while (!(await reader.read()).done);
    })()
    if (!long.use.ended.mock.calls.length) await expect(rest).rejects.toThrow()
  },
)
