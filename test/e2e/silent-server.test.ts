// An extension API server that takes connections and says nothing: the checks of its availability take seconds, and no
// other controller waits for them.
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

let silent: Server
let kedge: KedgeProcess
let api: ApiClient
/** The checks that wait for the silent server, and those whose wait is over. */
let waiting = 0
let over = 0

beforeAll(async () => {
  silent = createServer((socket) => {
    waiting++
    socket
      .on('error', () => {})
      .on('close', () => {
        waiting--
        over++
      })
    socket.resume()
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  kedge = await startKedge(['--ephemeral', '--port', '0', '--services', `default/silent:443=https://127.0.0.1:${port}`])
  api = new ApiClient(kedge.kubeconfig)
})

afterAll(async () => {
  api?.close()
  await kedge?.stop()
  silent?.close()
})

test('a definition is established while a check waits for the silent server', async () => {
  const group = 'example.com'
  const service = { name: 'silent', namespace: 'default' }
  const { status } = await api.send('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.silent.example.com' },
    spec: {
      group: 'silent.example.com',
      version: 'v1',
      service,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  })
  expect(status).toBe(201)
  await eventually(async () => expect(waiting).toBeGreaterThan(0))
  const overBefore = over
  const created = await api.send('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
  expect(created.status).toBe(201)
  await eventually(async () => {
    const { body } = await api.send('GET', `${DEFINITIONS}/things.${group}`)
    expect(JSON.stringify(body)).toContain('"type":"Established"')
  })
  expect(over).toBe(overBefore)
})
