/** All SQL of a shard, as a vocabulary: named statements with typed parameters and rows. */
import type { StoredText } from '../src/storage/shards/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { KeptTexts } from './kept-texts.ts'
import { MANY } from './relations.ts'

export const ADDED = 0
export const MODIFIED = 1
export const DELETED = 2
export type ChangeType = typeof ADDED | typeof MODIFIED | typeof DELETED

/** Keys from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

export type VersionRow = {
  rv: Revision
  k: string
  t: ChangeType
  crv: Revision
  prv: Revision | null
  at: number
  l: string
  v: string
}

/** A value of a list. A type alias, because rows of SQLite have any names. */
export type ValueRow = { readonly rv: Revision; readonly k: string; readonly v: string }

/** A change, with the selectable values before it. */
export type ChangeRow = Omit<VersionRow, 'crv'> & { was: string | null }

/** A change whose value is null unless it is the newest of its key. */
export type NewestChange = Pick<VersionRow, 'rv' | 'k' | 't'> & { v: string | null }

/** A change in a page whose texts are too large for it. */
type LargeRow = Pick<VersionRow, 'rv'> & { v: null }

export type CurrentRow = {
  k: string
  rv: Revision
  l: string
}

/** A row among many. `l` is null where it is longer than SMALL: `selectableOf` reads it alone. */
export type KeyRow = Omit<CurrentRow, 'l'> & { l: string | null }

/** `clean`: the log has no unreadable version up to this revision; `compacted`: when the compactor reached it. */
/** `told`: 1 where the control shard has a row for this one. `place`: 1 + the index of the place that it has there, or 0. */
/** `restore`: which restore has the shard. `restored`: when the last one left it, in milliseconds since 1970. */
export type Meta =
  | 'floor'
  | 'clean'
  | 'watchFloor'
  | 'last'
  | 'constructed'
  | 'compacted'
  | 'sealed'
  | 'told'
  | 'place'
  | 'restore'
  | 'restored'

/** `at`: the revision of the change. `k` is null where the replaced version is not wanted. `l` is as in KeyRow. */
export type ReplacedRow = {
  at: Revision
  k: string | null
  rv: Revision | null
  l: string | null
}

/** A row can match only if its `l` contains at least one text of each group. Long ones are not searched. */
export type Needles = readonly (readonly string[])[]

/** The rows that a selection reads. With a relation (relations.ts), only rows that have it. */
export interface Narrowed {
  readonly needles: Needles
  readonly relation?: string | undefined
}

/** Reads the state of the shard in this turn. */
export interface StateStatements {
  /** The first rows of a range, in key order. */
  rows(range: KeyRange, narrowed: Narrowed, limit: number): readonly KeyRow[]
  /** Revisions of the first keys of a range, and the last of these keys. */
  revisions(range: KeyRange, limit: number): { found: readonly Revision[]; last: string | null }
  count(range: KeyRange): number
}

/** Changes that are read at once where a loop may leave before their end. */
const PAGE = 64
/**
 * Octets of the texts of a change that is read with its page, which then has at most 512 KiB. A larger change has a
 * statement of its own.
 */
const SMALL = 8 * 1024

export type Statements = ReturnType<typeof statements>

