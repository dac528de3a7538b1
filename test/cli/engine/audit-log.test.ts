import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { serveAuditLog } from '../../../src/cli/engine/audit-log.ts'
import type { AuditLog } from '../../../src/cli/engine/audit-log.ts'

let directory: string
let log: AuditLog
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-audit-'))
})
afterEach(async () => {
  await log.close()
  rmSync(directory, { recursive: true, force: true })
})

const serve = async (path: string, maxBackups = 0): Promise<void> => {
  log = await serveAuditLog(join(directory, 'socket'), { path: join(directory, path), maxBytes: 20, maxBackups })
}

const post = (lines: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ socketPath: join(directory, 'socket'), method: 'POST', path: '/' }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
      .on('error', reject)
      .end(lines)
  })

const backups = () => readdirSync(directory).filter((name) => /^audit-.*\.log$/.test(name))

test('the log answers a batch after its lines are in the file', async () => {
  await serve('audit.log')
  expect(await Promise.all([post('one\n'), post('two\n')])).toEqual([204, 204])
  expect(readFileSync(join(directory, 'audit.log'), 'utf8').split('\n').sort()).toEqual(['', 'one', 'two'])
})

test('the log begins a line where the file ends in the middle of one', async () => {
  writeFileSync(join(directory, 'audit.log'), 'half a')
  await serve('audit.log', 0)
  expect([await post('one\n'), await post('two\n')]).toEqual([204, 204])
  expect(readFileSync(join(directory, 'audit.log'), 'utf8')).toBe('half a\none\ntwo\n')
})

test('the log begins a line after one that the disk took in part', async ({ skip }) => {
  const disk = join(directory, 'disk')
  mkdirSync(disk)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'tmpfs', disk]).status !== 0) skip('a disk cannot be mounted')
  try {
    writeFileSync(join(disk, 'filler'), 'x'.repeat(4096))
    log = await serveAuditLog(join(directory, 'socket'), {
      path: join(disk, 'audit.log'),
      maxBytes: 100_000,
      maxBackups: 0,
    })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await post(`${'a'.repeat(5000)}\n`)).toBe(500)
    rmSync(join(disk, 'filler'))
    expect(await post('one\n')).toBe(204)
    expect(readFileSync(join(disk, 'audit.log'), 'utf8')).toMatch(/^a+\none\n$/)
  } finally {
    vi.restoreAllMocks()
    await log.close()
    spawnSync('umount', ['-l', disk])
  }
})

test('a disk that takes nothing holds nothing of senders who have gone', async () => {
  const pipe = join(directory, 'pipe')
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  await serve('pipe')
  const stuck = post(`${'a'.repeat(300_000)}\n`)
  const gone = request({ socketPath: join(directory, 'socket'), method: 'POST', path: '/' })
  gone.on('error', () => {})
  gone.end('b\n')
  await vi.waitFor(() => expect(log.waiting).toBe(1))
  gone.destroy()
  await vi.waitFor(() => expect(log.waiting).toBe(0))
  const next = post('c\n')
  let text = ''
  await vi.waitFor(() => {
    text += someOf(reader)
    expect(text.endsWith('c\n')).toBe(true)
  }, 20_000)
  expect(await Promise.all([stuck, next])).toEqual([204, 204])
  expect(text).toMatch(/^a+\nc\n$/)
  closeSync(reader)
})

function someOf(pipe: number): string {
  const octets = Buffer.alloc(64 << 10)
  try {
    return octets.toString('utf8', 0, readSync(pipe, octets))
  } catch {
    return '' // nothing is there yet
  }
}

test('the log makes the file anew where it was moved away before a rotation', async () => {
  await serve('audit.log', 0)
  expect(await post('a line of some length\n')).toBe(204)
  rmSync(join(directory, 'audit.log'))
  expect([await post('one\n'), await post('two\n')]).toEqual([204, 204])
  expect(readFileSync(join(directory, 'audit.log'), 'utf8')).toBe('one\ntwo\n')
})

test('the log rotates no device', async () => {
  const device = '/dev/null'
  // a rename of this would be one of the link alone
  symlinkSync(device, join(directory, 'audit.log'))
  await serve('audit.log', 2)
  for (let line = 0; line < 3; line++) expect(await post('a line of some length\n')).toBe(204)
  expect(readdirSync(directory).sort()).toEqual(['audit.log', 'socket'])
})

test('the log rotates a file that becomes too large, and deletes the oldest rotated files', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  await serve('audit.log', 2)
  for (let day = 1; day <= 5; day++) {
    vi.setSystemTime(day * 86_400_000)
    await post(`day ${day} is a long line\n`)
  }
  vi.useRealTimers()
  expect(readFileSync(join(directory, 'audit.log'), 'utf8')).toBe('day 5 is a long line\n')
  expect(backups().map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual([
    'day 3 is a long line\n',
    'day 4 is a long line\n',
  ])
})

test('rotated files of one millisecond have names of their own', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T03:04:59.998Z') })
  try {
    await serve('audit.log')
    for (const line of ['a', 'b', 'c', 'd', 'e']) expect(await post(`${line.repeat(15)}\n`)).toBe(204)
  } finally {
    vi.useRealTimers()
  }
  const files = [...backups().sort(), 'audit.log']
  expect(files.map((name) => readFileSync(join(directory, name), 'utf8')[0])).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(files[3]).toBe('audit-2026-01-02T03-05-00.001Z.log')
})
