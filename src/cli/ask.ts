// Makes one request to a running server, as its administrator.
import { Agent, request } from 'node:https'
import type { Server } from './commands/backup.ts'

/** @param accepted further statuses that are no error; the result is then undefined */
export async function ask(
  server: Server,
  method: string,
  path: string,
  body?: unknown,
  accepted: readonly number[] = [],
): Promise<unknown> {
  const { status, text } = await answerTo(server, method, path, body, accepted)
  return status === OK ? JSON.parse(text) : undefined
}

const OK = 200

/** @param accepted further statuses that are no error */
export function answerTo(
  { url, token, authority }: Server,
  method: string,
  path: string,
  body: unknown,
  accepted: readonly number[],
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json' }
    const sent = request(url + path, { method, agent: new Agent({ ca: authority }), headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const status = response.statusCode ?? 0
        if (status === OK || accepted.includes(status)) resolve({ status, text })
        else reject(new Error(`${method} ${path}: ${status} ${messageOf(text).slice(0, 500)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** The message of a Status; another text as it is. */
export function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown } // a Status
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}
