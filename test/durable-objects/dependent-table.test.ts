import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { DependentTable, MAX_KINDS } from '../../durable-objects/dependent-table.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env
const PODS = { group: '', resource: 'pods' }
const SECRETS = { group: '', resource: 'secrets' }

/** Any object with a database will do. */
const within = (name: string, work: (table: DependentTable, sql: SqlStorage) => void) =>
  runInDurableObject(SHARDS.getByName(`dependents/${name}`), (_, { storage }) => {
    work(new DependentTable(storage.sql), storage.sql)
  })

it('names the resources whose objects name owners of a kind', () =>
  within('few', (table) => {
    table.add(PODS, ['ReplicaSet.apps', 'Job.batch'])
    table.add(PODS, ['Job.batch'])
    table.add(SECRETS, ['Job.batch'])
    expect(table.of('ReplicaSet.apps')).toEqual([PODS])
    expect(table.of('Job.batch')).toEqual([PODS, SECRETS])
    expect(table.of('Node')).toEqual([])
  }))

it('forgets the rows of a type that was deleted, and no others', () =>
  within('gone', (table, sql) => {
    const THINGS = { group: 'example.com', resource: 'things' }
    table.add(PODS, ['Thing.example.com', 'Job.batch'])
    for (let n = 0; n < MAX_KINDS; n++) table.add(THINGS, [`Kind${n}`])
    table.add({ ...THINGS, group: 'other.example.com' }, ['Job.batch'])
    table.forget(THINGS)
    expect(table.of('Kind7')).toEqual([])
    expect(table.of('Job.batch')).toEqual([PODS, { ...THINGS, group: 'other.example.com' }])
    expect(sql.exec<{ rows: number }>('SELECT count(*) AS rows FROM dependents').one().rows).toBe(3)
    table.add(THINGS, ['Job.batch'])
    expect(table.of('Job.batch')).toHaveLength(3)
  }))

it('a resource whose objects name more kinds than there may be is looked at for owners of every kind', () =>
  within('many', (table, sql) => {
    table.add(PODS, ['ReplicaSet.apps'])
    for (let n = 0; n < 3_000; n++) table.add(PODS, [`MadeUp${n}.example.com`])
    table.add(SECRETS, ['Job.batch'])
    for (const kind of ['ReplicaSet.apps', 'MadeUp2999.example.com', 'Node']) expect(table.of(kind)).toEqual([PODS])
    expect(table.of('Job.batch')).toEqual([PODS, SECRETS])
    const { rows } = sql.exec<{ rows: number }>('SELECT count(*) AS rows FROM dependents').one()
    expect(rows).toBeLessThan(MAX_KINDS)
  }))
