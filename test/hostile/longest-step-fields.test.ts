// A body fills each list and map of each built-in kind, and each type of them that a structural schema can declare. The
// tests measure how much the longest step of the request grows for each byte of that body. The operations are a
// create, an update, each kind of patch, and a small patch of an object that has the large field.
// longest-step-fields.json lists the fields that still grow by more than the limit. A run tries a share of the fields;
// `npm run test:steps` tries all. KEDGE_MEASURED=FILE writes the measurements to the file.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_MEMBERS } from '../../src/json/json.ts'
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

/** Fifty milliseconds of function calls that take thirty nanoseconds each. */
const MOST_WORK = 1_600_000
/**
 * The server reads a refused body of up to 3 MB. It refuses a larger change of an existing object than storage takes
 * before it looks at it; creates show how it reads larger bodies. Half of a stored object is in managedFields.
 */
const MOST_BYTES = { refused: 3_000_000, onto: 1_500_000, stored: 750_000 }

const FEW = 100
const MANY = 300
/** The server does not look into lists above their limit, so the cost below a limit does not predict the cost above. */
const ABOVE_LIMITS = 600

type Call = Parameters<Send>[0]

interface Operation {
  readonly what: string
  readonly verb: string
  /** The object that exists before the call; if absent, none does. */
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

/** A JSON patch that adds each member of the object, and each member of its metadata by itself. */
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

/** Work for each byte of the fields that are still above the limit. No change may increase it. */
const stillOpen: Readonly<Record<string, number>> = open
const TOLERANCE = 1.3
/**
 * An object has only one of these maps, and the parser refuses a body with more than MAX_MEMBERS members. So such a map
 * cannot fill a body. A map of twice as many members is below the limit.
 */
const ONE_MAP = new Set(['LocalSubjectAccessReview.spec.extra', 'PodDisruptionBudget.status.disruptedPods'])
const neededAsOneMap = new Set<string>()
/** Entries of `stillOpen` that this run found above the limit. */
const needed = new Set<string>()

let names = 0

/** Stores the object if the operation changes one. @returns the call, and the size of the object in bytes */
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
  // the first request fills caches and does not count
  for (const n of [few, few, many]) {
    const { call, bytes } = await prepared(operation, field, n)
    steps.push({ ...(await server.longestStep(call)), bytes })
  }
  const [, a, b] = steps as [unknown, (typeof steps)[0], (typeof steps)[0]] // one for each size
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

/** A run tries one of four creates and one of forty other operations, spread over the list. */
const SHARES = { create: 4, others: 40 }
/** CEL rules run without a pause; only their cost budget bounds them. */
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
  // some kinds refuse such a change after all of the work; an apply configuration of the wrong type is refused with 500
  const statuses = [200, 201, 400, 403, 404, 405, 409, 422, ...(operation.what === 'apply' ? [500] : [])]
  expect(found.status, found.text.slice(0, 300)).toBeOneOf(statuses)
  if (found.status === 500) expect(found.text).toMatch(/failed to create typed patch object/)
  expect(found.lost, 'made anew in each part').toEqual([])
  expect(found.perByte, `in a step that came by\n${found.seen}`).toBeLessThan(found.most)
})

// a run of a share does not try most of the table
test.runIf(share === '1')('every field of the table is above the limit', () => {
  expect(Object.keys(stillOpen).filter((entry) => !needed.has(entry))).toEqual([])
  expect(neededAsOneMap).toEqual(ONE_MAP)
})
