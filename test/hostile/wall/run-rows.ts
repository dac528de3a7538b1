// Runs a family of rows, each as a test.
import { describe, expect, test } from 'vitest'
import { answerOf } from './row.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

/** @param worldOf returns the world once the tests run */
export function runRows(family: string, rows: readonly Row[], worldOf: () => World): void {
  describe(family, () => {
    for (const row of rows)
      test(`${row.rule}: ${row.who} ${row.request.slice(0, 120)} → ${row.answer}`, async () => {
        const world = worldOf()
        const received = await world.run(row)
        const wanted = world.isKedge ? (row.own ?? row.answer) : row.answer
        expect(answerOf(received), received.text.slice(0, 400)).toBe(wanted)
        row.check?.(received)
      })
  })
}
