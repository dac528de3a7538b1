// Each list and each map of each built-in kind: how much a body that fills it makes the server do between two turns of
// others, by how much that grows for each byte more. Of every few one is tried, all by `npm run test:steps`.
// KEDGE_MEASURED=file writes what was measured there.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'
import { listFields, mapFields } from './list-fields.ts'
import type { ListField } from './list-fields.ts'

let server: CountedServer
const measured: Record<string, string> = {}

beforeAll(async () => {
  server = await countedServer()
}, 120_000)
afterAll(() => {
  server.restore()
  const { KEDGE_MEASURED: file = '' } = process.env
  if (file !== '') writeFileSync(file, JSON.stringify(measured, null, 2))
})

/** Calls of a function that take fifty milliseconds, of thirty nanoseconds each. */
const MOST_WORK = 1_600_000
/** A refused body is up to 3 MB; of what is stored half is in managedFields. */
const MOST_BYTES = { refused: 3_000_000, stored: 750_000 }

const FEW = 100
const MANY = 300
/** Some lists have a limit, above which nothing is looked at; what they cost there is not told by what they cost below. */
const ABOVE_LIMITS = 600

async function growth({ url, object, path }: ListField, few: number, many: number) {
  const steps = []
  // what is made on first use is no part of it
  for (const n of [few, few, many]) {
    const body = JSON.stringify(object(n))
    steps.push({ ...(await server.longestStep({ method: 'POST', path: url, body })), bytes: body.length })
  }
  const [, a, b] = steps as [unknown, (typeof steps)[0], (typeof steps)[0]] // one for each
  const perByte = (b.work - a.work) / (b.bytes - a.bytes)
  const { status, text, seen } = b
  const most = MOST_WORK / (status === 201 ? MOST_BYTES.stored : MOST_BYTES.refused)
  measured[path] = `${perByte.toFixed(3)} ${status} ${seen}`
  return { perByte, most, status, text, seen }
}

const SHARE = Number(process.env['KEDGE_STEPS_SHARE'] ?? 4)
const fields = [...listFields(), ...mapFields()].filter((_, index) => index % SHARE === 0)

test.each(fields)('$path', { timeout: 60_000 }, async (field) => {
  let found = await growth(field, FEW, MANY)
  if (found.perByte > found.most) found = await growth(field, ABOVE_LIMITS, 2 * ABOVE_LIMITS)
  expect(found.status, found.text.slice(0, 300)).toBeOneOf([201, 400, 403, 404, 422])
  expect(found.perByte, `in a step that came by\n${found.seen}`).toBeLessThan(found.most)
})
