import { expect, test } from 'vitest'
import { answer } from '../../../../src/server.ts'
import { memoryServer } from '../../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

/** What a Binding without a pod in its URL answers. */
async function bound(metadata: object, target: object = { name: 'n' }): Promise<string> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify({ metadata, target }) }
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  try {
    await answer(server.request('/api/v1/namespaces/default/bindings', init))
    return 'bound'
  } catch (error) {
    const { code, message } = error as { code: number; message: string }
    return `${code} ${message}`
  }
}

test.each<[object, string]>([
  [{}, '400 Name parameter required.'],
  [{ name: '' }, '400 Name parameter required.'],
  [{ generateName: 'x' }, '400 Name parameter required.'],
  [{ name: 'a/b' }, `400 Name parameter invalid: "a/b": may not contain '/'`],
  [{ name: '..' }, `400 Name parameter invalid: "..": may not be '..'`],
  [{ name: 'A b' }, '404 pods "A b" not found'],
])('a Binding with the metadata %o', async (metadata, expected) => {
  expect(await bound(metadata)).toBe(expected)
})

test('the target is checked before the name', async () => {
  expect(await bound({}, {})).toBe('500 target.name: Required value')
})
