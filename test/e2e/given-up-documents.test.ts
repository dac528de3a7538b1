// A client disconnects while the server builds a document for several clients: the other clients get it.
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { wideDefinition } from './wide-definition.ts'

let server: KedgeProcess
let client: ApiClient

const definition = (name: string, fields: number) => wideDefinition(name, 'given-up', fields, () => 'A field.')

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
})
afterAll(async () => {
  client?.close()
  await server?.stop()
})

/** @returns the status; undefined without an answer `within` so many milliseconds, after which the client leaves */
const get = (path: string, within: number, accept = 'application/json'): Promise<number | undefined> =>
  new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${client.token}`, Accept: accept }
    const sent = request(`${server.url}${path}`, { headers, agent: false, rejectUnauthorized: false }, (answer) =>
      answer
        .on('error', () => {})
        .resume()
        .on('end', () => resolve(answer.statusCode)),
    )
    sent.on('error', () => {}).on('close', () => resolve(undefined))
    sent.on('socket', (socket) => socket.once('secureConnect', () => setTimeout(() => sent.destroy(), within)))
    sent.end()
  })

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

test.each([
  ['/openapi/v2', 'application/json'],
  ['/openapi/v3', 'application/json'],
  ['/openapi/v3/apis/given-up.example.com/v1', 'application/json'],
  ['/openapi/v3/apis/apps/v1', 'application/json'],
  ['/apis', AGGREGATED],
  ['/api/v1/namespaces', 'application/json'],
])('other clients get %s after one disconnects', async (path, accept) => {
  const name = `things${path.replaceAll(/\W/g, '')}`.toLowerCase()
  const created = await client.send(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definition(name, 200),
  )
  expect(created.status).toBe(201)
  for (let after = 0; after < 40; after += 2) {
    // Each change of a definition makes the server rebuild every document.
    const changed = await client.send(
      'PATCH',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}.given-up.example.com`,
      { spec: { versions: definition(name, 200 + after).spec.versions } },
      { 'Content-Type': 'application/merge-patch+json' },
    )
    expect(changed.status).toBe(200)
    await get(path, after, accept)
    expect(await get(path, 120_000, accept), `given up after ${after} ms`).toBe(200)
  }
})
