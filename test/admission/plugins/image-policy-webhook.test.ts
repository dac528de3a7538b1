// A webhook decides which images may run. The texts are those of kube-apiserver.
import { expect, test } from 'vitest'
import type { StatusError } from '../../../src/api/status.ts'
import type { ApiRequest } from '../../../src/request/context.ts'
import { answer } from '../../../src/server.ts'
import { STATUS_HEADER, TYPE_HEADER } from '../../../src/webhooks/by-front.ts'
import { frontFailing } from '../../webhooks/front.ts'
import type { PluginServer } from '../plugin-server.ts'
import { lineOf, pluginServer, pod, TOKEN } from '../plugin-server.ts'

interface Call {
  readonly url: string
  readonly headers: Record<string, string>
  readonly review: { readonly spec: object }
}

const KUBECONFIG = {
  clusters: [{ name: 'c', cluster: { server: 'https://images.example/policy' } }],
  users: [{ name: 'u', user: { token: 'secret' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
}
const PODS = '/api/v1/namespaces/blue/pods?dryRun=All'

/** @param statuses that the server answers, one after the other; the last again and again */
async function serverWith(statuses: readonly (object | number)[], more: object = {}) {
  const calls: Call[] = []
  const OUTGOING = {
    async fetch(_url: string, init: RequestInit): Promise<Response> {
      const [head = '', body = ''] = String(init.body).split('\n')
      calls.push({ ...JSON.parse(head), review: JSON.parse(body) } as Call)
      const status = statuses[Math.min(calls.length, statuses.length) - 1]!
      const [code, text] = typeof status === 'number' ? [status, 'busy'] : [200, JSON.stringify({ status })]
      return new Response(text, { headers: { [STATUS_HEADER]: String(code), [TYPE_HEADER]: '' } })
    },
  }
  const server = pluginServer(
    // the plugin uses no more of a service binding
    { KEDGE_ENABLE_ADMISSION_PLUGINS: 'ImagePolicyWebhook', OUTGOING: OUTGOING as unknown as Fetcher },
    { ImagePolicyWebhook: { imagePolicy: { kubeConfig: KUBECONFIG, retryBackoff: 1, ...more } } },
  )
  await server.namespace('blue')
  return { ...server, calls }
}

test('it is asked about all images, with the annotations that are for it', async () => {
  const { send, calls } = await serverWith([{ allowed: true }])
  const annotations = { 'a.image-policy.k8s.io/ticket': '7', other: 'x' }
  const wanted = pod({ initContainers: [{ name: 'd', image: 'j' }] }, { annotations })
  expect(lineOf(await send('POST', PODS, wanted))).toBe('201')
  expect(calls).toMatchObject([
    {
      url: 'https://images.example/policy?timeout=30s',
      headers: { Authorization: 'Bearer secret' },
      review: {
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        kind: 'ImageReview',
        spec: {
          containers: [{ image: 'i' }, { image: 'j' }],
          annotations: { 'a.image-policy.k8s.io/ticket': '7' },
          namespace: 'blue',
        },
      },
    },
  ])
})

test.each([
  [{ allowed: false, reason: 'not signed' }, 'image policy webhook backend denied one or more images: not signed'],
  [{ allowed: false }, 'one or more images rejected by webhook backend'],
  [{}, 'one or more images rejected by webhook backend'],
])('%j', async (status, why) => {
  const { send } = await serverWith([status])
  expect(lineOf(await send('POST', PODS, pod()))).toBe(`403 pods "p" is forbidden: ${why}`)
})

test('the plugin caches an answer', async () => {
  const { send, calls, memory } = await serverWith([{ allowed: true }], { allowTTL: 10 })
  const create = () => send('POST', PODS, pod())
  await create()
  await create()
  expect(calls).toHaveLength(1)
  await send('POST', PODS, pod({ containers: [{ name: 'c', image: 'other' }] }))
  expect(calls).toHaveLength(2)
  memory.now = new Date(memory.now.getTime() + 11_000)
  await create()
  expect(calls).toHaveLength(3)
})

test('it is asked again where the server had a problem, five times in all', async () => {
  const { send, calls } = await serverWith([500, 429, { allowed: true }])
  expect(lineOf(await send('POST', PODS, pod()))).toBe('201')
  expect(calls).toHaveLength(3)
  const broken = await serverWith([500])
  expect(lineOf(await broken.send('POST', PODS, pod()))).toBe(
    '403 pods "p" is forbidden: an error on the server ("busy") has prevented the request from succeeding',
  )
  expect(broken.calls).toHaveLength(5)
})

test.each([
  [
    false,
    '403 pods "p" is forbidden: Post "https://images.example/policy?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused',
    undefined,
  ],
  [true, '201', 'true'],
])('where nobody answers, with defaultAllow %s', async (defaultAllow, expected, annotation) => {
  const refusing = pluginServer(
    {
      KEDGE_ENABLE_ADMISSION_PLUGINS: 'ImagePolicyWebhook',
      OUTGOING: frontFailing({ code: 'ECONNREFUSED', message: '', address: '10.0.0.1:443' }),
    },
    { ImagePolicyWebhook: { imagePolicy: { kubeConfig: KUBECONFIG, retryBackoff: 1, defaultAllow } } },
  )
  await refusing.namespace('blue')
  const answered = await refusing.send('POST', PODS, pod())
  expect(lineOf(answered)).toBe(expected)
  const annotations = (answered.body.metadata?.annotations ?? {}) as Record<string, string>
  expect(annotations['alpha.image-policy.k8s.io/failed-open']).toBe(annotation)
})

/** Sends a pod with a request that has something of its own. */
async function sendWith(server: PluginServer, more: (request: ApiRequest) => void): Promise<string> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const request = server.memory.request(PODS, { method: 'POST', headers, body: JSON.stringify(pod()) })
  more(request)
  return answer(request).then(
    ({ status }) => String(status),
    (error: StatusError) => `${error.code} ${error.message}`,
  )
}

const TIMEOUT = '504 Timeout: request did not complete within requested timeout'

test('with defaultAllow, a pod whose body comes slowly is judged nevertheless', async () => {
  const denying = [{ allowed: false, reason: 'not signed' }]
  const server = await serverWith(denying, { defaultAllow: true })
  const after = (seconds: number) =>
    sendWith(server, () => void (server.memory.now = new Date(server.memory.now.getTime() + seconds * 1000)))
  expect(await after(32)).toMatch(/^403 .*: not signed$/)
  expect(server.calls.at(-1)?.url).toContain('timeout=2s')
  expect(await after(35)).toBe(TIMEOUT)
  expect(server.calls).toHaveLength(1)
})

test('with defaultAllow, the pod of a client that did not wait for the decision is not created', async () => {
  const server = await serverWith([404], { defaultAllow: true })
  expect(await sendWith(server, () => undefined)).toBe('201')
  const gone = AbortSignal.abort()
  expect(await sendWith(server, (request) => Object.assign(request, { gone: () => gone }))).toBe(TIMEOUT)
})
