/** Counts the rows of a shard in turns. At once they would hold up all requests: a version is read from the disk. */
import { turnOfOthers } from '../src/base/slices.ts'
import type { CountedTable, Statements } from './statements.ts'

/** Rows of a turn. Counting them takes some milliseconds. */
const SLICE = 256

/** A write between two turns may be counted or not. */
export async function rowCounts(statements: Statements) {
  return {
    keys: await countOf(statements, 'cur', ''),
    versions: await countOf(statements, 'rev', 0),
    outbox: await countOf(statements, 'outbox', 0),
  }
}

async function countOf(statements: Statements, table: CountedTable, before: string | number): Promise<number> {
  let all = 0
  for (let after: SqlStorageValue = before; ; await turnOfOthers()) {
    const { count, last } = statements.countAfter(table, after, SLICE)
    all += count
    if (count < SLICE) return all
    after = last
  }
}
