// A kubelet writes the addresses of its Node, and any text passes for one. Where this server connects with, and what it
// asks there as a client of kubelets, no address may change.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { createAuthority } from '../../../src/cli/data-directory/certificate.ts'
import type { Env } from '../../../src/env.ts'
import { flowState } from '../../../src/flowcontrol/admit-request.ts'
import type { ExchangeCall } from '../../../src/outgoing/exchange.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const SPLIT = { KEDGE_FEATURE_GATES: 'PodLogsQuerySplitStreams=true' }
const POD: JsonObject = { spec: { nodeName: 'n', containers: [{ name: 'c' }] } }

interface Address {
  readonly type: string
  readonly address: string
}

/** The call that a request for logs leads to, or the error. */
async function callFor(
  addresses: readonly Address[],
  query = '',
  settings: Partial<Env> = {},
): Promise<ExchangeCall | string> {
  const asked: ExchangeCall[] = []
  const EXCHANGES = {
    fetch: async (_url: string, init: RequestInit) => {
      const [line = ''] = String(init.body).split('\n')
      asked.push(JSON.parse(line) as ExchangeCall)
      throw new Error('nobody is there')
    },
  } as unknown as Env['EXCHANGES']
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, EXCHANGES, ...settings })
  const status = { addresses: addresses.map((one) => ({ ...one })) }
  await server.put('', 'nodes', { metadata: { name: 'n' }, status })
  await server.put('', 'pods', { ...POD, metadata: { name: 'p', namespace: 'a' } })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const error: unknown = await answer(server.request(`/api/v1/namespaces/a/pods/p/log${query}`, { headers })).catch(
    (thrown: unknown) => thrown,
  )
  return asked[0] ?? (error instanceof StatusError ? error.message : 'answered')
}

const hostname = (address: string): Address => ({ type: 'Hostname', address })

/** The URL of that call. */
async function askedFor(address: string): Promise<string> {
  const call = await callFor([hostname(address)])
  return typeof call === 'string' ? call : call.url
}

test.each([
  ['worker-1', 'worker-1'],
  ['worker_1.example.com.', 'worker_1.example.com.'],
  ['10.0.0.1', '10.0.0.1'],
  ['fd00::1', '[fd00::1]'],
])('%s is the host %s', async (address, host) => {
  expect(await askedFor(address)).toBe(`https://${host}:10250/containerLogs/a/p/c`)
})

test.each([
  'localhost/api/v1/secrets?x=',
  'localhost\\api\\v1\\secrets?x=',
  'localhost#',
  'localhost?',
  'worker@localhost',
  'localhost:6443',
  '[::1]',
  '::1]:6443/api/v1/secrets?x=[',
  'fe80::1%eth0',
  'local\thost',
  ' ',
  '%6c',
])('%j is none', async (address) => {
  expect(await askedFor(address)).toBe(`the address ${JSON.stringify(address)} of node "n" is no host`)
})

const several = [
  { type: 'ExternalIP', address: '192.0.2.1' },
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'InternalIP', address: '10.0.0.2' },
  { type: 'Own', address: 'own.example.com' },
]

test.each([
  [undefined, 'https://10.0.0.1:10250/containerLogs/a/p/c'],
  ['ExternalIP,InternalIP', 'https://192.0.2.1:10250/containerLogs/a/p/c'],
  ['Own', 'https://own.example.com:10250/containerLogs/a/p/c'],
  [
    'Hostname',
    'no preferred addresses found; known addresses: [{ExternalIP 192.0.2.1} {InternalIP 10.0.0.1} {InternalIP 10.0.0.2} {Own own.example.com}]',
  ],
])('of several addresses the first of the preferred types counts: %s', async (types, expected) => {
  const settings = types === undefined ? {} : { KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES: types }
  const call = await callFor(several, '', settings)
  expect(typeof call === 'string' ? call : call.url).toBe(expected)
})

const KEDGE_KUBELET_CA = (await createAuthority({ commonName: 'kubelets' }, new Date(), 1)).certificate

test.each([
  ['', { caBundle: KEDGE_KUBELET_CA, isInsecure: undefined }],
  ['?insecureSkipTLSVerifyBackend=false', { caBundle: KEDGE_KUBELET_CA, isInsecure: undefined }],
  ['?insecureSkipTLSVerifyBackend=true', { caBundle: undefined, isInsecure: true }],
])('%j decides whether the certificate of the kubelet is verified', async (query, how) => {
  const call = await callFor([hostname('10.0.0.1')], query, { KEDGE_KUBELET_CA })
  expect(call).toMatchObject({ url: 'https://10.0.0.1:10250/containerLogs/a/p/c' })
  const { caBundle, isInsecure } = call as ExchangeCall
  expect({ caBundle, isInsecure }).toEqual(how)
})

test.each([
  ['', {}, 'https://10.0.0.1:10250/containerLogs/a/p/c'],
  ['?stream=Stdout', {}, 'stream: Forbidden: may not be specified'],
  ['', SPLIT, 'https://10.0.0.1:10250/containerLogs/a/p/c?stream=All'],
  ['?stream=Stdout&follow=true', SPLIT, 'https://10.0.0.1:10250/containerLogs/a/p/c?follow=true&stream=Stdout'],
  ['?stream=All&tailLines=2', SPLIT, 'https://10.0.0.1:10250/containerLogs/a/p/c?stream=All&tailLines=2'],
  ['?stream=Stderr&tailLines=2', SPLIT, '`tailLines` and specific `stream` are mutually exclusive for now'],
  ['?stream=stdout', SPLIT, 'stream: Unsupported value: "stdout": supported values: "Stdout", "Stderr", "All"'],
])('the stream in %j, with the settings %j', async (query, settings, result) => {
  const call = await callFor([hostname('10.0.0.1')], query, settings)
  expect(typeof call === 'string' ? call : call.url).toContain(result)
})

test.each(['pods/p/log', 'pods/p/proxy/x', 'services/s:80/proxy/x'])(
  'a request for %s leaves its seat while the other side takes its time',
  async (path) => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
    const EXCHANGES = { fetch: () => (asked.resolve(), answered.promise) } as unknown as Env['EXCHANGES']
    const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, EXCHANGES })
    const metadata = { name: 's', namespace: 'a' }
    const ip = '10.0.0.9'
    await server.put('', 'nodes', {
      metadata: { name: 'n' },
      status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
    })
    await server.put('', 'pods', { ...POD, metadata: { name: 'p', namespace: 'a' }, status: { podIP: ip } })
    await server.put('', 'services', { metadata, spec: { ports: [{ port: 80 }] } })
    const targetRef = { kind: 'Pod', namespace: 'a', name: 'p' }
    await server.put('', 'endpoints', {
      metadata,
      subsets: [{ addresses: [{ ip, targetRef }], ports: [{ port: 80 }] }],
    })
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const served = answer(server.request(`/api/v1/namespaces/a/${path}`, { headers }))
    await asked.promise
    expect(flowState(server.tenant).seats.count).toBe(0)
    answered.reject(new Error('nobody is there'))
    await expect(served).rejects.toThrow('nobody is there')
  },
)
