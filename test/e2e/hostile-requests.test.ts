// Requests beyond the limits of SQLite and of Durable Objects: the server answers with a Status that names the limit,
// or the request works.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import type { Answer } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: KedgeProcess
let client: ApiClient

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  for (const [name, color] of [
    ['red', 'red'],
    ['blue', 'blue'],
  ] as const)
    await client.send('POST', CONFIG_MAPS, { metadata: { name, labels: { color } } })
})
afterAll(async () => {
  client.close()
  await server.stop()
})

const numbered = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const names = ({ body }: Answer): (string | undefined)[] => body.items?.map(({ metadata }) => metadata.name) ?? []
const selector = (requirements: readonly string[]): string => encodeURIComponent(requirements.join(','))

/** Requirements that "red" meets, in every form, and more of them than a SQLite statement has parameters. */
const wide: readonly (readonly [what: string, query: string])[] = [63, 64, 65, 100, 1_000, 3_000].flatMap((n) => [
  [`in ${n} values`, `labelSelector=${selector([`color in (red,${numbered(n, (i) => `v${i}`).join(',')})`])}`] as const,
  [`${n} times in`, `labelSelector=${selector(numbered(Math.min(n, 1_000), () => 'color in (red,green)'))}`] as const,
  [`not in ${n} keys`, `labelSelector=${selector(['color=red', ...numbered(n, (i) => `k${i}!=v`)])}`] as const,
  [
    `${n} fields that differ`,
    `fieldSelector=${selector(['metadata.name=red', ...numbered(Math.min(n, 1_500), (i) => `metadata.name!=n${i}`)])}`,
  ] as const,
])

test.each(wide)('a list selects %s', async (_, query) => {
  expect(query.length).toBeLessThan(65_000)
  expect(names(await client.send('GET', `${CONFIG_MAPS}?${query}`))).toEqual(['red'])
  // The same list is read from the log.
  const { body } = await client.send('GET', CONFIG_MAPS)
  const past = `resourceVersionMatch=Exact&resourceVersion=${body.metadata.resourceVersion}`
  expect(names(await client.send('GET', `${CONFIG_MAPS}?${past}&${query}`))).toEqual(['red'])
})

test('a name, a namespace and a field of any length are not found', async () => {
  for (const length of [300, 10_000, 60_000]) {
    const long = 'n'.repeat(length)
    expect(await client.send('GET', `${CONFIG_MAPS}/${long}`)).toMatchObject({
      status: 404,
      body: { reason: 'NotFound' },
    })
    expect(names(await client.send('GET', `/api/v1/namespaces/${long}/configmaps`))).toEqual([])
    expect(names(await client.send('GET', `${CONFIG_MAPS}?fieldSelector=metadata.name%3D${long}`))).toEqual([])
  }
})

test('a URL that is too long for the engine is refused with a Status', async () => {
  for (const query of [
    `labelSelector=${selector(numbered(9_000, (n) => `key${n}`))}`,
    `continue=${'A'.repeat(100_000)}`,
  ])
    expect(await client.send('GET', `${CONFIG_MAPS}?${query}`)).toMatchObject({
      status: 414,
      body: {
        kind: 'Status',
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: path and query may have 65000 octets when they are percent-encoded',
      },
    })
})

test('a watch takes a selector that fits its socket attachment, and refuses a longer one', async () => {
  const first = async (values: number): Promise<{ type: string; object: Answer['body'] & { code?: number } }> => {
    const query = `labelSelector=${selector([`color in (red,${numbered(values, (n) => `value${n}`).join(',')})`])}`
    const stream = await client.open('GET', `${CONFIG_MAPS}?watch=1&resourceVersion=0&${query}`)
    for await (const text of stream.setEncoding('utf8')) return JSON.parse((text as string).split('\n')[0] ?? '')
    throw new Error('the stream ended')
  }
  expect(await first(1_000)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'red' } } })
  expect(await first(3_000)).toMatchObject({
    type: 'ERROR',
    object: {
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: the selectors of a watch may have 16000 bytes as JSON',
    },
  })
})

test('objects are stored up to the size limit of a row, and refused above it', async () => {
  const pod = (length: number): unknown => ({
    metadata: { name: `pod-${length}` },
    spec: { containers: [{ name: 'c', image: 'i', args: ['ü'.repeat(length / 2)] }] },
  })
  expect((await client.send('POST', '/api/v1/namespaces/default/pods', pod(1_560_000))).status).toBe(201)
  expect(await client.send('POST', '/api/v1/namespaces/default/pods', pod(1_600_000))).toMatchObject({
    status: 413,
    body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 1572864' },
  })
  // The row holds labels twice, and managedFields hold their names once more.
  const labels = (count: number): unknown => ({
    metadata: {
      name: `labels-${count}`,
      labels: Object.fromEntries(
        numbered(count, (n) => [`${'p'.repeat(200)}.io/${'k'.repeat(40)}${n}`, 'v'.repeat(60)] as const),
      ),
    },
  })
  expect((await client.send('POST', CONFIG_MAPS, labels(1_500))).status).toBe(201)
  for (const [count, limit] of [
    [2_500, 2_000_000],
    [4_000, 1_572_864],
  ] as const)
    expect(await client.send('POST', CONFIG_MAPS, labels(count))).toMatchObject({
      status: 413,
      body: { reason: 'RequestEntityTooLarge', message: `Request entity too large: limit is ${limit}` },
    })
  // An update has the same limit. A refused update leaves the object as it was.
  const { body } = await client.send('GET', '/api/v1/namespaces/default/pods/pod-1560000')
  const annotated = { ...body, metadata: { ...body.metadata, annotations: { more: 'x'.repeat(100_000) } } }
  expect((await client.send('PUT', '/api/v1/namespaces/default/pods/pod-1560000', annotated)).status).toBe(413)
  expect((await client.send('GET', '/api/v1/namespaces/default/pods/pod-1560000')).body).toEqual(body)
})
