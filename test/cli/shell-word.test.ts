import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shellWord } from '../../src/cli/shell-word.ts'

test.each([
  ['/tmp/a-b_c/.kedge/kubeconfig', '/tmp/a-b_c/.kedge/kubeconfig'],
  ['/tmp/my folder/kubeconfig', "'/tmp/my folder/kubeconfig'"],
  ["/tmp/it's/$HOME`ls`", "'/tmp/it'\\''s/$HOME`ls`'"],
  ['', "''"],
])('%s is written %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
  expect(execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(text)
})
