/**
 * Two Workers on one engine, as on Cloudflare: the API server, and a webhook that is bound to it as WORKER_HOOK. Their
 * calls go over no network, through a real service binding.
 */
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBoundEngine } from './bound-engine.ts'

const TOKEN = 'the-token-of-an-administrator-of-this-test'

/** Refuses what says so, labels the rest, and counts its calls. */
const hook = `
let calls = 0
export default {
  async fetch(request) {
    calls++
    const { request: review } = await request.json()
    const patch = [{ op: 'add', path: '/metadata/labels', value: { hook: new URL(request.url).host, calls: String(calls) } }]
    const answer = review.object.data?.refuse
      ? { allowed: false, status: { code: 403, message: 'the other Worker refuses' } }
      : { allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify(patch)) }
    return Response.json({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: review.uid, ...answer } })
  },
}`

let engine: Miniflare | undefined

beforeAll(async () => {
  engine = await startBoundEngine({ hook }, { KEDGE_ADMIN_TOKEN: TOKEN })
})

afterAll(() => engine?.dispose())

async function send(method: string, path: string, body?: unknown): Promise<{ status: number; object: any }> {
  const response = await engine!.dispatchFetch(`http://localhost${path}`, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, object: await response.json() }
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const webhook = (worker: string, names: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: worker },
  webhooks: [
    {
      name: `${worker}.example.com`,
      clientConfig: { url: `https://${worker}.worker/review` },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      matchConditions: [{ name: 'names', expression: `object.metadata.name.startsWith('${names}')` }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

test('a webhook that is another Worker mutates and refuses through its binding', async () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  expect(await send('POST', configurations, webhook('hook', 'asked'))).toMatchObject({ status: 201 })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'asked' } })).toMatchObject({
    status: 201,
    object: { metadata: { labels: { hook: 'hook.worker', calls: '1' } } },
  })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'asked-2' }, data: { refuse: 'yes' } })).toMatchObject({
    status: 403,
    object: { message: 'admission webhook "hook.example.com" denied the request: the other Worker refuses' },
  })
  expect(await send('POST', CONFIG_MAPS, { metadata: { name: 'others' } })).toMatchObject({ status: 201 })
  expect(await send('GET', `${CONFIG_MAPS}/asked-2`)).toMatchObject({ status: 404 })

  expect(await send('POST', configurations, webhook('nobody', 'lost'))).toMatchObject({ status: 201 })
  const lost = await send('POST', CONFIG_MAPS, { metadata: { name: 'lost' } })
  expect(lost.status).toBe(500)
  expect(lost.object.message).toContain('no Worker is bound to this server as WORKER_NOBODY')
})
