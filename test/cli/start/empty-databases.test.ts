// Shards whose types are gone leave empty databases on the disk. A start removes them, and no other.
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { databasesIn } from '../../../src/cli/start/engine-run.ts'

let objects = ''

beforeEach(() => {
  objects = mkdtempSync(join(tmpdir(), 'kedge-databases-'))
})
afterEach(() => rmSync(objects, { recursive: true }))

const idOf = (digit: number): string => String(digit).repeat(64)
const fileOf = (digit: number): string => join(objects, `${idOf(digit)}.sqlite`)

function database(digit: number, ...statements: string[]): DatabaseSync {
  const opened = new DatabaseSync(fileOf(digit))
  for (const statement of ['PRAGMA journal_mode = WAL', ...statements]) opened.exec(statement)
  return opened
}

it('an empty database is removed', () => {
  database(1, 'CREATE TABLE meta (k)', 'DROP TABLE meta', 'VACUUM').close()
  expect(databasesIn(objects)).toEqual([])
  expect(readdirSync(objects)).toEqual([])
})

it.each([
  ['without rows', ['CREATE TABLE meta (k)']],
  ['with rows', ['CREATE TABLE meta (k)', "INSERT INTO meta VALUES ('a')"]],
])('one %s stays', (_, statements) => {
  database(2, ...statements).close()
  expect(databasesIn(objects)).toEqual([idOf(2)])
  expect(existsSync(fileOf(2))).toBe(true)
})

it('one whose tables are in its log alone stays, as after a crash', () => {
  const opened = database(3, 'CREATE TABLE meta (k)', "INSERT INTO meta VALUES ('a')")
  expect(databasesIn(objects)).toEqual([idOf(3)])
  expect(opened.prepare('SELECT k FROM meta').all()).toEqual([{ k: 'a' }])
  opened.close()
})

it.each([
  ['cut off after a page', 4096],
  ['cut off within a page', 1000],
  ['cut off whole', 0],
])('one that is %s is damage, and stays', (_, size) => {
  database(4, 'CREATE TABLE meta (k)', "INSERT INTO meta VALUES ('a')").close()
  truncateSync(fileOf(4), size)
  expect(databasesIn(objects)).toEqual([idOf(4)])
  expect(existsSync(fileOf(4))).toBe(true)
})

it('a page of something else stays', () => {
  writeFileSync(fileOf(5), Buffer.alloc(4096))
  expect(databasesIn(objects)).toEqual([idOf(5)])
})

it('the databases of the engine itself stay', () => {
  const opened = new DatabaseSync(join(objects, 'metadata.sqlite'))
  opened.close()
  expect(databasesIn(objects)).toEqual([])
  expect(readdirSync(objects)).toEqual(['metadata.sqlite'])
})
