// A webhook of ours that answers well, slowly, badly, hugely or not at all, and a local server that calls it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

type Hook = (review: any, response: ServerResponse) => void

const subject = { commonName: 'webhooks' }
const authority = await createAuthority(subject, new Date(), 30)
const { key, certificate } = await issue(
  authority,
  { subject: { commonName: 'hook' }, usage: 'server', names: ['127.0.0.1'], days: 30 },
  new Date(),
)

const reply = ({ kind, apiVersion, request }: any, more: object): string =>
  JSON.stringify({ kind, apiVersion, response: { uid: request.uid, ...more } })
const waiting: (() => void)[] = []

/** Reviews that are not answered yet. */
const held: { readonly review: any; readonly response: ServerResponse }[] = []
const answerHeld = (): void => {
  for (const { review, response } of held.splice(0)) response.end(reply(review, { allowed: true }))
}

/** By the label `hook` of what is written. */
const hooks: Readonly<Record<string, Hook>> = {
  good: (review, response) => response.end(reply(review, { allowed: true, warnings: ['seen'] })),
  denying: (review, response) => response.end(reply(review, { allowed: false, status: { code: 403, message: 'no' } })),
  failing: (_, response) => response.writeHead(500, { 'content-type': 'text/plain' }).end('broken'),
  wrong: (_, response) => response.end('{"response":'),
  huge: (review, response) => response.end(reply(review, { allowed: true, warnings: ['x'.repeat(4 * 1024 * 1024)] })),
  late: () => {},
  // what it answers each stands in what it is asked about
  mixed: (review, response) => {
    const { as, number } = review.request.object.metadata.labels
    if (as === 'held') held.push({ review, response })
    else if (as === 'denied') response.end(reply(review, { allowed: false, status: { message: `not ${number}` } }))
    else if (as === 'broken') response.destroy()
    else response.end(reply(review, { allowed: true }))
  },
  // answers when both are there
  together: (review, response) => {
    waiting.push(() => response.end(reply(review, { allowed: true })))
    if (waiting.length === 2) for (const answer of waiting) answer()
  },
}

const server = createServer({ key, cert: certificate }, (request: IncomingMessage, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    const name = new URL(request.url ?? '', 'https://hook').pathname.slice(1)
    response.setHeader('content-type', 'application/json')
    hooks[name]?.(JSON.parse(text), response)
  })
})

let kedge: KedgeProcess
let api: ApiClient
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // of a server that listens on TCP
  kedge = await startKedge(['--ephemeral', '--port', '0', '--services', `default/hooks:443=https://127.0.0.1:${port}`])
  api = new ApiClient(kedge.kubeconfig)
  const webhook = (name: string, more: object = {}) => ({
    name: `${name}.example.com`,
    clientConfig: {
      url: `https://127.0.0.1:${port}/${name}`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { hook: name } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: name === 'late' ? 1 : 30,
    ...more,
  })
  const untrusted = Buffer.from((await createAuthority(subject, new Date(), 30)).certificate).toString('base64')
  const { status } = await api.send('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hooks' },
    webhooks: [
      ...Object.keys(hooks).map((name) => webhook(name)),
      { ...webhook('together'), name: 'together-too.example.com' },
      webhook('stranger', { clientConfig: { url: `https://127.0.0.1:${port}/good`, caBundle: untrusted } }),
      webhook('ignored', { clientConfig: { url: `https://127.0.0.1:${port}/failing` }, failurePolicy: 'Ignore' }),
      // its certificate is for 127.0.0.1, not for the Service
      webhook('service', {
        clientConfig: {
          service: { namespace: 'default', name: 'hooks', path: '/good' },
          caBundle: Buffer.from(authority.certificate).toString('base64'),
        },
      }),
      webhook('elsewhere', { clientConfig: { service: { namespace: 'default', name: 'none' } } }),
    ],
  })
  expect(status).toBe(201)
  // what was configured takes effect a moment later
  await eventually(async () => expect((await create('denying', '?dryRun=All')).status).toBe(403))
})
afterAll(async () => {
  api?.close()
  await kedge?.stop()
  server.close()
  server.closeAllConnections()
})

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (hook: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { generateName: 'a-', labels: { hook } },
})
const create = (hook: string, query = '') => api.send('POST', `${CONFIG_MAPS}${query}`, configMap(hook))

describe('a write is', () => {
  test.each([
    ['good', 201, undefined],
    ['nobody', 201, undefined],
    ['together', 201, undefined],
    ['ignored', 201, undefined],
    ['denying', 403, 'admission webhook "denying.example.com" denied the request: no'],
    ['failing', 500, 'an error on the server ("broken") has prevented the request from succeeding'],
    ['wrong', 500, "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    ['huge', 500, 'the answer is longer than 3145728 bytes'],
    ['late', 500, '/late?timeout=1s": context deadline exceeded'],
    ['stranger', 500, 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
    ['service', 500, 'certificate is not valid for any names, but wanted to match hooks.default.svc'],
    ['elsewhere', 500, 'Post "https://none.default.svc:443/?timeout=30s": service "none" not found'],
  ])('answered as webhook %s has it: %i', async (hook, expected, message) => {
    const { status, body } = await create(hook)
    expect(status).toBe(expected)
    if (message !== undefined) expect(body.message).toContain(message)
  })
})

test('of many writes that ask one webhook at once each has its own answer, and waits for no other', async () => {
  const ways = ['quick', 'denied', 'broken', 'held', 'left'] as const
  const hangingUp = new ApiClient(kedge.kubeconfig)
  const write = (client: ApiClient, as: string, number: number) =>
    client.send('POST', CONFIG_MAPS, {
      ...configMap('mixed'),
      metadata: {
        name: `${as}-${number}`,
        labels: { hook: 'mixed', as: as === 'left' ? 'held' : as, number: String(number) },
      },
    })
  const numbers = Array.from({ length: 6 }, (_, at) => at)
  const writes = numbers.flatMap((number) =>
    ways.map(async (as) => {
      const answer = await write(as === 'left' ? hangingUp : api, as, number).catch(() => undefined)
      return { as, number, status: answer?.status, message: answer?.body.message }
    }),
  )
  const told = await Promise.all(writes.filter((_, at) => at % ways.length < 3))
  for (const { as, number, status, message } of told) {
    expect({ as, status }).toEqual({ as, status: { quick: 201, denied: 400, broken: 500 }[as as 'quick'] })
    if (as === 'denied') expect(message).toContain(`denied the request: not ${number}`)
    if (as === 'broken') expect(message).toContain('EOF')
  }
  await eventually(() => expect(held).toHaveLength(2 * numbers.length))
  hangingUp.close()
  // the webhook sees that nobody waits any more
  await eventually(() =>
    expect(held.filter(({ response }) => response.destroyed || response.closed)).toHaveLength(numbers.length),
  )
  answerHeld()
  const all = await Promise.all(writes)
  expect(all.filter(({ as }) => as === 'held').map(({ status }) => status)).toEqual(numbers.map(() => 201))
  expect(all.filter(({ as }) => as === 'left').map(({ status }) => status)).toEqual(numbers.map(() => undefined))
  const { body } = await api.send('GET', `${CONFIG_MAPS}?labelSelector=hook%3Dmixed`)
  expect(body.items?.map(({ metadata }) => metadata.name).sort()).toEqual(
    ['held', 'quick'].flatMap((as) => numbers.map((number) => `${as}-${number}`)),
  )
})
