/** The backends that receive audit events: Workers Logs, the file of a local server, a webhook. */
import type { Backend } from './sink.ts'

/** Writes one line on the console for each event. */
export const consoleBackend = (write: (line: string) => void = console.log): Backend => ({
  name: 'log',
  async send(events) {
    for (const event of events) write(event)
  },
})

const TIMEOUT_MS = 10_000

interface Fetches {
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** Sends events to the process in front of a local server, which writes them to a file (cli/engine/audit-log.ts). */
export const fileBackend = (front: Fetches): Backend => ({
  name: 'log',
  async send(events) {
    const answer = await front.fetch('http://audit/', {
      method: 'POST',
      body: events.map((event) => `${event}\n`).join(''),
      signal: AbortSignal.timeout(TIMEOUT_MS), // a disk may hang
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the audit log answered ${answer.status}`)
  },
})

export interface WebhookTarget {
  readonly url: string
  readonly token?: string | undefined
}

/** POSTs an EventList, as kube-apiserver does. A response other than 2xx is a failure. */
export const webhookBackend = ({ url, token }: WebhookTarget, network: Fetches = globalThis): Backend => ({
  name: 'webhook',
  async send(events) {
    const answer = await network.fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(',')}]}`,
      redirect: 'manual', // a redirect must not carry the token to another host
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new Error(`the audit webhook answered ${answer.status}`)
  },
})
