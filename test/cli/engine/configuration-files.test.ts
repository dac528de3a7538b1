import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { configurationProblemAt } from '../../../src/cli/engine/configuration-files.ts'

const socket = join(mkdtempSync(join(tmpdir(), 'kedge-problem-')), 'engine.sock')
let [status, message] = [200, '']
const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify({ message })))
afterEach(() => void server.close())

test('only wrong settings keep the server from starting: a restore that was cut short has to be repeated', async () => {
  await once(server.listen(socket), 'listening')
  const problemOf = (code: number, text: string) => {
    ;[status, message] = [code, text]
    return configurationProblemAt(socket)
  }
  const wrong = 'the settings of this server are wrong: KEDGE_AUTHORIZATION_CONFIG: it has no authorizers'
  expect(await problemOf(503, wrong)).toBe(wrong)
  expect(await problemOf(200, '')).toBeUndefined()
  expect(await problemOf(503, 'the control plane is being restored')).toBeUndefined()
})
