import { expect, it } from 'vitest'
import { rowCounts } from '../../durable-objects/row-counts.ts'
import type { CountedTable, Statements } from '../../durable-objects/statements.ts'

it.each([0, 1, 255, 256, 257, 5_000])(
  '%s rows are counted, and other calls have their turn between the parts',
  async (rows) => {
    const parts: { table: CountedTable; turn: number }[] = []
    let turn = 0
    let isOver = false
    const turns = (async () => {
      for (; !isOver; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
    })()
    const countAfter: Statements['countAfter'] = (table, after, limit) => {
      parts.push({ table, turn })
      const from = Number(after)
      const count = Math.min(limit, rows - from)
      return { count, last: from + count }
    }
    const counts = await rowCounts({ countAfter } as unknown as Statements) // all that is called of it
    isOver = true
    await turns
    expect(counts).toEqual({ keys: rows, versions: rows, outbox: rows })
    const versions = parts.filter(({ table }) => table === 'rev').map((part) => part.turn)
    expect(versions).toHaveLength(Math.floor(rows / 256) + 1)
    expect(new Set(versions).size).toBe(versions.length)
  },
)
