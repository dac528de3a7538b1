import { expect, test, vi } from 'vitest'
import { fileBackend, webhookBackend } from '../../src/audit/backends.ts'

const network = (status: number, sent: Request[] = []) => ({
  sent,
  async fetch(url: string, init: RequestInit) {
    sent.push(new Request(url, init))
    return new Response(status === 204 ? null : 'no matter', { status })
  },
})

const silent = () => ({
  fetch: (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      if (signal?.aborted === true) reject(signal.reason as Error)
    }),
})

test('a webhook gets an EventList, with its token', async () => {
  const { sent, ...there } = network(200)
  await webhookBackend({ url: 'https://audit.example/', token: 't' }, there).send(['{"a":1}', '{"b":2}'])
  expect(sent[0]!.headers.get('Authorization')).toBe('Bearer t')
  expect(await sent[0]!.json()).toEqual({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    metadata: {},
    items: [{ a: 1 }, { b: 2 }],
  })
})

test.each([
  ['a webhook', webhookBackend({ url: 'https://audit.example/events' }, silent())],
  ['the file of a disk', fileBackend(silent())],
])('%s that says nothing is given up', async (_, backend) => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('too late')))
  await expect(backend.send(['{}'])).rejects.toThrow('too late')
  expect(timeout).toHaveBeenCalledOnce()
  timeout.mockRestore()
})

test('the front gets lines', async () => {
  const { sent, ...there } = network(204)
  await fileBackend(there).send(['{"a":1}', '{"b":2}'])
  expect(await sent[0]!.text()).toBe('{"a":1}\n{"b":2}\n')
})

test.each([302, 404, 500])('any other answer is a failure: %i', async (status) => {
  await expect(webhookBackend({ url: 'https://audit.example/' }, network(status)).send(['{}'])).rejects.toThrow()
  await expect(fileBackend(network(status)).send(['{}'])).rejects.toThrow()
})