/** @param count receives the rows that a statement read and wrote, when it is done */
export function statements(sql: SqlStorage, count: (rowsRead: number, rowsWritten: number) => void) {
  /**
   * SQLite cannot begin its log anew while a statement has rows left, and a cursor cannot be closed: a loop that leaves
   * these rows would hold the log until V8 collects the cursor. So every statement is read to its end.
   *
   * SQLite's planner looks at the value of `LIMIT ?`, so SQLite compiles such a statement again for each call. It does not
   * for `LIMIT ? + 0`.
   */
  function all<Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): Row[] {
    const cursor = sql.exec<Row>(query, ...values)
    const found = cursor.toArray()
    count(cursor.rowsRead, 0)
    return found
  }
  /** Changes in their order, a page at a time, so that a loop may leave them. @param read the next so many after a revision */
  function* paged<Row extends { rv: Revision }>(
    after: Revision,
    read: (after: Revision, limit: number) => readonly Row[],
  ): Generator<Row> {
    for (let page: readonly Row[], from = after; ; from = page.at(-1)!.rv) {
      page = read(from, PAGE)
      yield* page
      if (page.length < PAGE) return
    }
  }
  /** Finished when `exec` returns, because the statement finds no rows. */
  function run(query: string, ...values: SqlStorageValue[]): void {
    const { rowsRead, rowsWritten } = sql.exec(query, ...values)
    count(rowsRead, rowsWritten)
  }
  /** Texts that `liveText` read last. `cur` decides which version is current, and a version never changes. */
  const texts = new KeptTexts()
  /** Writes a row in `cur`, and drops its text from the cache. */
  const write = (k: string, query: string, ...values: SqlStorageValue[]): void => {
    texts.delete(k)
    run(query, ...values)
  }
  const first = <Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]) =>
    all<Row>(query, ...values)[0]
  const number = (query: string, ...values: SqlStorageValue[]) => first<{ n: number | null }>(query, ...values)?.n ?? 0

  const relate = (k: string, relations: readonly string[]): void => {
    for (const r of relations) run('INSERT OR IGNORE INTO related (r, k) VALUES (?, ?)', r, k)
  }
  const unrelate = (k: string, relations: readonly string[]): void => {
    for (const r of relations) run('DELETE FROM related WHERE r = ? AND k = ?', r, k)
  }
  const related = ({ from, to }: KeyRange, relation: string, limit: number): KeyRow[] =>
    all<KeyRow>(
      `SELECT cur.k, cur.rv, ${small('cur.l')} AS l FROM (
         SELECT k FROM related WHERE r = ?1 AND k >= ?3 AND k < ?4
         UNION
         SELECT k FROM related WHERE r = ?2 AND k >= ?3 AND k < ?4
         ORDER BY k LIMIT ?5 + 0
       ) AS found CROSS JOIN cur ON cur.k = found.k ORDER BY cur.k`,
      relation,
      MANY,
      from,
      to,
      limit,
    )

  const now: StateStatements = {
    rows: (range, { needles, relation }, limit) => {
      if (relation !== undefined) return related(range, relation, limit)
      return all<KeyRow>(
        `SELECT k, rv, ${small('l')} AS l FROM cur WHERE k >= ?1 AND k < ?2${having('l', needles, 4)} ORDER BY k LIMIT ?3 + 0`,
        range.from,
        range.to,
        limit,
        ...needles.flat(),
      )
    },
    revisions: ({ from, to }, limit) =>
      together(
        first<Together>(
          `${TOGETHER} (SELECT k, rv FROM cur WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT ?3 + 0)`,
          from,
          to,
          limit,
        ),
      ),
    count: ({ from, to }) => number('SELECT COUNT(*) AS n FROM cur WHERE k >= ? AND k < ?', from, to),
  }

  return {
    liveValue: (k: string) =>
      first<{ rv: Revision; v: string }>(
        'SELECT rev.rv, rev.v FROM cur CROSS JOIN rev ON rev.rv = cur.rv WHERE cur.k = ?',
        k,
      ),

    /** Like `live`, but returns a StoredText. Not for use within a transaction, whose reads may be undone. */
    liveText(k: string): StoredText | undefined {
      const known = texts.get(k)
      if (known !== undefined) return known
      const found = first<{ t: StoredText }>(
        'SELECT rev.rv || char(10) || rev.v AS t FROM cur CROSS JOIN rev ON rev.rv = cur.rv WHERE cur.k = ?',
        k,
      )?.t
      if (found !== undefined) texts.keep(k, found)
      return found
    },

    /** Empties the cache after a failed transaction. */
    forgetTexts: () => texts.forget(),

    /** Without the value, because writes compare revisions. */
    live: (k: string) =>
      first<{ rv: Revision; l: string; crv: Revision; prv: Revision | null }>(
        'SELECT cur.rv, cur.l, rev.crv, rev.prv FROM cur CROSS JOIN rev ON rev.rv = cur.rv WHERE cur.k = ?',
        k,
      ),

    version: (rv: Revision) => first<VersionRow>('SELECT rv, k, t, crv, prv, at, l, v FROM rev WHERE rv = ?', rv),

    insertVersion: ({ rv, k, t, crv, prv, at, l, v }: VersionRow) =>
      run(
        'INSERT INTO rev (rv, k, t, crv, prv, at, l, v) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        rv,
        k,
        t,
        crv,
        prv,
        at,
        l,
        v,
      ),
    insertCurrent({ k, rv, l }: CurrentRow, relations: readonly string[]): void {
      write(k, 'INSERT INTO cur (k, rv, l) VALUES (?, ?, ?)', k, rv, l)
      relate(k, relations)
    },
    /** `gone` and `added` are the relations that change; the others stay. */
    updateCurrent({ k, rv, l }: CurrentRow, gone: readonly string[], added: readonly string[]): void {
      write(k, 'UPDATE cur SET rv = ?, l = ? WHERE k = ?', rv, l, k)
      unrelate(k, gone)
      relate(k, added)
    },
    clear: () => {
      texts.forget()
      run('DELETE FROM cur')
      run('DELETE FROM related')
      run('DELETE FROM rev')
      run('DELETE FROM outbox')
    },
    keys: ({ from, to }: KeyRange) =>
      all<{ k: string }>('SELECT k FROM cur WHERE k >= ? AND k < ? ORDER BY k', from, to).map(({ k }) => k),
    deleteCurrent(k: string, relations: readonly string[]): void {
      write(k, 'DELETE FROM cur WHERE k = ?', k)
      unrelate(k, relations)
    },

    newestRevision: () => number('SELECT MAX(rv) AS n FROM rev'),
    meta: (k: Meta) => number('SELECT v AS n FROM meta WHERE k = ?', k),
    setMeta: (k: Meta, v: number) =>
      run('INSERT INTO meta (k, v) VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v', k, v),

    /** Sets a hold, and deletes those whose time is over. `until` may be now, which ends the hold. */
    hold(holder: string, rv: Revision, until: number, now: number): void {
      run(
        'INSERT INTO held (holder, rv, until) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rv = excluded.rv, until = excluded.until',
        holder,
        rv,
        until,
      )
      run('DELETE FROM held WHERE until <= ?', now)
    },
    /** The oldest held revision; 0 where there is none. */
    held: (now: number) => number('SELECT MIN(rv) AS n FROM held WHERE until > ?', now),

    isHeld: (rv: Revision, now: number) =>
      first('SELECT 1 FROM held WHERE rv = ? AND until > ?', rv, now) !== undefined,

    /** The name that was stored first. */
    name: () => first<{ name: string }>('SELECT name FROM name')?.name,
    setName: (name: string) => run('INSERT INTO name (name) VALUES (?)', name),

    now,
    /**
     * For the first `limit` changes after a revision, in their order, the version that each replaced. It is null
     * unless it existed at `revision` and is in the range. For later changes of a key the replaced version is newer
     * than `revision`.
     */
    replacedSince: (after: Revision, limit: number, revision: Revision, { from, to }: KeyRange) =>
      all<ReplacedRow>(
        `SELECT change.rv AS at, was.k, was.rv, ${small('was.l')} AS l
         FROM (SELECT rv, prv FROM rev WHERE rv > ?1 ORDER BY rv LIMIT ?2 + 0) AS change
         LEFT JOIN rev AS was ON was.rv = change.prv AND change.prv <= ?3 AND was.k >= ?4 AND was.k < ?5
         ORDER BY change.rv`,
        after,
        limit,
        revision,
        from,
        to,
      ),
    currentKeys: ({ from, to }: KeyRange, limit: number) =>
      all<KeyRow>(
        `SELECT k, rv, ${small('l')} AS l FROM cur WHERE k >= ? AND k < ? ORDER BY k LIMIT ? + 0`,
        from,
        to,
        limit,
      ),
    /** Undefined where the version was compacted. */
    selectableOf: (rv: Revision) => first<{ l: string }>('SELECT l FROM rev WHERE rv = ?', rv)?.l,
    /** The number of keys in a range that were not written since a revision. */
    countUnchanged: ({ from, to }: KeyRange, rv: Revision) =>
      number('SELECT COUNT(*) AS n FROM cur WHERE k >= ? AND k < ? AND rv <= ?', from, to, rv),

    /** The deletion of the version at `prv`. Its key may exist again. */
    deletionOf: (prv: Revision, k: string) =>
      first<{ rv: Revision }>(`SELECT rv FROM rev WHERE rv > ? AND prv = ? AND k = ? AND t = ${DELETED}`, prv, prv, k),

    /**
     * The first values of the given revisions, in their order (CROSS JOIN makes SQLite follow the array), until they have
     * `most` octets together. A look at the sizes reads no values. SQLite cannot begin its log anew while a statement has
     * rows left, so no loop may leave these rows.
     * @throws Error where one of the revisions is gone
     */
    values(revisions: readonly Revision[], most: number): ValueRow[] {
      const from = 'FROM json_each(?) AS wanted CROSS JOIN rev ON rev.rv = wanted.value'
      const sizes = all<{ rv: Revision; size: number }>(
        `SELECT rev.rv, octet_length(rev.v) AS size ${from}`,
        JSON.stringify(revisions),
      )
      const gone = revisions.find((rv, index) => sizes[index]?.rv !== rv)
      // compaction keeps revisions for the retention only; a slower reader gets an error and not a list with holes
      if (gone !== undefined) throw new Error(`versions of a list at ${gone} were compacted while it was read`)
      let length = 0
      const last = sizes.findIndex(({ size }) => (length += size) >= most)
      const wanted = last < 0 ? revisions : revisions.slice(0, last + 1)
      return all<ValueRow>(`SELECT rev.rv, rev.k, rev.v ${from}`, JSON.stringify(wanted))
    },

    /** Changes in a range of keys after a revision, in order of revision. */
    *changes(after: Revision, { from, to }: KeyRange): Generator<ChangeRow> {
      const columns = 'rev.rv, rev.k, rev.t, rev.prv, rev.at'
      const joined = 'FROM rev LEFT JOIN rev AS was ON was.rv = rev.prv'
      const small = `octet_length(rev.v) + octet_length(rev.l) + coalesce(octet_length(was.l), 0) <= ${SMALL}`
      const page = (begin: Revision, limit: number) =>
        all<ChangeRow | LargeRow>(
          `SELECT ${columns}, iif(${small}, rev.l, NULL) AS l, iif(${small}, rev.v, NULL) AS v,
             iif(${small}, was.l, NULL) AS was
           ${joined} WHERE rev.rv > ? AND rev.k >= ? AND rev.k < ? ORDER BY rev.rv LIMIT ? + 0`,
          begin,
          from,
          to,
          limit,
        )
      const large = (rv: Revision) =>
        first<ChangeRow>(`SELECT ${columns}, rev.l, rev.v, was.l AS was ${joined} WHERE rev.rv = ?`, rv)!
      for (const row of paged(after, page)) yield row.v === null ? large(row.rv) : row
    },

    /** The changes after a revision. `v` is null unless the change is its key's newest. A deleted key may have several. */
    *newestChanges(after: Revision): Generator<NewestChange> {
      const page = (begin: Revision, limit: number) =>
        all<NewestChange & { isLarge: 0 | 1 }>(
          `SELECT rev.rv, rev.k, rev.t, cur.rv IS rev.rv AND octet_length(rev.v) > ${SMALL} AS isLarge,
             CASE WHEN cur.rv = rev.rv THEN iif(octet_length(rev.v) > ${SMALL}, NULL, rev.v)
               WHEN rev.t = ${DELETED} AND cur.k IS NULL THEN '' END AS v
           FROM rev LEFT JOIN cur ON cur.k = rev.k WHERE rev.rv > ? ORDER BY rev.rv LIMIT ? + 0`,
          begin,
          limit,
        )
      const large = (rv: Revision) => first<{ v: string }>('SELECT v FROM rev WHERE rv = ?', rv)!
      for (const row of paged(after, page)) yield row.isLarge === 1 ? { ...row, ...large(row.rv) } : row
    },

    /**
     * Changes between two revisions. Once the floor is there, the version that each replaced may be dropped, and
     * deletions themselves too. `size`: bytes of the dropped values; counting them reads none of them.
     */
    changesToDrop: (after: Revision, upTo: Revision) =>
      paged(after, (from, limit) =>
        all<{ rv: Revision; t: ChangeType; prv: Revision | null; size: number }>(
          `SELECT rev.rv, rev.t, rev.prv,
             coalesce(octet_length(was.v), 0) + iif(rev.t = ${DELETED}, octet_length(rev.v), 0) AS size
           FROM rev LEFT JOIN rev AS was ON was.rv = rev.prv WHERE rev.rv > ? AND rev.rv <= ?
           ORDER BY rev.rv LIMIT ? + 0`,
          from,
          upTo,
          limit,
        ),
      ),
    deleteVersions: (revisions: readonly Revision[]) =>
      run('DELETE FROM rev WHERE rv IN (SELECT value FROM json_each(?))', JSON.stringify(revisions)),
    /**
     * The first change after a revision that replaced a version. If there is none among the first `limit` changes,
     * the last one of them, where more follow.
     */
    firstSuperseding: (after: Revision, limit: number): Revision | undefined => {
      let seen = 0
      const changes = paged(after, (from, most) =>
        all<{ rv: Revision; t: ChangeType }>('SELECT rv, t FROM rev WHERE rv > ? ORDER BY rv LIMIT ? + 0', from, most),
      )
      for (const { rv, t } of changes) if (t > ADDED || ++seen === limit) return rv
      return undefined
    },
    /** The newest revision that is followed by `others` more; 0 where there are fewer. */
    newestBut: (others: number) => number('SELECT rv AS n FROM rev ORDER BY rv DESC LIMIT 1 OFFSET ?', others),
    oldestRevision: () => number('SELECT MIN(rv) AS n FROM rev'),
    /** Existing objects whose last write is between two revisions, the oldest first. */
    current: (after: Revision, upTo: Revision, limit: number) =>
      all<{ rv: Revision; k: string }>(
        `SELECT rev.rv, rev.k FROM rev CROSS JOIN cur ON cur.k = rev.k
         WHERE rev.rv > ? AND rev.rv <= ? AND cur.rv = rev.rv ORDER BY rev.rv LIMIT ? + 0`,
        after,
        upTo,
        limit,
      ),

    appendOutbox: (k: string, topic: string, payload: string) =>
      run('INSERT INTO outbox (k, topic, payload) VALUES (?, ?, ?)', k, topic, payload),
    oldestOutbox: (limit: number, after = 0) =>
      all<{ seq: number; k: string; topic: string; payload: string }>(
        'SELECT seq, k, topic, payload FROM outbox WHERE seq > ? ORDER BY seq LIMIT ? + 0',
        after,
        limit,
      ),
    deleteOutbox: (upTo: number) => run('DELETE FROM outbox WHERE seq <= ?', upTo),

    isOccupied: ({ from, to }: KeyRange) =>
      first<{ k: string }>('SELECT k FROM cur WHERE k >= ? AND k < ? LIMIT 1', from, to) !== undefined,
    isEmpty: () => first<{ k: string }>('SELECT k FROM cur LIMIT 1') === undefined,
    /** Counts at most `limit` rows of a table after a key. `last` is the last key of these. */
    countAfter: (table: CountedTable, after: SqlStorageValue, limit: number) => {
      const key = KEYS[table]
      return first<{ count: number; last: SqlStorageValue }>(
        `SELECT COUNT(*) AS count, MAX(${key}) AS last FROM (SELECT ${key} FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ? + 0)`,
        after,
        limit,
      )!
    },
  }
}

/** The primary keys of the tables whose rows are counted. */
const KEYS = { cur: 'k', rev: 'rv', outbox: 'seq' } as const
export type CountedTable = keyof typeof KEYS

/** Revisions as one text. As rows they would cost ten times as much. */
type Together = { rvs: string; last: string | null }
const TOGETHER = 'SELECT json_group_array(rv) AS rvs, MAX(k) AS last FROM'

function together(row: Together | undefined): { found: readonly Revision[]; last: string | null } {
  // json_group_array of an integer column makes an array of numbers
  return { found: JSON.parse(row!.rvs) as Revision[], last: row!.last }
}

/** SQLite finds the length of a text without reading it. */
const small = (column: string): string => `iif(octet_length(${column}) <= ${SMALL}, ${column}, NULL)`

/** @param parameter number of the first needle's parameter */
function having(column: string, needles: Needles, parameter: number): string {
  let next = parameter
  const long = `octet_length(${column}) > ${SMALL}`
  return needles
    .map((group) => ` AND (${[long, ...group.map(() => `instr(${column}, ?${next++})`)].join(' OR ')})`)
    .join('')
}
