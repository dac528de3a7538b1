import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { WatchedKindTable } from '../../durable-objects/watched-kinds.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env

/** Any object with a database will do. */
const within = (name: string, work: (sql: SqlStorage) => void) =>
  runInDurableObject(SHARDS.getByName(`watched/${name}`), (_, { storage }) => work(storage.sql))
const rowsOf = (sql: SqlStorage): number => sql.exec<{ n: number }>('SELECT count(*) AS n FROM watched').one().n

it('knows whose objects are watched until their definition is another one', () =>
  within('few', (sql) => {
    const table = new WatchedKindTable(sql)
    table.add('things.e.com', 'a')
    table.add('things.e.com', 'a')
    table.add('others.e.com', 'b')
    expect(table.has('things.e.com')).toBe(true)
    expect(table.has('more.e.com')).toBe(false)
    table.forgetOthers('things.e.com', 'a')
    expect(table.has('things.e.com')).toBe(true)
    table.forgetOthers('things.e.com', 'c')
    expect(table.has('things.e.com')).toBe(false)
    expect(rowsOf(sql)).toBe(1)
  }))

it('takes every definition for watched once there are more than it keeps', () =>
  within('many', (sql) => {
    const table = new WatchedKindTable(sql, 50)
    for (let n = 0; n < 500; n++) table.add(`things-${n}.e.com`, 'a')
    expect(rowsOf(sql)).toBeLessThanOrEqual(51)
    for (const name of ['things-0.e.com', 'things-499.e.com', 'never.e.com']) expect(table.has(name)).toBe(true)
    table.forgetOthers('things-499.e.com', '')
    expect(table.has('things-499.e.com')).toBe(true)
    expect(new WatchedKindTable(sql, 50).has('never.e.com')).toBe(true)
  }))

it('has room for new kinds after others were deleted', () =>
  within('again', (sql) => {
    const table = new WatchedKindTable(sql, 50)
    for (let n = 0; n < 500; n++) {
      table.add(`things-${n}.e.com`, 'a')
      table.forgetOthers(`things-${n}.e.com`, 'b')
    }
    expect(table.has('things-0.e.com')).toBe(false)
    expect(rowsOf(sql)).toBe(0)
  }))
