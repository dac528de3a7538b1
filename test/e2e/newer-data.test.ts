// A newer release has changed the schema of the databases, and an older one is started on them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startKedge, startWithDefaults } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-newer-'))
  const server = await startKedge(['--port', '0', '--data-dir', directory])
  const client = new ApiClient(server.kubeconfig)
  expect((await client.send('POST', CONFIG_MAPS, { metadata: { name: 'kept' } })).status).toBe(201)
  client.close()
  await server.stop()
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Runs a statement in the database of each shard. @returns the number of shards */
function inShards(statement: string, holds = ''): number {
  const folder = join(directory, 'objects', 'kedge-ResourceShard')
  const files = readdirSync(folder).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file))
  const chosen = files.filter((file) => {
    const database = new DatabaseSync(join(folder, file))
    const { n } = database.prepare('SELECT COUNT(*) AS n FROM rev WHERE v LIKE ?').get(`%${holds}%`) as { n: number }
    if (n > 0 || holds === '') database.exec(statement)
    database.close()
    return n > 0
  })
  return chosen.length
}
const NEWER = "INSERT INTO migration VALUES ('9999-later')"
const AS_BEFORE = "DELETE FROM migration WHERE id = '9999-later'"

describe('a data directory of a newer release', () => {
  test.each([
    ['with controllers and nodes', []],
    ['alone', ['--workloads', 'off']],
    ['with no anonymous requests', ['--workloads', 'off', '--anonymous-auth', 'false']],
  ])('is refused by an API server %s, and works again with that release', async (_what, flags) => {
    inShards(NEWER)
    await expect(startWithDefaults(['--port', '0', '--data-dir', directory, ...flags])).rejects.toThrow(
      `kedge: The data directory ${directory} was migrated by a newer version of kedge, and this one cannot read it. Start that version, or choose another directory with --data-dir.`,
    )
    inShards(AS_BEFORE)
    const server = await startKedge(['--port', '0', '--data-dir', directory])
    const client = new ApiClient(server.kubeconfig)
    expect((await client.send('GET', `${CONFIG_MAPS}/kept`)).status).toBe(200)
    client.close()
    await server.stop()
  })

  test('says so in answers, where only some of its shards were opened by it', async () => {
    expect(inShards(NEWER, '"name":"kept"')).toBe(1)
    const server = await startKedge(['--port', '0', '--data-dir', directory])
    const client = new ApiClient(server.kubeconfig)
    for (const method of ['GET', 'POST'])
      expect(
        await client.send(method, CONFIG_MAPS, method === 'GET' ? undefined : { metadata: { name: 'new' } }),
      ).toMatchObject({
        status: 500,
        body: {
          reason: 'InternalError',
          message: expect.stringContaining('was migrated by a newer version of this server') as string,
        },
      })
    expect((await client.send('GET', '/api/v1/secrets')).status).toBe(200)
    client.close()
    await server.stop()
    inShards(AS_BEFORE, '"name":"kept"')
  })
})
