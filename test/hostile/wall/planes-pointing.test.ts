// A control plane that is configured to call another one is anonymous there, and no calls loop for ever. The calls are
// those of webhooks, conversion, APIServices, nodes and pods.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../eventually.ts'
import { answerOf } from './row.ts'
import type { Headers, Received } from './row.ts'
import { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const MARK = 'only-in-the-second-plane'
const directory = (): string => mkdtempSync(join(tmpdir(), 'kedge-pointing-'))
const [here, there] = [directory(), directory()]
const logs = { first: join(directory(), 'audit'), second: join(directory(), 'audit') }
let first: World
let second: World

beforeAll(async () => {
  const policy = join(directory(), 'policy.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Request }]\n')
  const audited = (log: string) => ['--audit-policy-file', policy, '--audit-log-path', log]
  first = await World.startIn(here, ...audited(logs.first))
  second = await World.startIn(there, ...audited(logs.second))
  await first.prepare()
  await second.prepare()
  await second.make(`${A}/secrets`, { metadata: { name: MARK }, stringData: { k: MARK } })
  await second.make(`${A}/configmaps`, { metadata: { name: MARK }, data: { k: MARK } })
})
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()])
})

const nothingOfSecond = ({ text }: Received): void => {
  for (const mark of [MARK, Buffer.from(MARK).toString('base64')])
    expect(text.includes(mark), `tells of the second: ${text.slice(0, 300)}`).toBe(false)
}
const urlOf = ({ access: { port } }: World, path: string): string => `https://localhost:${port}${path}`
const caOf = (from: string): string => readFileSync(join(from, 'pki/ca.crt')).toString('base64')
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'

async function namesIn(world: World, path: string): Promise<string[]> {
  const { text } = await world.send('admin', 'GET', path)
  const { items } = JSON.parse(text) as { items: { metadata: { name: string } }[] }
  return items.map(({ metadata }) => metadata.name)
}

describe('webhooks', () => {
  const hook = (name: string, path: string, failurePolicy: string, label: string) => ({
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url: urlOf(second, path), caBundle: caOf(there) },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels: { asks: label } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy,
        timeoutSeconds: 10,
      },
    ],
  })
  const PATHS = [
    `${A}/configmaps`,
    `${A}/secrets`,
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/apis/authentication.k8s.io/v1/tokenreviews',
    `${A}/serviceaccounts/owner/token`,
    '/restore',
    '/backup',
  ]

  test.each(PATHS.map((path, at) => [path, at] as const))(
    'a review that goes to %s of the other plane is nobody’s',
    async (path, at) => {
      const before = await namesIn(second, `${A}/configmaps`)
      for (const kind of ['validating', 'mutating'])
        for (const policy of ['Fail', 'Ignore']) {
          const label = `${kind}-${policy}-${at}`.toLowerCase()
          await first.make(`${ADMISSION}/${kind}webhookconfigurations`, hook(label, path, policy, label))
          const object = { metadata: { name: label, labels: { asks: label } } }
          // a webhook takes effect once its plane has read it
          await eventually(async () => {
            const received = await first.send('admin', 'POST', `${A}/configmaps?dryRun=All`, object)
            nothingOfSecond(received)
            expect(answerOf(received), received.text).toBe(policy === 'Fail' ? '500 InternalError' : '201')
          })
        }
      expect(await namesIn(second, `${A}/configmaps`)).toEqual(before)
    },
  )

  test('two planes whose webhooks lead to each other answer', async () => {
    const label = 'loop'
    const there = hook(label, `${A}/configmaps`, 'Fail', label)
    await first.make(`${ADMISSION}/validatingwebhookconfigurations`, there)
    const back = structuredClone(there)
    back.webhooks[0]!.clientConfig = { url: urlOf(first, `${A}/configmaps`), caBundle: caOf(here) }
    await second.make(`${ADMISSION}/validatingwebhookconfigurations`, back)
    const object = { metadata: { name: label, labels: { asks: label } } }
    for (const world of [first, second])
      await eventually(async () =>
        expect(answerOf(await world.send('admin', 'POST', `${A}/configmaps?dryRun=All`, object))).toBe(
          '500 InternalError',
        ),
      )
  })

  test('a definition whose conversion leads there is not converted, and shows nothing of there', async () => {
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })
    await first.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'pointers.wall.example.com' },
      spec: {
        group: 'wall.example.com',
        scope: 'Namespaced',
        names: { plural: 'pointers', kind: 'Pointer' },
        versions: [version('v1', true), version('v2', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { url: urlOf(second, `${A}/secrets`), caBundle: caOf(there) },
            conversionReviewVersions: ['v1'],
          },
        },
      },
    })
    const path = (name: string) => `/apis/wall.example.com/${name}/namespaces/a/pointers`
    await eventually(async () => expect(answerOf(await first.send('admin', 'GET', path('v1')))).toBe('200'))
    const one = { apiVersion: 'wall.example.com/v1', kind: 'Pointer', metadata: { name: 'one' } }
    await first.make(path('v1'), one)
    const received = await first.send('admin', 'GET', `${path('v2')}/one`)
    nothingOfSecond(received)
    expect(received.status, received.text).toBe(500)
  })
})

