// The work of a create grows linearly with the elements of each list field of each built-in kind, from body to storage.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'
import { CountedWork } from './counted-work.ts'
import { listFields } from './list-fields.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

let work: CountedWork
beforeAll(async () => {
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } }
  await server.put('', 'serviceaccounts', account)
  work = await CountedWork.start()
})
afterAll(() => work.stop())

const create = (url: string, body: string): Promise<Response> => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  return answer(server.request(url, { method: 'POST', body, headers }))
}

/** The server does not look into lists above their limit, so the cost below a limit does not predict the cost above. */
const ABOVE_LIMITS = 150

/** The most growth that passes: linear work gives 2, quadratic work gives 4. */
const LINEAR = 3.3

/**
 * Work jumps once, at the size from which it goes in parts, and other work of the server may end while one size is
 * counted. Quadratic work exceeds the limit each time.
 */
async function expectLinear(growthFrom: (n: number) => Promise<number>, n: number): Promise<void> {
  let growth = Infinity
  for (const size of [n, n, 4 * n]) if (growth >= LINEAR) growth = await growthFrom(size)
  expect(growth).toBeLessThan(LINEAR)
}

const all = listFields()

test('there are many', () => expect(all.length).toBeGreaterThan(200))

/** Lists in which a Pod may repeat elements and gets a warning. The server looks for repetitions only in valid Pods. */
const repeated: Readonly<Record<string, (n: number) => object>> = {
  'the same port': (n) => ({ ports: Array.from({ length: n }, () => ({ containerPort: 80 })) }),
  'ports of the same host port, each at an address of its own': (n) => ({
    ports: Array.from({ length: n }, (_, index) => ({
      containerPort: 80,
      hostPort: 80,
      hostIP: `10.0.${index >> 8}.${index & 255}`,
    })),
  }),
  'the same variable': (n) => ({ env: Array.from({ length: n }, () => ({ name: 'A', value: '$(A)b' })) }),
  'the same source of variables': (n) => ({
    envFrom: Array.from({ length: n }, () => ({ configMapRef: { name: 'a' } })),
  }),
}

test.each(Object.entries(repeated))('a container with %s', async (_, container) => {
  const pod = (n: number) =>
    JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { generateName: 'a-' },
      spec: { containers: [{ name: 'c', image: 'i', ...container(n) }] },
    })
  const send = async (body: string) => {
    const response = await create('/api/v1/namespaces/default/pods?dryRun=All', body)
    expect(response.status).toBe(201)
    return response
  }
  await expectLinear((n) => work.growth(pod, send, n), 4 * ABOVE_LIMITS)
})

test.each(all)('$path', async ({ url, object }) => {
  const growthFrom = (n: number) =>
    work.growth(
      (count) => JSON.stringify(object(count)),
      (body) => create(url, body),
      n,
    )
  await expectLinear(growthFrom, ABOVE_LIMITS)
})
