import { expect, test } from 'vitest'
import { pluginServer } from '../../admission/plugin-server.ts'

const PODS = '/api/v1/namespaces/blue/pods'
const NO_MATCH = 'Non-matching dry-run options in request and content'
const UNKNOWN = 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"'

test.each<[query: string, dryRun: readonly string[], code: number, message?: string]>([
  ['', ['All'], 201],
  ['?dryRun=All', [], 201],
  ['?dryRun=All', ['All'], 201],
  ['', ['x'], 422, UNKNOWN],
  ['?dryRun=All', ['x'], 500, `${NO_MATCH}: [All] and [x]`],
  ['?dryRun=All', ['All', 'All'], 500, `${NO_MATCH}: [All] and [All All]`],
])('%s with %j in the body', async (query, dryRun, code, message) => {
  const server = pluginServer()
  await server.namespace('blue')
  await server.send('POST', PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { dryRun } }
  const answer = await server.send('POST', `${PODS}/p/eviction${query}`, eviction)
  expect([answer.code, answer.body.message]).toEqual([code, message])
  expect((await server.send('GET', `${PODS}/p`)).code).toBe(200)
})
