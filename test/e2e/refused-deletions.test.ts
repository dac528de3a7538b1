// Policies and webhooks have a say in what the garbage collector and the namespace controller do.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

const subject = { commonName: 'hook' }
const authority = await createAuthority(subject, new Date(), 30)
const { key, certificate } = await issue(
  authority,
  { subject, usage: 'server', names: ['127.0.0.1'], days: 30 },
  new Date(),
)
let isAllowed = false
/** Who asked, of what. */
const asked: string[] = []
const hook = createServer({ key, cert: certificate }, (request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    const { kind, apiVersion, request: review } = JSON.parse(text)
    asked.push(`${review.userInfo.username} ${review.name}`)
    const status = { code: 403, message: 'not yet' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ kind, apiVersion, response: { uid: review.uid, allowed: isAllowed, status } }))
  })
})

let kedge: KedgeProcess
let api: ApiClient
beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  kedge = await startKedge(['--ephemeral', '--port', '0', '--workloads', 'off'])
  api = new ApiClient(kedge.kubeconfig)
})
afterAll(async () => {
  hook.closeAllConnections()
  hook.close()
  await kedge.stop()
})

async function create(path: string, body: object): Promise<string> {
  const answer = await api.send('POST', path, body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body.metadata.uid
}
const statusOf = async (path: string) => (await api.send('GET', path)).status
const eventually = <Seen>(look: () => Promise<Seen>) => expect.poll(look)

test('a namespace whose Secrets a policy keeps stays, and goes when the policy does', async () => {
  const named = (kind: string, spec: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'keep' },
    spec,
  })
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['secrets'] }
  await create(
    `${GROUP}/validatingadmissionpolicies`,
    named('ValidatingAdmissionPolicy', {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'false', messageExpression: "'kept from ' + request.userInfo.username" }],
    }),
  )
  const binding = { policyName: 'keep', validationActions: ['Deny'] }
  await create(`${GROUP}/validatingadmissionpolicybindings`, named('ValidatingAdmissionPolicyBinding', binding))
  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kept' } }
  await create('/api/v1/namespaces/shop/secrets', secret)
  await create('/api/v1/namespaces/shop/configmaps', { ...secret, kind: 'ConfigMap' })
  await eventually(async () => (await api.send('DELETE', '/api/v1/namespaces/shop/secrets/kept')).status).toBe(422)
  await api.send('DELETE', '/api/v1/namespaces/shop')
  const failure = async () => {
    const { status } = (await api.send('GET', '/api/v1/namespaces/shop')).body as any
    return status?.conditions?.find(({ type }: any) => type === 'NamespaceDeletionContentFailure')?.message
  }
  await eventually(failure).toBe(
    "Failed to delete all resource types, 1 remaining: secrets \"Unknown\" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: kept from system:serviceaccount:kube-system:namespace-controller",
  )
  expect(await statusOf('/api/v1/namespaces/shop/secrets/kept')).toBe(200)
  expect(await statusOf('/api/v1/namespaces/shop/configmaps/kept')).toBe(404)
  await api.send('DELETE', `${GROUP}/validatingadmissionpolicybindings/keep`)
  await eventually(() => statusOf('/api/v1/namespaces/shop')).toBe(404)
})

test('the garbage collector asks a webhook, and asks again after a refusal', async () => {
  const { port } = hook.address() as AddressInfo // of a server that listens on TCP
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }
  await create(`${GROUP}/validatingwebhookconfigurations`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'keep' },
    webhooks: [
      {
        name: 'keep.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: btoa(authority.certificate) },
        rules: [rule],
        objectSelector: { matchLabels: { kept: 'yes' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  const configMap = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...more },
  })
  await create(CONFIG_MAPS, configMap('probe', { labels: { kept: 'yes' } }))
  await eventually(async () => (await api.send('DELETE', `${CONFIG_MAPS}/probe`)).status).toBe(403)
  const uid = await create(CONFIG_MAPS, configMap('owner'))
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
  for (const [name, kept] of Object.entries({ a: 'no', b: 'yes', c: 'no' }))
    await create(CONFIG_MAPS, configMap(name, { ownerReferences, labels: { kept } }))
  asked.length = 0
  await api.send('DELETE', `${CONFIG_MAPS}/owner`)
  await eventually(async () => asked.length).toBeGreaterThan(2)
  expect(new Set(asked)).toEqual(new Set(['system:serviceaccount:kube-system:generic-garbage-collector b']))
  await eventually(() => statusOf(`${CONFIG_MAPS}/a`)).toBe(404)
  await eventually(() => statusOf(`${CONFIG_MAPS}/c`)).toBe(404)
  expect(await statusOf(`${CONFIG_MAPS}/b`)).toBe(200)
  const metrics = async () => {
    let text = ''
    for await (const part of (await api.open('GET', '/metrics')).setEncoding('utf8')) text += part as string
    return text
  }
  await eventually(metrics).toContain('kedge_controllers_failing_work{controller="departed"} 1')
  isAllowed = true
  await eventually(() => statusOf(`${CONFIG_MAPS}/b`)).toBe(404)
})
