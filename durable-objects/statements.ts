/** All SQL of a shard, as a vocabulary: named statements with typed parameters and rows. */
import { BoundedMap } from '../src/api/bounded-map.ts'
import type { StoredText } from '../src/storage/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { MANY } from './relations.ts'

export const ADDED = 0
export const MODIFIED = 1
export const DELETED = 2
export type ChangeType = typeof ADDED | typeof MODIFIED | typeof DELETED

/** Keys from `from` on (inclusive) and before `to`. */
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

/** A change, and the selectable values before it. */
export type ChangeRow = Omit<VersionRow, 'crv'> & { was: string | null }

export type CurrentRow = {
  k: string
  rv: Revision
  l: string
}

/** `clean`: the log has no unreadable version up to this revision; `compacted`: when the compactor reached it. */
/** `told`: 1 where the control shard has a row for this one. `place`: 1 + the index of the place that it has there, or 0. */
/** `restore`: which restore has the shard. */
export type Meta =
  'floor' | 'clean' | 'watchFloor' | 'last' | 'constructed' | 'compacted' | 'sealed' | 'told' | 'place' | 'restore'

/** `at`: the change; without a key: what it replaced is none that is asked for. */
export type ReplacedRow = {
  at: Revision
  k: string | null
  rv: Revision | null
  l: string | null
}

/** A row can only match if its `l` has at least one text of each group. */
export type Needles = readonly (readonly string[])[]

/** The rows that a selection looks at. With a relation (relations.ts) they are among the rows that have it. */
export interface Narrowed {
  readonly needles: Needles
  readonly relation?: string | undefined
}

/** The state of the shard as it is in this turn. */
export interface StateStatements {
  /** In key order. */
  rows(range: KeyRange, narrowed: Narrowed): Iterable<CurrentRow>
  /** Of the first keys of a range, and the last of these. */
  revisions(range: KeyRange, limit: number): { found: readonly Revision[]; last: string | null }
  count(range: KeyRange): number
}

/** Related keys that are read at once. */
const PAGE = 500

/** The cache of one shard, of which an isolate may have all: in characters, 7 MB. */
const KEPT_TEXTS = { entries: 64, size: 128 << 10 }

export type Statements = ReturnType<typeof statements>

