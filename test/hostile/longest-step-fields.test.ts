// Each list and each map of each built-in kind, and each sort of them that a structural schema can have: how much a body
// that fills it makes the server do between two turns of others, by how much that grows for each byte more. It is sent to be
// created, and onto an object that is there: as an update, as each kind of patch, and as a small patch of an object that has
// it. What still grows by more than may be stands in longest-step-fields.json. Of every few one is tried, all by `npm run test:steps`. KEDGE_MEASURED=file writes what was measured there.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_MEMBERS } from '../../src/api/json.ts'
import type { JsonObject } from '../../src/api/object.ts'
import type { Send } from '../bench/memory-target.ts'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'
import { customDefinition, customFields } from './custom-fields.ts'
import { listFields, mapFields } from './list-fields.ts'
import open from './longest-step-fields.json' with { type: 'json' }
import type { ListField } from './list-fields.ts'

let server: CountedServer
const measured: Record<string, string> = {}

beforeAll(async () => {
  server = await countedServer([customDefinition])
}, 120_000)
afterAll(() => {
  server.restore()
  const { KEDGE_MEASURED: file = '' } = process.env
  if (file !== '') writeFileSync(file, JSON.stringify(measured, null, 2))
})

/** Calls of a function that take fifty milliseconds, of thirty nanoseconds each. */
const MOST_WORK = 1_600_000
/**
 * A refused body is up to 3 MB. What is to be put onto an object that is there is refused before anybody looks at it where
 * it would be more than storage takes; how a larger body is read is seen in creates. Of what is stored half is in
 * managedFields.
 */
const MOST_BYTES = { refused: 3_000_000, onto: 1_500_000, stored: 750_000 }

const FEW = 100
const MANY = 300
/** Some lists have a limit, above which nothing is looked at; what they cost there is not told by what they cost below. */
const ABOVE_LIMITS = 600

type Call = Parameters<Send>[0]

interface Operation {
  readonly what: string
  readonly verb: string
  /** What is there before; absent: nothing. */
  readonly live?: (object: JsonObject) => JsonObject
  readonly call: (path: string, object: JsonObject) => Call
}

const without = ({ apiVersion, kind, metadata }: JsonObject): JsonObject => {
  const { name } = metadata as JsonObject
  return { apiVersion, kind, metadata: { name } } as JsonObject
}
const patch =
  (contentType: string, body: (object: JsonObject) => unknown, more = '&fieldManager=m'): Operation['call'] =>
  (path, object) => ({ method: 'PATCH', path: `${path}${more}`, body: JSON.stringify(body(object)), contentType })

/** Each member is added, those of the metadata one by one. */
const asJsonPatch = ({ apiVersion: _, kind: __, metadata, ...rest }: JsonObject) =>
  [
    ...Object.entries(rest).map(([name, value]) => [`/${name}`, value]),
    ...Object.entries(metadata as JsonObject).map(([name, value]) => [`/metadata/${name}`, value]),
  ].map(([path, value]) => ({ op: 'add', path, value }))

const whole = (object: JsonObject) => object
const small = () => ({ metadata: { labels: { a: 'b' } } })
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const operations: readonly Operation[] = [
  { what: 'create', verb: 'create', call: (path, body) => ({ method: 'POST', path, body: JSON.stringify(body) }) },
  {
    what: 'update',
    verb: 'update',
    live: without,
    call: (path, body) => ({ method: 'PUT', path, body: JSON.stringify(body) }),
  },
  { what: 'JSON patch', verb: 'patch', live: without, call: patch('application/json-patch+json', asJsonPatch) },
  { what: 'merge patch', verb: 'patch', live: without, call: patch(MERGE, whole) },
  { what: 'small merge patch', verb: 'patch', live: whole, call: patch(MERGE, small) },
  {
    what: 'strategic merge patch',
    verb: 'patch',
    live: without,
    call: patch('application/strategic-merge-patch+json', whole),
  },
  { what: 'apply', verb: 'patch', live: without, call: patch(APPLY, whole, '&fieldManager=m&force=true') },
]

/** Fields above the limit: work for each byte. Nothing may make it more. */
const stillOpen: Readonly<Record<string, number>> = open
const TOLERANCE = 1.3
/**
 * Maps that fill no body: an object has one of them, and a body with more than MAX_MEMBERS in it is refused while it is
 * read. A map of twice as many is below the limit.
 */
const ONE_MAP = new Set(['LocalSubjectAccessReview.spec.extra', 'PodDisruptionBudget.status.disruptedPods'])
const neededAsOneMap = new Set<string>()
/** Those of them that were found above it. */
const needed = new Set<string>()

