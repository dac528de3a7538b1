// Calls that leave a local server for the engine, which can pin no authority: to webhooks here, all others in
// outgoing-exchanges.ts. The engine posts each to a socket
// in a directory that only the user who started the server may enter (src/webhooks/by-front.ts).
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import * as z from 'zod/mini'
import { checked } from './checked.ts'
import { FAILED, RETRY_HEADER, STATUS_HEADER, TYPE_HEADER } from '../webhooks/by-front.ts'
import { DEADLINE } from '../webhooks/failure-text.ts'
import type { OutgoingAnswer, OutgoingCall } from '../webhooks/outgoing-call.ts'
import { CallFailed, readAnswer } from '../webhooks/outgoing-call.ts'
import { EXCHANGE_PATH } from '../outgoing/exchange.ts'
import { OutgoingExchanges } from './outgoing-exchanges.ts'
import type { Credentials } from './outgoing-exchanges.ts'
import { failureOf } from './outgoing-failure.ts'
import { Tunnels } from './tunnels.ts'

export interface OutgoingCalls {
  close(): void
}

/** Connections to one host, and those of them that wait for more to do. */
const MAX_SOCKETS = 128
const MAX_IDLE = 8
const IDLE_MS = 30_000

/** @param credentials that this server shows to others, @param tunnels where the front finds connections to join */
export async function serveOutgoingCalls(
  socket: string,
  credentials: Credentials = {},
  tunnels = new Tunnels(),
): Promise<OutgoingCalls> {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS })
  const exchanges = new OutgoingExchanges(credentials, tunnels)
  const server = createServer((request, response) => {
    if (request.url === EXCHANGE_PATH) void exchanges.serve(request, response)
    else void serve(agent, request, response)
  })
  rmSync(socket, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socket, resolve)
  })
  return {
    close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
      exchanges.close()
      tunnels.close()
    },
  }
}

async function serve(agent: Agent, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = new AbortController()
  response.once('close', () => given.abort()) // the engine no longer wants the answer
  let late: AbortSignal | undefined
  try {
    const { call, body } = await readCall(request)
    late = AbortSignal.timeout(call.timeoutMs)
    const answer = await made(agent, call, body, AbortSignal.any([given.signal, late]))
    response.writeHead(200, {
      [STATUS_HEADER]: String(answer.status),
      [TYPE_HEADER]: answer.contentType,
      [RETRY_HEADER]: answer.retryAfter ?? '',
    })
    response.end(answer.body)
  } catch (error) {
    if (response.destroyed) return
    const failure = late?.aborted ? { code: DEADLINE, message: '' } : failureOf(error)
    response.writeHead(FAILED, { 'content-type': 'application/json' }).end(JSON.stringify(failure))
  }
}

/** As the engine writes it (webhooks/by-front.ts). */
const outgoingCall = z.object({
  method: z.optional(z.literal('GET')),
  url: z.url(),
  serverName: z.optional(z.string()),
  caBundle: z.optional(z.string()),
  clientCertificate: z.optional(z.object({ certificate: z.string(), key: z.string() })),
  headers: z.record(z.string(), z.string()),
  timeoutMs: z.number(),
})

async function readCall(request: IncomingMessage): Promise<{ call: OutgoingCall; body: Buffer }> {
  const chunks: Buffer[] = []
  // an IncomingMessage without an encoding has buffers
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const whole = Buffer.concat(chunks)
  const end = whole.indexOf('\n')
  const call = checked(outgoingCall, JSON.parse(whole.toString('utf8', 0, end)), 'a call of the engine')
  if (new URL(call.url).protocol !== 'https:') throw new CallFailed('only https is called')
  return { call, body: whole.subarray(end + 1) }
}

/** A connection that had waited may have been closed just now by the other side: the call is made once more then. */
async function made(agent: Agent, call: OutgoingCall, body: Buffer, signal: AbortSignal): Promise<OutgoingAnswer> {
  const first = new Attempt()
  try {
    return await first.make(agent, call, body, signal)
  } catch (error) {
    if (!first.onUsedConnection || signal.aborted) throw error
    return new Attempt().make(agent, call, body, signal)
  }
}

class Attempt {
  onUsedConnection = false

  async make(agent: Agent, call: OutgoingCall, body: Buffer, signal: AbortSignal): Promise<OutgoingAnswer> {
    const { method = 'POST', url, serverName, caBundle, clientCertificate, headers } = call
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(
        url,
        {
          agent,
          method,
          headers: method === 'GET' ? headers : { ...headers, 'Content-Length': body.length },
          signal,
          ...(caBundle === undefined ? {} : { ca: caBundle }),
          ...(serverName === undefined ? {} : { servername: serverName }),
          ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
        },
        resolve,
      )
      request.once('error', (error: NodeJS.ErrnoException) => {
        this.onUsedConnection = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(error)
      })
      if (method === 'GET') request.end()
      else request.end(body)
    })
    return {
      status: answer.statusCode ?? 0,
      contentType: answer.headers['content-type'] ?? '',
      retryAfter: answer.headers['retry-after'] ?? '',
      body: await readAnswer(answer),
    }
  }
}
