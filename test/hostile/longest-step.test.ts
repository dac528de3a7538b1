// How much a request does between two turns of others, for each format of a body, each operation and each family of large
// shapes: by how much that grows for each item that a body has more. What is done in parts grows by next to nothing; of
// what is done at once longest-steps.json tells how much, and a pass over a whole body that somebody adds is more than
// that. KEDGE_MEASURED=file writes what was measured there, for who has made a step shorter.
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer, Step } from './longest-counted-step.ts'
import longestSteps from './longest-steps.json' with { type: 'json' }
import { shapes } from './large-shapes.ts'
import { casesOf } from './large-operations.ts'

/** Functions and turns of loops for each item, by shape and operation. */
const known: Readonly<Record<string, Readonly<Record<string, number>>>> = longestSteps
const measured: Record<string, Record<string, number>> = {}
/** More of it than is known. */
const TOLERANCE = 1.3
const UNITS = 3
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

describe.each(shapes)('$what', (shape) => {
  test.each(casesOf(shape))('$what', { timeout: 120_000 }, async ({ what, calls }) => {
    const steps: Step[] = []
    // what is made on first use is no part of it
    for (const n of [FEW, FEW, MANY]) {
      const [last, ...before] = calls(n, `large-${++names}`).reverse()
      for (const call of before.reverse()) expect(await server.send(call)).toMatchObject({ status: 201 })
      steps.push(await server.longestStep(last!))
    }
    const [, few, many] = steps as [Step, Step, Step] // one for each
    // some kinds refuse to be changed like this, after all of the work; raw data cannot be merged by its type (500)
    const isRead = /^(get|list|watch|table)/.test(what)
    expect(many.status, many.text.slice(0, 300)).toBeOneOf(isRead ? [200] : [200, 201, 403, 409, 422, 500])
    expect(many.lost, 'made anew in each part').toEqual([])
    const perItem = (many.work - few.work) / (MANY - FEW)
    ;(measured[shape.what] ??= {})[what] = Math.max(0, Math.round(perItem * 10) / 10)
    const most = (known[shape.what]?.[what] ?? 0) * TOLERANCE + UNITS
    expect(perItem, `for each item, in a step that came by\n${many.seen}`).toBeLessThan(most)
  })
})