let names = 0

/** Its object is there where the operation changes one. @returns the call, and how much there is of what it handles */
async function prepared({ what, live, call }: Operation, { url, resource, object }: ListField, n: number) {
  const name = what === 'create' ? 'a' : `o${++names}`
  const made = object(n)
  const sent: JsonObject = { ...made, metadata: { ...(made['metadata'] as JsonObject), name } }
  const [collection = '', query = ''] = url.split('?')
  if (live === undefined) return { call: call(url, sent), bytes: JSON.stringify(sent).length }
  const stored = live(sent)
  const within = resource.namespaced ? { namespace: 'default' } : {}
  const metadata = { ...(stored['metadata'] as JsonObject), ...within, name }
  await server.put(resource.group, resource.resource, { ...stored, metadata })
  return { call: call(`${collection}/${name}?${query}`, sent), bytes: JSON.stringify(sent).length }
}

async function growth(operation: Operation, field: ListField, few: number, many: number) {
  const steps = []
  // what is made on first use is no part of it
  for (const n of [few, few, many]) {
    const { call, bytes } = await prepared(operation, field, n)
    steps.push({ ...(await server.longestStep(call)), bytes })
  }
  const [, a, b] = steps as [unknown, (typeof steps)[0], (typeof steps)[0]] // one for each
  const perByte = (b.work - a.work) / (b.bytes - a.bytes)
  const { status, text, seen, lost } = b
  const refused = operation.live === undefined ? MOST_BYTES.refused : MOST_BYTES.onto
  const body = status < 300 ? MOST_BYTES.stored : refused
  const isOneMap = ONE_MAP.has(field.path)
  if (isOneMap && perByte > MOST_WORK / body) neededAsOneMap.add(field.path)
  const members = (MAX_MEMBERS * (b.bytes - a.bytes)) / (many - few)
  const limit = MOST_WORK / (isOneMap ? Math.min(2 * members, body) : body)
  const entry = `${operation.what}: ${field.path}`
  const most = Math.max(limit, (stillOpen[entry] ?? 0) * TOLERANCE)
  if (perByte > limit) needed.add(entry)
  measured[`${operation.what}, ${field.path}`] = `${perByte.toFixed(3)} of ${most.toFixed(3)} ${status} ${seen}`
  return { perByte, most, status, text, seen, lost }
}

/** Of creates one of four is tried, of all others one of forty; which, does not follow their order. */
const SHARES = { create: 4, others: 40 }
/** Rules in CEL are run at once, which only their budget of cost bounds. */
const BY_BUDGET = /^Shape\.spec\.ruled/
const fields = [...listFields(), ...mapFields(), ...customFields()].filter(({ path }) => !BY_BUDGET.test(path))
const { KEDGE_STEPS_SHARE: share } = process.env
const tried = operations.flatMap((operation) => {
  const of = Number(share ?? (operation.what === 'create' ? SHARES.create : SHARES.others))
  const ofVerb = fields.filter(({ verbs, path }) => {
    const isCustom = path.startsWith('Shape.')
    return verbs.includes(operation.verb) && !(isCustom && operation.what === 'strategic merge patch')
  })
  return ofVerb
    .filter((_, index) => (index * 7919 + operation.what.length) % of === 0)
    .map((field) => ({ what: operation.what, path: field.path, operation, field }))
})

test.each(tried)('$what: $path', { timeout: 60_000 }, async ({ operation, field }) => {
  let found = await growth(operation, field, FEW, MANY)
  if (found.perByte > found.most) found = await growth(operation, field, ABOVE_LIMITS, 2 * ABOVE_LIMITS)
  // some kinds refuse to be changed like this, after all of the work; what is applied and not of its type is refused with 500
  const statuses = [200, 201, 400, 403, 404, 405, 409, 422, ...(operation.what === 'apply' ? [500] : [])]
  expect(found.status, found.text.slice(0, 300)).toBeOneOf(statuses)
  if (found.status === 500) expect(found.text).toMatch(/failed to create typed patch object/)
  expect(found.lost, 'made anew in each part').toEqual([])
  expect(found.perByte, `in a step that came by\n${found.seen}`).toBeLessThan(found.most)
})

// of a share most of the table was not tried
test.runIf(share === '1')('every field of the table is above the limit', () => {
  expect(Object.keys(stillOpen).filter((entry) => !needed.has(entry))).toEqual([])
  expect(neededAsOneMap).toEqual(ONE_MAP)
})
