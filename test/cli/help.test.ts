import { expect, test } from 'vitest'
import { helpFor } from '../../src/cli/help.ts'

const titles = (page: string): string[] =>
  page.split('\n').filter((line) => /^(?:Usage|Commands|Flags|All|With)\b/.test(line))

test.each([
  ['start', ['Flags of start']],
  ['login', ['Flags of login']],
  ['token', ['Flags of kubeconfig, token and keys rotate', 'Flags of token create: makes a bootstrap token and']],
  ['encryption', ['Flags of encryption rewrite']],
])('the help of %s is about its own flags', (command, beginnings) => {
  const found = titles(helpFor(command))
  expect(found.at(-1)).toBe('All commands and flags: kedge help')
  expect(found).toHaveLength(beginnings.length + 1)
  for (const [at, beginning] of beginnings.entries()) expect(found[at]).toContain(beginning)
})

test.each(['help', '', 'version', 'red', '__proto__'])('%j has no flags: all commands and their flags', (command) => {
  const page = helpFor(command)
  expect(titles(page).slice(0, 3)).toEqual(['Usage: kedge COMMAND [FLAGS]', 'Commands', 'Flags of start'])
  expect(page.endsWith('With npm: npm start -- --port 16443\n')).toBe(true)
})
