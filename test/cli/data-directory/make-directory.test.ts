import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory, makePrivateDirectory } from '../../../src/cli/data-directory/make-directory.ts'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'kedge-test-'))
  writeFileSync(join(path, 'file'), '')
  symlinkSync(join(path, 'nowhere'), join(path, 'dangling'))
  symlinkSync(path, join(path, 'link'))
})
afterEach(() => rmSync(path, { recursive: true }))
const modeOf = (name: string): number => statSync(join(path, name)).mode & 0o777

test('all that is missing is made, with the mode', () => {
  makeDirectory(join(path, 'a/b/c'), 0o700)
  expect(['a', 'a/b', 'a/b/c'].map(modeOf)).toEqual([0o700, 0o700, 0o700])
})

test('a directory that is there keeps its mode', () => {
  makeDirectory(join(path, 'a'), 0o750)
  makeDirectory(join(path, 'a'), 0o700)
  makeDirectory(join(path, 'link/a'), 0o700)
  expect(modeOf('a')).toBe(0o750)
})

test('a private directory is for its owner alone, new or not', () => {
  makePrivateDirectory(join(path, 'a/new'))
  makeDirectory(join(path, 'old'))
  chmodSync(join(path, 'old'), 0o755)
  makePrivateDirectory(join(path, 'old'))
  expect(['a/new', 'old'].map(modeOf)).toEqual([0o700, 0o700])
})

test.each([
  ['a file', 'file', 'EEXIST'],
  ['a place below a file', 'file/a', 'ENOTDIR'],
  ['a place far below a file', 'file/a/b', 'ENOTDIR'],
  ['a link that leads nowhere', 'dangling', 'EEXIST'],
])('%s is no directory', (_what, name, code) => {
  expect(() => makeDirectory(join(path, name))).toThrow(expect.objectContaining({ code }))
})

test.skipIf(process.platform !== 'linux')('a file system that takes no directories is asked once', () => {
  for (const place of ['/proc/kedge', '/proc/kedge/below', '/proc/self/kedge'])
    expect(() => makeDirectory(place)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
