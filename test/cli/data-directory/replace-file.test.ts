import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceFile } from '../../../src/cli/data-directory/replace-file.ts'

let directory: string
let mask: number
const at = (name: string): string => join(directory, name)
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-replace-'))
  mask = process.umask()
})
afterEach(() => {
  process.umask(mask)
  rmSync(directory, { recursive: true })
})

test.each([
  ['nothing', undefined],
  ['a file that all may read', 0o644],
  ['a file that nobody may read', 0o000],
])('%s becomes a file for its owner alone', (_what, mode) => {
  process.umask(0)
  if (mode !== undefined) writeFileSync(at('file'), 'old', { mode })
  replaceFile(at('file'), 'new')
  expect(readFileSync(at('file'), 'utf8')).toBe('new')
  expect(statSync(at('file')).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory)).toEqual(['file'])
})

test('a link stays, and what it leads to is replaced', () => {
  writeFileSync(at('file'), 'old')
  symlinkSync(at('file'), at('link'))
  replaceFile(at('link'), 'new')
  expect(readFileSync(at('file'), 'utf8')).toBe('new')
})

test('a write that fails leaves the file as it was', () => {
  writeFileSync(at('file'), 'old')
  mkdirSync(at(`file.${process.pid}.new`))
  expect(() => replaceFile(at('file'), 'new')).toThrow()
  expect(readFileSync(at('file'), 'utf8')).toBe('old')
})
