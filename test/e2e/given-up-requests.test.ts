// Clients disconnect in the middle of requests: the server releases everything that the requests held.
import { request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

let server: KedgeProcess
let client: ApiClient

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
})
afterAll(() => server.stop())

/** Sends a request and aborts it after so many milliseconds. */
const giveUp = (path: string, after: number): Promise<void> =>
  new Promise((done) => {
    const sent = request(`${server.url}${path}`, { agent: false, rejectUnauthorized: false })
    sent.on('response', (answer) => answer.on('error', () => {}).resume())
    sent.on('error', () => {}).on('close', done)
    sent.on('socket', (socket) => socket.on('secureConnect', () => setTimeout(() => sent.destroy(), after)))
    sent.end()
  })

/** @returns the status for system:anonymous, whom the authorizer refuses after it read a fresh snapshot */
const denied = (path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, { rejectUnauthorized: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    })
    asked.on('error', reject).end()
  })

test('seats and shared calls are free again after 300 aborted requests', async () => {
  const paths = ['/api/v1/pods', '/api/v1/pods?watch=1', '/healthz']
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 60 }, (_, n) => giveUp(paths[n % 3]!, (n * 7) % 60)))
  expect(await Promise.all(Array.from({ length: 50 }, () => denied('/api/v1/pods')))).toEqual(Array(50).fill(403))
  // The metrics request itself uses a seat, and now and then a request of the local server's own. The engine aborts a
  // get without notice to its Worker: the seat of that request counts as free after a minute.
  await eventually(async () => {
    const busy = await inUse()
    expect(busy).toContain('apiserver_current_inflight_requests{request_kind="all"} 1')
    expect(busy.filter((line) => line.includes('global-default'))).toEqual([])
  }, 500)
})

/** @returns the metrics lines of seats in use */
async function inUse(): Promise<string[]> {
  let text = ''
  for await (const part of (await client.open('GET', '/metrics')).setEncoding('utf8')) text += part as string
  return text.split('\n').filter((line) => /^apiserver_(current_inflight|flowcontrol_current)_.* [1-9]\d*$/.test(line))
}