describe('APIServices', () => {
  const group = 'there.example.com'
  const point = async (world: World, to: World): Promise<void> => {
    await world.make(`${A}/services`, {
      metadata: { name: 'there' },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port: to.access.port }] },
    })
    await world.make('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { name: 'there', namespace: 'a', port: to.access.port },
      },
    })
  }

  test('two planes that lead to each other are not available to each other, and answer', async () => {
    await point(first, second)
    await point(second, first)
    for (const world of [first, second])
      await eventually(async () => {
        const path = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`
        const { text } = await world.send('admin', 'GET', path)
        const { status = {} } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } }
        expect(status.conditions?.map(({ type, status: is }) => [type, is])).toEqual([['Available', 'False']])
      })
    for (const world of [first, second])
      for (const who of ['admin', 'reader'] as const) {
        const received = await world.send(who, 'GET', `/apis/${group}/v1/namespaces/a/secrets`)
        nothingOfSecond(received)
        expect(received.status, received.text).toBe(503)
      }
  })

  test('who comes with the certificate by which another plane passes requests on is nobody', async () => {
    const read = (name: string): string => readFileSync(join(here, 'pki', name), 'utf8')
    const agent = new Agent({
      cert: read('front-proxy-client.crt'),
      key: read('front-proxy-client.key'),
      rejectUnauthorized: false,
    })
    const headers: Headers = { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' }
    for (const path of [`${A}/secrets`, '/backup', '/metrics'])
      expect(await asked(agent, path, headers), path).toBeOneOf(['401', '403', 'refused'])
    agent.destroy()
  })
})

/** The status that the second plane answers, or "refused" if it refuses the connection. */
const asked = (agent: Agent, path: string, headers: Headers): Promise<string> =>
  new Promise((resolve) => {
    const { host, port } = second.access
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    const outgoing = request({ host, port, path, agent, headers: sent }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(String(answer.statusCode)))
    })
    outgoing.on('error', () => resolve('refused')).end()
  })

describe('nodes and pods', () => {
  const HANDSHAKE: Headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol': 'v5.channel.k8s.io',
  }
  const patch = (path: string, body: object): Promise<Received> =>
    first.send('admin', 'PATCH', path, body, { 'Content-Type': 'application/merge-patch+json' })

  beforeAll(async () => {
    const { port } = second.access
    await first.make('/api/v1/nodes', { metadata: { name: 'there' } })
    await patch('/api/v1/nodes/there/status', {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    })
    await first.make(`${A}/pods`, {
      metadata: { name: 'there' },
      spec: {
        nodeName: 'there',
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }],
      },
    })
    await patch(`${A}/pods/there/status`, {
      status: { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }], hostIP: '127.0.0.1' },
    })
  })

  test('a proxy shows nothing of another plane', async () => {
    const { port } = second.access
    for (const path of [
      `/api/v1/nodes/there/proxy${A}/secrets`,
      `/api/v1/nodes/https:there:${port}/proxy${A}/secrets`,
      `${A}/pods/https:there:${port}/proxy${A}/secrets`,
      `${A}/pods/https:there:${port}/proxy/../..${A}/secrets`,
      `${A}/pods/there/log?container=c`,
    ]) {
      const received = await first.send('admin', 'GET', path)
      nothingOfSecond(received)
      expect(received.status, `${path}: ${received.text}`).toBeGreaterThanOrEqual(400)
    }
  })

  test('nothing runs and no port opens there', async () => {
    for (const path of [
      `${A}/pods/there/exec?command=id&stdout=true&container=c`,
      `${A}/pods/there/attach?stdout=true&container=c`,
      `${A}/pods/there/portforward?ports=${second.access.port}`,
    ]) {
      const received = await first.send('admin', 'GET', path, undefined, HANDSHAKE)
      nothingOfSecond(received)
      expect([101, 400, 401, 403, 404, 500, 502, 503], `${path}: ${received.text}`).toContain(received.status)
    }
    // the first plane presents its certificate for kubelets, which the second does not accept
    const lines = readFileSync(logs.second, 'utf8').trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { requestURI: string; responseStatus?: { code: number } })
    const reached = events.filter(({ requestURI }) =>
      /^\/(exec|attach|run|portForward|containerLogs)\//.test(requestURI),
    )
    expect(reached).not.toEqual([])
    expect(new Set(reached.map(({ responseStatus }) => responseStatus?.code))).toEqual(new Set([401]))
  })
})

test('what is measured and audited of one plane is not seen in the other', async () => {
  const mark = 'seen-by-the-second-alone'
  await second.send('admin', 'GET', `${A}/configmaps/${mark}`)
  await second.send('reader', 'GET', `/apis/${mark}.example.com/v1/things`)
  await eventually(() => expect(readFileSync(logs.second, 'utf8')).toContain(mark))
  expect(readFileSync(logs.first, 'utf8')).not.toContain(mark)
  for (const path of ['/metrics', '/metrics/slis', '/debug/shards', '/apis', '/openapi/v2']) {
    const received = await first.send('admin', 'GET', path)
    expect(received.text.includes(mark), path).toBe(false)
    nothingOfSecond(received)
  }
})

describe('names of ControlPlanes', () => {
  const PLANES = '/apis/kedge.dev/v1alpha1/controlplanes'
  const named = (name: string) => ({
    apiVersion: 'kedge.dev/v1alpha1',
    kind: 'ControlPlane',
    metadata: { name },
    spec: { workloads: 'simulated', nodes: 3 },
  })

  test('only the one that is there is ruled by its own', async () => {
    const definition = load(readFileSync(join(import.meta.dirname, '../../../docs/controlplanes.yaml'), 'utf8'))
    await first.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition as object)
    await eventually(async () => expect(answerOf(await first.send('admin', 'GET', PLANES))).toBe('200'))
    for (const name of ['Root', 'ROOT', 'root/', 'root%2f..', '../root', '..', 'rооt', 'root\0', 'r'.repeat(254)]) {
      const { status } = await first.send('admin', 'POST', PLANES, named(name))
      expect(status, name.slice(0, 20)).toBeOneOf([400, 422])
    }
    for (const name of ['other', 'second', 'root-1', 'a.root', 'r'.repeat(253)])
      expect(answerOf(await first.send('admin', 'POST', PLANES, named(name))), name.slice(0, 20)).toBe('422 Invalid')
    for (const path of ['/Root', '/root%2F', '/..%2Froot', '/root/../second', `/${'r'.repeat(20_000)}`]) {
      const received = await first.send('admin', 'GET', `${PLANES}${path}`)
      expect(received.status, path.slice(0, 20)).toBeGreaterThanOrEqual(400)
    }
    const before = (await namesIn(first, '/api/v1/nodes')).length
    expect(
      (await first.send('admin', 'POST', PLANES, { ...named('root'), spec: { workloads: 'simulated', nodes: 1 } }))
        .status,
    ).toBe(201)
    await eventually(async () => expect(await namesIn(first, '/api/v1/nodes')).toHaveLength(before + 1))
    expect((await namesIn(second, '/api/v1/nodes')).length).toBeLessThanOrEqual(before)
  })
})
