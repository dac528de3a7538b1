import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DirectoryInUse, dataDirectory, lockDirectory } from '../../../src/cli/data-directory/data-directory.ts'

let path: string
beforeEach(() => void (path = mkdtempSync(join(tmpdir(), 'kedge-test-'))))
afterEach(() => rmSync(path, { recursive: true }))
const lockFile = (): string => join(path, 'lock')

test('a directory has one user at a time', () => {
  const directory = dataDirectory(path)
  const lock = lockDirectory(directory)
  expect(() => lockDirectory(directory)).toThrow(DirectoryInUse)
  expect(() => lockDirectory(directory)).toThrow(
    `The data directory ${path} is in use by another kedge (process ${process.pid}). Stop that one first`,
  )
  lock.release()
  lockDirectory(directory).release()
  expect(existsSync(lockFile())).toBe(false)
})

test.each([
  ['of a process that is gone', JSON.stringify({ pid: 2 ** 22 + 1, started: '1' })],
  ['of a process whose number another one has now', JSON.stringify({ pid: process.pid, started: '1' })],
  ['that is unreadable', '{'],
])('a lock %s is taken over', (_name, content) => {
  writeFileSync(lockFile(), content)
  const lock = lockDirectory(dataDirectory(path))
  expect(JSON.parse(readFileSync(lockFile(), 'utf8'))).toMatchObject({ pid: process.pid })
  lock.release()
})

test('an orphaned engine is ended before the directory is used', async () => {
  const engine = spawn('sleep', ['60'])
  const ended = new Promise((resolve) => engine.once('exit', (_code, signal) => resolve(signal)))
  const first = lockDirectory(dataDirectory(path))
  first.engineStarted(engine.pid!)
  const abandoned = JSON.parse(readFileSync(lockFile(), 'utf8')) as object
  writeFileSync(lockFile(), JSON.stringify({ ...abandoned, pid: 2 ** 22 + 1 }))
  const second = lockDirectory(dataDirectory(path))
  expect(await ended).toBe('SIGKILL')
  second.release()
})

test('what killed processes left of files that they replaced is removed', () => {
  const gone = 2 ** 22 + 1
  const directory = dataDirectory(path)
  mkdirSync(directory.pki)
  const left = [`lock.${gone}`, `lock.abandoned.${gone}`, `kubeconfig.${gone}.new`, `kubeconfig.${process.pid}.new`]
  const kept = ['kubeconfig', `kubeconfig.${process.ppid}.new`, `lock.${process.ppid}`, 'notes.new', `a.${gone}`]
  for (const name of [...left, ...kept]) writeFileSync(join(path, name), '')
  writeFileSync(join(directory.pki, `ca.key.${gone}.new`), 'a key')
  writeFileSync(join(directory.pki, 'ca.key'), 'a key')
  lockDirectory(directory).release()
  expect(readdirSync(path).sort()).toEqual([...kept, 'pki'].sort())
  expect(readdirSync(directory.pki)).toEqual(['ca.key'])
})
