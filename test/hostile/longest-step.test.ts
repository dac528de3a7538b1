// Measures how much the longest step of a request grows for each item of its body, for each body format, operation and
// family of large shapes. Work in parts grows by almost nothing. longest-steps.json has the growth of the other steps;
// a new pass over a whole body exceeds it. KEDGE_MEASURED=FILE writes the measurements to the file.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer, Step } from './longest-counted-step.ts'
import longestSteps from './longest-steps.json' with { type: 'json' }
import { shapes } from './large-shapes.ts'
import { casesOf } from './large-operations.ts'

/** Counted work for each item, by shape and operation. */
const known: Readonly<Record<string, Readonly<Record<string, number>>>> = longestSteps
const measured: Record<string, Record<string, number>> = {}
/** The factor by which work may exceed the table. */
const TOLERANCE = 1.3
const UNITS = 3
/** `npm test` runs every second case, `npm run test:steps` all. */
const SHARE = Number(process.env.KEDGE_STEPS_SHARE ?? 2)
const FEW = 150
const MANY = 600

let server: CountedServer

beforeAll(async () => {
  server = await countedServer()
}, 120_000)
afterAll(() => {
  server.restore()
  const { KEDGE_MEASURED: file = '' } = process.env
  if (file !== '') writeFileSync(file, JSON.stringify(measured, null, 2))
})

let names = 0

describe.each(shapes.map((shape, at) => ({ what: shape.what, shape, at })))('$what', ({ shape, at }) => {
  const cases = casesOf(shape)
  const tried = cases.filter((_, index) => cases.length < SHARE || (at + index) % SHARE === 0)
  test.each(tried)('$what', { timeout: 120_000 }, async ({ what, calls }) => {
    const steps: Step[] = []
    // the first request fills caches and does not count
    for (const n of [FEW, FEW, MANY]) {
      const [last, ...before] = calls(n, `large-${++names}`).reverse()
      for (const call of before.reverse()) expect(await server.send(call)).toMatchObject({ status: 201 })
      steps.push(await server.longestStep(last!))
    }
    const [, few, many] = steps as [Step, Step, Step] // one for each size
    // some kinds refuse such a change after all of the work; strategic merge of raw data is refused with 500
    const isRead = /^(get|list|watch|table)/.test(what)
    expect(many.status, many.text.slice(0, 300)).toBeOneOf(isRead ? [200] : [200, 201, 403, 409, 422, 500])
    expect(many.lost, 'made anew in each part').toEqual([])
    const perItem = (many.work - few.work) / (MANY - FEW)
    ;(measured[shape.what] ??= {})[what] = Math.max(0, Math.round(perItem * 10) / 10)
    const most = (known[shape.what]?.[what] ?? 0) * TOLERANCE + UNITS
    expect(perItem, `for each item, in a step that came by\n${many.seen}`).toBeLessThan(most)
  })
})
