import { expect, test } from 'vitest'
import { hardWordsIn } from './plain-words.ts'

test.each([
  ['// Whoever writes waits.', 1],
  ['// It waits, lest it fails.', 1],
  ["// as in the reference's cache", 1],
  ['// as in kube-apiserver', 0],
  ['// shared by reference', 0],
  ['// the latest version', 0],
  ['const told = 1', 1],
  ['function others(count: number) {', 1],
  ['const others = all.slice(1)', 0],
])('%s', (line, found) => expect(hardWordsIn('a.ts', line)).toHaveLength(found))
