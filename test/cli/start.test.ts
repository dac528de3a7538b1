import { expect, test } from 'vitest'
import { CannotStart, start } from '../../src/cli/start.ts'

test.each([
  ['history', '5m', 'the setting of the history has "5m": not a number of seconds'],
  ['runtimeConfig', 'nonsense', 'nonsense'],
])('a slip in %s is told before anything begins', async (setting, value, message) => {
  const options = { host: '127.0.0.1', port: 0, dataDir: '/nonexistent', ephemeral: false, names: [], [setting]: value }
  const failure = await start(options).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(CannotStart)
  expect(String(failure)).toContain(message)
})
