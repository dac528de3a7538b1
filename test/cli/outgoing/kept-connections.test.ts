/** Many calls to one server that never answers. */
import { createServer } from 'node:https'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import { Ending } from '../../../src/cli/outgoing/call-ending.ts'
import { KeptConnections, MAX_CONNECTIONS, MAX_WAITING, placeOf } from '../../../src/cli/outgoing/kept-connections.ts'
import { byFront } from '../../../src/webhooks/by-front.ts'
import { BUSY, BUSY_IN_ALL } from '../../../src/webhooks/failure-text.ts'

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')

test('a limited number of calls wait for a connection, and later ones are refused', async () => {
  const authority = await createAuthority({ commonName: 'servers' }, new Date(), 30)
  const server = { subject: { commonName: 'server' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { key, certificate } = await issue(authority, server, new Date())
  const held: ServerResponse[] = []
  let isOpen = false
  const listening = createServer({ key, cert: certificate }, (_, response) => {
    if (isOpen) response.end('done')
    else held.push(response)
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  // the server listens on TCP
  const { port } = listening.address() as AddressInfo
  const place = placeOf({ host: '127.0.0.1', port, caBundle: authority.certificate })
  const connections = new KeptConnections()
  const call = () => connections.call(place, REQUEST, { most: 1_000 }, new Ending())

  const calls = Array.from({ length: MAX_CONNECTIONS + MAX_WAITING }, call)
  await expect(call()).rejects.toMatchObject({ code: BUSY })
  while (held.length < MAX_CONNECTIONS) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(held).toHaveLength(MAX_CONNECTIONS)
  isOpen = true
  for (const response of held) response.end('done')
  const answers = await Promise.all(calls)
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(await call()).toMatchObject({ status: 200 })
  connections.close()
  listening.close()
  listening.closeAllConnections()
}, 60_000)

// failurePolicy: Ignore would let such a request through, so a flood of other calls could bypass a webhook
test.each([
  [BUSY, 'too many requests to this host are under way'],
  [BUSY_IN_ALL, 'too many requests to other servers are under way'],
  ['EMFILE', 'socket: too many open files'],
  ['ENFILE', 'socket: too many open files in system'],
  ['ENOBUFS', 'socket: no buffer space available'],
  ['ENOMEM', 'socket: cannot allocate memory'],
])('the engine refuses the request with 429, whatever is to come of calls that fail: %s', async (code, text) => {
  const failure = JSON.stringify({ code, message: code })
  const call = byFront({ fetch: async () => new Response(failure, { status: 502 }) })
  await expect(call({ url: 'https://a', headers: {}, timeoutMs: 1 }, '')).rejects.toMatchObject({
    code: 429,
    message: `${text}, please try again later`,
    headers: { 'Retry-After': '1' },
  })
})
