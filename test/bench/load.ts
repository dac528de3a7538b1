// Generates load from this process: clients with one request in flight each, over kept connections.
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
  /** Absent: JSON. */
  readonly contentType?: string
  readonly accept?: string
  /** The user to impersonate. */
  readonly as?: string
}

export function open(target: Target, { method, path, body, contentType, accept, as }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method,
      agent: target.agent,
      headers: {
        ...(target.token === undefined ? {} : { Authorization: `Bearer ${target.token}` }),
        ...(accept === undefined ? {} : { Accept: accept }),
        ...(as === undefined ? {} : { 'Impersonate-User': as }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': contentType ?? 'application/json', 'Content-Length': Buffer.byteLength(body) }),
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
  /** Milliseconds until the first byte of the body. */
  readonly firstByte: number
  /** Milliseconds. */
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

/** @throws on a status of 400 and above */
export async function succeed(target: Target, call: Call): Promise<Answer> {
  const answer = await send(target, call)
  if (answer.status >= 400) throw new Error(`${call.method} ${call.path}: ${answer.status}`)
  return answer
}

/**
 * Each of `clients` sends requests one after the other for `seconds`. @returns the milliseconds of each request
 * @throws on a status of 400 and above
 */
export async function load(target: Target, clients: number, seconds: number, next: () => Call): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + seconds * 1000
  const client = async (): Promise<void> => {
    while (performance.now() < until) times.push((await succeed(target, next())).total)
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times
}

/** Sends calls 0 to `count`, one at a time for each client. @throws on a status of 400 and above */
export async function fill(target: Target, clients: number, count: number, next: (n: number) => Call): Promise<void> {
  let n = 0
  const client = async (): Promise<void> => {
    while (n < count) await succeed(target, next(n++))
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** The quantile: the value below which a `share` of the values lies. */
export function part(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export const median = (values: readonly number[]): number => part(values, 0.5)

export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))
