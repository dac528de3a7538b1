// Calls that leave a local server for the engine, which can pin no authority: to webhooks here, all others in
// outgoing-exchanges.ts. The engine posts each to a socket
// in a directory that only the user who started the server may enter (src/webhooks/by-front.ts).
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { listenAt } from './listen-at.ts'
import { FAILED, RETRY_HEADER, STATUS_HEADER, TYPE_HEADER } from '../webhooks/by-front.ts'
import { DEADLINE } from '../webhooks/failure-text.ts'
import type { OutgoingAnswer, OutgoingCall } from '../webhooks/outgoing-call.ts'
import { CallFailed, MAX_ANSWER } from '../webhooks/outgoing-call.ts'
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
// as many as were busy at once: a handshake costs more than a call
const MAX_IDLE = MAX_SOCKETS
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
  await listenAt(server, socket)
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
  const ending = new Ending()
  // the engine no longer wants the answer
  response.once('close', () => response.writableFinished || ending.comes('given up'))
  try {
    const { call, body } = await readCall(request)
    ending.at(call.timeoutMs)
    const answer = await made(agent, call, body, ending)
    response.writeHead(200, {
      [STATUS_HEADER]: String(answer.status),
      [TYPE_HEADER]: answer.contentType,
      [RETRY_HEADER]: answer.retryAfter ?? '',
      'content-length': answer.body.length,
    })
    response.end(answer.body)
  } catch (error) {
    if (response.destroyed) return
    const failure = ending.why === 'too late' ? { code: DEADLINE, message: '' } : failureOf(error)
    response.writeHead(FAILED, { 'content-type': 'application/json' }).end(JSON.stringify(failure))
  } finally {
    ending.forget()
  }
}

/** The end of a call before its answer. An AbortSignal does the same, and costs as much as the call. */
class Ending {
  why: 'too late' | 'given up' | undefined
  private timer: NodeJS.Timeout | undefined
  private end = (): void => {}

  at(milliseconds: number): void {
    this.timer = setTimeout(() => this.comes('too late'), milliseconds)
  }

  /** @param end ends what is under way; at once where the end came already */
  during(end: () => void): void {
    this.end = end
    if (this.why !== undefined) end()
  }

  comes(why: 'too late' | 'given up'): void {
    this.why ??= why
    this.end()
  }

  forget(): void {
    clearTimeout(this.timer)
    this.end = () => {}
  }
}

async function readCall(request: IncomingMessage): Promise<{ call: OutgoingCall; body: Buffer }> {
  const whole = await bytesOf(request)
  const end = whole.indexOf('\n')
  // the engine writes it (webhooks/by-front.ts), and nobody else can: checking it cost as much as a tenth of the call
  const call = JSON.parse(whole.toString('utf8', 0, end)) as OutgoingCall
  if (!call.url.startsWith('https:')) throw new CallFailed('only https is called')
  return { call, body: whole.subarray(end + 1) }
}

/** @throws CallFailed where they are more than `most` */
function bytesOf(message: IncomingMessage, most = Infinity): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    message.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > most) message.destroy(new CallFailed(`the answer is longer than ${most} bytes`))
      else chunks.push(chunk)
    })
    message.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    message.once('error', reject)
  })
}

/**
 * A connection that had waited may have been closed just now by the other side, and others with it: the call is made once
 * more then, on a new one.
 */
async function made(agent: Agent, call: OutgoingCall, body: Buffer, ending: Ending): Promise<OutgoingAnswer> {
  const first = new Attempt()
  try {
    return await first.make(agent, call, body, ending)
  } catch (error) {
    if (!first.onUsedConnection || ending.why !== undefined) throw error
    return new Attempt().make(false, call, body, ending)
  }
}

class Attempt {
  onUsedConnection = false

  async make(agent: Agent | false, call: OutgoingCall, body: Buffer, ending: Ending): Promise<OutgoingAnswer> {
    const { method = 'POST', url, serverName, caBundle, clientCertificate, headers } = call
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(
        url,
        {
          agent,
          method,
          headers: method === 'GET' ? headers : { ...headers, 'Content-Length': body.length },
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
      ending.during(() => void request.destroy())
      if (method === 'GET') request.end()
      else request.end(body)
    })
    return {
      status: answer.statusCode ?? 0,
      contentType: answer.headers['content-type'] ?? '',
      retryAfter: answer.headers['retry-after'] ?? '',
      body: await bytesOf(answer, MAX_ANSWER),
    }
  }
}
