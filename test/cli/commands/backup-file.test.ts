// Where `kedge backup` writes, from a server that sends the parts of a backup.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backup } from '../../../src/cli/commands/backup.ts'
import { writeKubeconfig } from '../../../src/cli/data-directory/kubeconfig.ts'
import { openPki } from '../../../src/cli/data-directory/pki.ts'
import { LAUNCHER } from '../kedge-process.ts'

const PARTS = ['{"format":"kedge-backup/1","revision":1,"time":""}\n', '{"end":true,"objects":0}\n']
const WHOLE = PARTS.join('')

let keys: string
let send: (answer: ServerResponse) => void
let server: Parameters<typeof backup>[0]
const close: (() => void)[] = []
beforeAll(async () => {
  keys = mkdtempSync(join(tmpdir(), 'kedge-backup-keys-'))
  const pki = await openPki(join(keys, 'pki'), ['127.0.0.1'], new Date())
  const { certificate: cert, key } = pki.server
  const front = createServer({ cert, key }, (_request, answer) => send(answer))
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  close.push(
    () => front.closeAllConnections(),
    () => front.close(),
  )
  const url = `https://127.0.0.1:${(front.address() as AddressInfo).port}` // it listens on a port
  writeKubeconfig(join(keys, 'kubeconfig'), { server: url, pki })
  server = { url, token: '', authority: pki.authorities }
})
afterAll(() => {
  for (const one of close) one()
  rmSync(keys, { recursive: true })
})

let directory: string
const at = (name: string): string => join(directory, name)
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-backup-'))
  send = (answer) => answer.end(WHOLE)
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('a backup', () => {
  test('replaces a file, for its owner alone', async () => {
    writeFileSync(at('file'), 'an earlier one', { mode: 0o644 })
    await backup(server, at('file'))
    expect(readFileSync(at('file'), 'utf8')).toBe(WHOLE)
    expect(statSync(at('file')).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['file'])
  })

  test('replaces the file that a link leads to', async () => {
    writeFileSync(at('file'), 'an earlier one')
    symlinkSync(at('file'), at('latest'))
    await backup(server, at('latest'))
    expect(readFileSync(at('file'), 'utf8')).toBe(WHOLE)
  })

  test('that is not whole leaves an earlier one as it is', async () => {
    writeFileSync(at('file'), 'an earlier one')
    send = (answer) => answer.write(PARTS[0]!, () => answer.destroy())
    await expect(backup(server, at('file'))).rejects.toThrow('The backup is not whole, and')
    expect(readFileSync(at('file'), 'utf8')).toBe('an earlier one')
    expect(readdirSync(directory)).toEqual(['file'])
  })

  test('goes to no directory', async () => {
    mkdirSync(at('file'))
    await expect(backup(server, at('file'))).rejects.toThrow(`${at('file')} is a directory.`)
    expect(readdirSync(directory)).toEqual(['file'])
  })

  test('of two at once, each is whole', async () => {
    const answers: ServerResponse[] = []
    send = (answer) => answer.write(PARTS[0]!, () => answers.push(answer))
    const run = () => spawn(process.execPath, [LAUNCHER, 'backup', '--data-dir', keys, '-o', at('file')])
    const ended = [run(), run()].map((child) => once(child, 'exit'))
    await expect.poll(() => readdirSync(directory).length, { timeout: 20_000 }).toBe(2)
    for (const answer of answers) answer.end(PARTS[1])
    expect(await Promise.all(ended)).toEqual([
      [0, null],
      [0, null],
    ])
    expect(readFileSync(at('file'), 'utf8')).toBe(WHOLE)
    expect(readdirSync(directory)).toEqual(['file'])
  }, 30_000)

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'that %s interrupts leaves nothing',
    async (signal) => {
      send = (answer) => void answer.write(PARTS[0]!)
      const child = spawn(process.execPath, [LAUNCHER, 'backup', '--data-dir', keys, '-o', at('file')])
      const said = text(child.stderr)
      const ended = once(child, 'exit')
      await expect.poll(() => readdirSync(directory).length, { timeout: 20_000 }).toBe(1)
      child.kill(signal)
      expect(await ended).toEqual([1, null])
      expect(await said).toContain('was not written: it was interrupted')
      expect(readdirSync(directory)).toEqual([])
    },
    30_000,
  )
})

describe.skipIf(process.platform !== 'linux')('a place that is no file', () => {
  test('takes the backup as it comes and is not replaced', async () => {
    expect(spawnSync('mkfifo', [at('pipe')]).status).toBe(0)
    const reader = spawn('cat', [at('pipe')])
    const read = text(reader.stdout)
    await backup(server, at('pipe'))
    expect(await read).toBe(WHOLE)
    expect(statSync(at('pipe')).isFIFO()).toBe(true)
    expect(readdirSync(directory)).toEqual(['pipe'])
  })

  test('may be the standard output', () => {
    const command = `"${process.execPath}" "${LAUNCHER}" backup --data-dir "${keys}" -o /dev/stdout | cat`
    const child = spawn('/bin/sh', ['-c', command])
    return expect(text(child.stdout)).resolves.toBe(WHOLE)
  })

  test('tells of its error, which is not that of the connection', async () => {
    symlinkSync('/dev/full', at('full'))
    await expect(backup(server, at('full'))).rejects.toThrow('ENOSPC')
    expect(existsSync(at('full'))).toBe(true)
  })
})
