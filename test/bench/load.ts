// Load from this process: so many clients, each with one request under way, over kept connections.
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage, RequestOptions } from 'node:http'

export interface Target {
  readonly url: string
  readonly token?: string
  readonly agent: Agent
}

export function targetOf(url: string, credentials: { token?: string; cert?: string; key?: string } = {}): Target {
  const { token, cert, key } = credentials
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity, rejectUnauthorized: false, cert, key })
  return { url, agent, ...(token === undefined ? {} : { token }) }
}

export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string
}

export function open(target: Target, { method, path, body }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method,
      agent: target.agent,
      headers: {
        ...(target.token === undefined ? {} : { Authorization: `Bearer ${target.token}` }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
    }
    const request = httpsRequest(target.url + path, options, resolve)
    request.once('error', reject)
    request.end(body)
  })
}

export interface Answer {
  readonly status: number
  readonly bytes: number
  /** Milliseconds. */
  readonly firstByte: number
  readonly total: number
}

export async function send(target: Target, call: Call): Promise<Answer> {
  const began = performance.now()
  const response = await open(target, call)
  let bytes = 0
  let firstByte = 0
  for await (const chunk of response) {
    if (bytes === 0) firstByte = performance.now() - began
    bytes += (chunk as Buffer).length
  }
  return { status: response.statusCode ?? 0, bytes, firstByte, total: performance.now() - began }
}

export interface Rate {
  /** Requests a second. */
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly count: number
}

/** As many requests as `clients` can do one after the other in `seconds`. @throws on an answer of 400 and above */
export async function load(target: Target, clients: number, seconds: number, next: (n: number) => Call): Promise<Rate> {
  const times: number[] = []
  const began = performance.now()
  const until = began + seconds * 1000
  let n = 0
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const call = next(n++)
      const { status, total } = await send(target, call)
      if (status >= 400) throw new Error(`${call.method} ${call.path}: ${status}`)
      times.push(total)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const elapsed = (performance.now() - began) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
  return { rate: times.length / elapsed, p50: at(0.5), p99: at(0.99), count: times.length }
}

/** Opens streams and counts the newlines that arrive on all of them. */
export async function countLines(
  target: Target,
  path: string,
  streams: number,
): Promise<{ lines(): number; close(): void }> {
  let lines = 0
  const responses = await Promise.all(
    Array.from({ length: streams }, async () => {
      const response = await open(target, { method: 'GET', path })
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
      })
      response.on('error', () => {})
      return response
    }),
  )
  return { lines: () => lines, close: () => responses.forEach((response) => response.destroy()) }
}