/** @param count gets how many rows a statement read and wrote, when it is done */
export function statements(sql: SqlStorage, count: (rowsRead: number, rowsWritten: number) => void) {
  function* rows<Row extends Record<string, SqlStorageValue>>(
    query: string,
    ...values: SqlStorageValue[]
  ): Generator<Row> {
    const cursor = sql.exec<Row>(query, ...values)
    try {
      yield* cursor
    } finally {
      count(cursor.rowsRead, 0)
    }
  }
  function all<Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): Row[] {
    const cursor = sql.exec<Row>(query, ...values)
    const found = cursor.toArray()
    count(cursor.rowsRead, 0)
    return found
  }
  /** Done when `exec` returns, because it finds no rows. */
  function run(query: string, ...values: SqlStorageValue[]): void {
    const { rowsRead, rowsWritten } = sql.exec(query, ...values)
    count(rowsRead, rowsWritten)
  }
  /** What `liveText` read last. Only `cur` says which version is read, and a version never changes. */
  const texts = new BoundedMap<string, StoredText>(KEPT_TEXTS)
  /** Keys that `liveText` looked for in vain. */
  const wanted = new BoundedMap<string, true>({ entries: KEPT_TEXTS.entries })
  /** Of a row in `cur`. */
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
  /** A page at a time: a caller that takes the first few rows reads no more than one. */
  function* related({ from, to }: KeyRange, relation: string): Generator<CurrentRow> {
    for (let page: CurrentRow[], begin = from; ; begin = `${page.at(-1)!.k}\0`) {
      page = all<CurrentRow>(
        `SELECT cur.k, cur.rv, cur.l FROM (
           SELECT k FROM related WHERE r = ?1 AND k >= ?3 AND k < ?4
           UNION
           SELECT k FROM related WHERE r = ?2 AND k >= ?3 AND k < ?4
           ORDER BY k LIMIT ${PAGE}
         ) AS found CROSS JOIN cur ON cur.k = found.k ORDER BY cur.k`,
        relation,
        MANY,
        begin,
        to,
      )
      yield* page
      if (page.length < PAGE) return
    }
  }

  const now: StateStatements = {
    rows: (range, { needles, relation }) => {
      if (relation !== undefined) return related(range, relation)
      return rows<CurrentRow>(
        `SELECT k, rv, l FROM cur WHERE k >= ?1 AND k < ?2${having('l', needles, 3)} ORDER BY k`,
        range.from,
        range.to,
        ...needles.flat(),
      )
    },
    revisions: ({ from, to }, limit) =>
      together(
        first<Together>(
          `${TOGETHER} (SELECT k, rv FROM cur WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT ?3)`,
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

    /** The same as a StoredText. Not within a transaction, whose reads may be undone. */
    liveText(k: string): StoredText | undefined {
      const known = texts.get(k)
      if (known !== undefined) return known
      const found = first<{ t: StoredText }>(
        'SELECT rev.rv || char(10) || rev.v AS t FROM cur CROSS JOIN rev ON rev.rv = cur.rv WHERE cur.k = ?',
        k,
      )?.t
      // most objects are read once: to remember each of them costs more than it saves
      if (found !== undefined && wanted.has(k)) texts.set(k, found)
      wanted.set(k, true)
      return found
    },

    /** The cache is read again after a transaction that failed. */
    forgetTexts: () => texts.clear(),

    /** Without the value: writes compare revisions. */
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
    /** Relations that stay are in neither list. */
    updateCurrent({ k, rv, l }: CurrentRow, gone: readonly string[], added: readonly string[]): void {
      write(k, 'UPDATE cur SET rv = ?, l = ? WHERE k = ?', rv, l, k)
      unrelate(k, gone)
      relate(k, added)
    },
    clear: () => {
      texts.clear()
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

    /** Holds whose time is over go, its own too where that is now. */
    hold(holder: string, rv: Revision, until: number, now: number): void {
      run(
        'INSERT INTO held (holder, rv, until) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rv = excluded.rv, until = excluded.until',
        holder,
        rv,
        until,
      )
      run('DELETE FROM held WHERE until <= ?', now)
    },
    /** The first revision that somebody reads; 0 where nobody does. */
    held: (now: number) => number('SELECT MIN(rv) AS n FROM held WHERE until > ?', now),

    isHeld: (rv: Revision, now: number) =>
      first('SELECT 1 FROM held WHERE rv = ? AND until > ?', rv, now) !== undefined,

    /** The name that was first kept. */
    name: () => first<{ name: string }>('SELECT name FROM name')?.name,
    setName: (name: string) => run('INSERT INTO name (name) VALUES (?)', name),

    now,
    /**
     * Of so many changes after one, in their order, the state that each replaced, if that was there at a revision and in a
     * range of keys: of later changes of a key it is above.
     */
    replacedSince: (after: Revision, limit: number, revision: Revision, { from, to }: KeyRange) =>
      rows<ReplacedRow>(
        `SELECT change.rv AS at, was.k, was.rv, was.l
         FROM (SELECT rv, prv FROM rev WHERE rv > ?1 ORDER BY rv LIMIT ?2) AS change
         LEFT JOIN rev AS was ON was.rv = change.prv AND change.prv <= ?3 AND was.k >= ?4 AND was.k < ?5
         ORDER BY change.rv`,
        after,
        limit,
        revision,
        from,
        to,
      ),
    currentKeys: ({ from, to }: KeyRange, limit: number) =>
      all<CurrentRow>('SELECT k, rv, l FROM cur WHERE k >= ? AND k < ? ORDER BY k LIMIT ?', from, to, limit),
    /** Keys that were not written since a revision. */
    countUnchanged: ({ from, to }: KeyRange, rv: Revision) =>
      number('SELECT COUNT(*) AS n FROM cur WHERE k >= ? AND k < ? AND rv <= ?', from, to, rv),

    /** The deletion of the state at `prv`: its key may exist again. */
    deletionOf: (prv: Revision, k: string) =>
      first<{ rv: Revision }>(`SELECT rv FROM rev WHERE rv > ? AND prv = ? AND k = ? AND t = ${DELETED}`, prv, prv, k),

    /** Values in the order of the revisions given: CROSS JOIN makes SQLite go through them in the order of the array. */
    values: (revisions: readonly Revision[]) =>
      all<{ rv: Revision; k: string; v: string }>(
        'SELECT rev.rv, rev.k, rev.v FROM json_each(?) AS wanted CROSS JOIN rev ON rev.rv = wanted.value',
        JSON.stringify(revisions),
      ),

    /** Changes in a range of keys after a revision, in order of revision. */
    changes: (after: Revision, { from, to }: KeyRange) =>
      rows<ChangeRow>(
        `SELECT rev.rv, rev.k, rev.t, rev.prv, rev.at, rev.l, rev.v, was.l AS was
         FROM rev LEFT JOIN rev AS was ON was.rv = rev.prv
         WHERE rev.rv > ? AND rev.k >= ? AND rev.k < ? ORDER BY rev.rv`,
        after,
        from,
        to,
      ),

    /** The newest change of each key that changed after a revision. A deleted key may have several. */
    newestChanges: (after: Revision) =>
      rows<{ rv: Revision; k: string; t: ChangeType; v: string }>(
        `SELECT rev.rv, rev.k, rev.t, rev.v FROM rev LEFT JOIN cur ON cur.k = rev.k
         WHERE rev.rv > ? AND (cur.rv = rev.rv OR (rev.t = ${DELETED} AND cur.k IS NULL)) ORDER BY rev.rv`,
        after,
      ),

    /**
     * Changes between two revisions: what each replaced may go once the floor is there, a deletion itself too. `size`:
     * bytes of the values that go; counting those reads none of them.
     */
    changesToDrop: (after: Revision, upTo: Revision) =>
      rows<{ rv: Revision; t: ChangeType; prv: Revision | null; size: number }>(
        `SELECT rev.rv, rev.t, rev.prv,
           coalesce(octet_length(was.v), 0) + iif(rev.t = ${DELETED}, octet_length(rev.v), 0) AS size
         FROM rev LEFT JOIN rev AS was ON was.rv = rev.prv WHERE rev.rv > ? AND rev.rv <= ? ORDER BY rev.rv`,
        after,
        upTo,
      ),
    deleteVersions: (revisions: readonly Revision[]) =>
      run('DELETE FROM rev WHERE rv IN (SELECT value FROM json_each(?))', JSON.stringify(revisions)),
    /** The first of so many changes that replaced a version, or the last one checked when more follow. */
    firstSuperseding: (after: Revision, limit: number): Revision | undefined => {
      let seen = 0
      for (const { rv, t } of rows<{ rv: Revision; t: ChangeType }>(
        'SELECT rv, t FROM rev WHERE rv > ? ORDER BY rv LIMIT ?',
        after,
        limit,
      ))
        if (t > ADDED || ++seen === limit) return rv
      return undefined
    },
    /** The newest revision that so many others follow; 0 where there are fewer. */
    newestBut: (others: number) => number('SELECT rv AS n FROM rev ORDER BY rv DESC LIMIT 1 OFFSET ?', others),
    oldestRevision: () => number('SELECT MIN(rv) AS n FROM rev'),
    /** Objects that were last written between two revisions, the oldest first. */
    current: (after: Revision, upTo: Revision, limit: number) =>
      all<{ rv: Revision; k: string }>(
        `SELECT rev.rv, rev.k FROM rev CROSS JOIN cur ON cur.k = rev.k
         WHERE rev.rv > ? AND rev.rv <= ? AND cur.rv = rev.rv ORDER BY rev.rv LIMIT ?`,
        after,
        upTo,
        limit,
      ),

    appendOutbox: (k: string, topic: string, payload: string) =>
      run('INSERT INTO outbox (k, topic, payload) VALUES (?, ?, ?)', k, topic, payload),
    oldestOutbox: (limit: number, after = 0) =>
      all<{ seq: number; k: string; topic: string; payload: string }>(
        'SELECT seq, k, topic, payload FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?',
        after,
        limit,
      ),
    deleteOutbox: (upTo: number) => run('DELETE FROM outbox WHERE seq <= ?', upTo),

    isEmpty: () => first<{ k: string }>('SELECT k FROM cur LIMIT 1') === undefined,
    counts: () =>
      first<{ keys: number; versions: number; outbox: number }>(
        'SELECT (SELECT COUNT(*) FROM cur) AS keys, (SELECT COUNT(*) FROM rev) AS versions, (SELECT COUNT(*) FROM outbox) AS outbox',
      )!,
  }
}

/** Revisions as one text and not as rows, which cost ten times as much. */
type Together = { rvs: string; last: string | null }
const TOGETHER = 'SELECT json_group_array(rv) AS rvs, MAX(k) AS last FROM'

function together(row: Together | undefined): { found: readonly Revision[]; last: string | null } {
  // json_group_array of an integer column.
  return { found: JSON.parse(row!.rvs) as Revision[], last: row!.last }
}

/** @param parameter number of the first needle's parameter */
function having(column: string, needles: Needles, parameter: number): string {
  let next = parameter
  return needles.map((group) => ` AND (${group.map(() => `instr(${column}, ?${next++})`).join(' OR ')})`).join('')
}
