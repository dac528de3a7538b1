import { noteFault } from '../../../src/request/fault.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { largeItems } from '../../../src/base/few-at-once.ts'
import { eventually } from '../../eventually.ts'
import { listStream } from '../../../src/codec/encode/list-body.ts'
import type { ListStream } from '../../../src/codec/encode/list-body.ts'
import { negotiateOutput } from '../../../src/codec/negotiation/negotiate.ts'
import { Presenter } from '../../../src/codec/encode/present.ts'
import { ANONYMOUS } from '../../../src/request/user-info.ts'
import { fakeRequest, fakeScope, NOW } from '../fake-scope.ts'
import { builtInForms } from '../../../src/codec/built-in-forms.ts'

const logged: string[] = []
beforeEach(() => {
  logged.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line))
  // workerd has IdentityTransformStream; in Node the class is called TransformStream
  vi.stubGlobal('IdentityTransformStream', TransformStream)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const line = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"1"}}'

/** A shard that streams some bytes and then fails, or never ends. */
function shard(as: ListStream['as'], breaks: boolean): ListStream {
  let sent = 0
  const values = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (sent++ > 0 && breaks) controller.error(new Error('the shard broke off'))
        else controller.enqueue(new TextEncoder().encode(as === 'lines' ? `${line}\n` : sent > 1 ? `,${line}` : line))
      },
    },
    { highWaterMark: 0 },
  )
  return { as, values, count: undefined }
}

function listOf(stream: ListStream): ReadableStream<Uint8Array> {
  const request = Object.assign(fakeRequest('GET /api/v1/namespaces/default/configmaps'), { user: ANONYMOUS })
  const { resource } = fakeScope('v1/configmaps', request, { storedAsServed: true })
  const presenter = new Presenter(resource, negotiateOutput(request, { kind: 'list', forms: builtInForms }))
  return listStream(presenter, { resourceVersion: '1' }, stream, NOW, (error) => noteFault('list', error, request))
}

describe.each(['lines', 'items'] as const)('a list of %s', (as) => {
  it('fails at the client when its shard breaks off, and the log names the request', async () => {
    await expect(new Response(listOf(shard(as, true))).text()).rejects.toThrow()
    await eventually(() => expect(logged).toHaveLength(1))
    expect(JSON.parse(logged[0]!)).toMatchObject({
      message: 'a list broke off',
      auditID: 'audit',
      method: 'GET',
      path: '/api/v1/namespaces/default/configmaps',
      user: 'system:anonymous',
      error: 'the shard broke off',
    })
  })

  it('a client that disconnects is not logged as a server error', async () => {
    const reader = listOf(shard(as, false)).getReader()
    await reader.read()
    await reader.cancel()
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(logged).toEqual([])
  })
})

it('a client that disconnects while a large item waits for others gets its list ended', async () => {
  let end!: (value?: unknown) => void
  const others = largeItems.run(4 * 1024 * 1024, () => new Promise((resolve) => (end = resolve)))
  const large = line.replace('"resourceVersion"', `"annotations":{"a":"${'x'.repeat(300_000)}"},"resourceVersion"`)
  const cancel = vi.fn()
  const values = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(`${large}\n`)),
    cancel,
  })
  const reader = listOf({ as: 'lines', values, count: undefined }).getReader()
  await reader.read()
  const item = reader.read()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(cancel).not.toHaveBeenCalled()
  await reader.cancel()
  await eventually(() => expect(cancel).toHaveBeenCalled())
  expect((await item).done).toBe(true)
  expect(logged).toEqual([])
  end()
  await others
})

it('has short chunks however long its objects are, because the engine takes many ahead', async () => {
  const long = `{"metadata":{"name":"a","resourceVersion":"1"},"data":{"a":"${'x'.repeat(100_000)}"}}`
  const values = () => new Blob([`${long}\n${line}\n`]).stream() as ReadableStream<Uint8Array>
  const chunks: Uint8Array[] = []
  const list = listOf({ as: 'lines', values: values(), count: undefined })
  for await (const chunk of list as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk)
  expect(Math.max(...chunks.map(({ length }) => length))).toBe(16 * 1024)
  const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: { data: { a: string } }[] }
  expect(items.length).toBe(2)
  expect(items[0]!.data.a.length).toBe(100_000)
})
