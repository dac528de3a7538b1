/** Implements the SQL storage of a Durable Object over node:sqlite in memory. */
import { DatabaseSync } from 'node:sqlite'
import type { StatementSync } from 'node:sqlite'

type Row = Record<string, SqlStorageValue>

/** Called for each row that a statement finds. SQLite does not report the rows that it reads internally. */
export type RowSeen = () => void

class Cursor {
  rowsRead = 0
  readonly rowsWritten = 0
  private readonly rows: Iterator<Row>

  constructor(
    rows: Iterator<Row>,
    private readonly seen: RowSeen,
  ) {
    this.rows = rows
  }

  next(): IteratorResult<Row> {
    const found = this.rows.next()
    if (found.done !== true) {
      this.rowsRead++
      this.seen()
    }
    return found
  }

  [Symbol.iterator](): this {
    return this
  }

  toArray(): Row[] {
    return [...this]
  }

  one(): Row {
    const rows = this.toArray()
    if (rows.length !== 1) throw new Error(`expected one row, found ${rows.length}`)
    return rows[0]!
  }
}

export class SqlInProcess {
  private readonly database = new DatabaseSync(':memory:')
  /** Bound: the texts of statements in the code. */
  private readonly prepared = new Map<string, StatementSync>()

  constructor(private readonly seen: RowSeen) {}

  exec(query: string, ...values: (string | number | null)[]): Cursor {
    if (values.length === 0 && query.includes(';')) {
      this.database.exec(query)
      return new Cursor([][Symbol.iterator](), this.seen)
    }
    const statement = this.statement(query)
    if (/^\s*(SELECT|WITH)\b/i.test(query))
      return new Cursor(statement.iterate(...values) as unknown as Iterator<Row>, this.seen) // SQLite's values
    statement.run(...values)
    return new Cursor([][Symbol.iterator](), this.seen)
  }

  /** A statement that is still being read cannot start again, so queries are prepared anew each time. */
  private statement(query: string): StatementSync {
    const known = this.prepared.get(query)
    if (known !== undefined) return known
    const statement = this.database.prepare(query)
    if (!/^\s*(SELECT|WITH)\b/i.test(query)) this.prepared.set(query, statement)
    return statement
  }

  get databaseSize(): number {
    return 0
  }

  transaction<Outcome>(work: () => Outcome): Outcome {
    this.database.exec('SAVEPOINT work')
    try {
      const outcome = work()
      this.database.exec('RELEASE work')
      return outcome
    } catch (error) {
      this.database.exec('ROLLBACK TO work; RELEASE work')
      throw error
    }
  }
}
