import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Migration } from '../../migrations/index.ts'
import { migrate, migrations } from '../../migrations/index.ts'
import type { Recorder } from './recorder.ts'

const { RECORDER } = env as unknown as { RECORDER: DurableObjectNamespace<Recorder> }
/** An object without tables of its own. */
const inStorage = <R>(name: string, work: (storage: DurableObjectStorage) => R) =>
  runInDurableObject(RECORDER.getByName(name), (_, { storage }) => work(storage))

describe('migrations', () => {
  it('run once each, from every earlier state of the database', async () => {
    for (let stop = 0; stop <= migrations.length; stop++) {
      await inStorage(`migrations-${stop}`, (storage) => {
        migrate(storage, migrations.slice(0, stop))
        if (stop > 0)
          storage.sql.exec(
            `INSERT INTO rev (rv, k, t, crv, prv, at, l, v) VALUES (7, 'things/a', 0, 7, NULL, 6, '{}', '{"a":"7"}')`,
          )
        migrate(storage)
        migrate(storage)
        expect(storage.sql.exec('SELECT id FROM migration ORDER BY id').toArray()).toEqual(
          migrations.map(({ id }) => ({ id })),
        )
        expect(storage.sql.exec('SELECT COUNT(*) AS n FROM rev').one()).toEqual({ n: stop > 0 ? 1 : 0 })
      })
    }
  })

  it('are all or nothing', async () => {
    const broken: Migration[] = [
      { id: '1', sql: 'CREATE TABLE one (a)' },
      { id: '2', sql: 'CREATE TABLE two (a); NONSENSE' },
    ]
    await inStorage('migrations-broken', (storage) => {
      expect(() => migrate(storage, broken)).toThrow('syntax error')
      const tables = storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name IN ('one', 'two', 'migration')")
        .toArray()
      expect(tables).toEqual([])
    })
  })

  it('of a newer release stop an older release from starting', async () => {
    await inStorage('migrations-newer', (storage) => {
      migrate(storage, [...migrations, { id: '9999-later', sql: 'CREATE TABLE later (a)' }])
      expect(() => migrate(storage)).toThrow('newer version: 9999-later')
    })
  })

  it('have numbered ids in order', () => {
    const ids = migrations.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort())
    expect(ids.every((id, index) => id.startsWith(String(index + 1).padStart(4, '0')))).toBe(true)
  })
})
