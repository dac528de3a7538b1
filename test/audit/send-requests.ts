/** Sends the requests of requests.ts in order, and normalizes the audit events that a server wrote. */
import { request as send } from 'node:https'
import type { AuditedRequest } from './requests.ts'

export interface Credentials {
  readonly url: string
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

export async function sendRequests(requests: readonly AuditedRequest[], to: Credentials): Promise<void> {
  for (const one of requests) await sendOne(one, to)
}

function sendOne({ name, method, path, headers, body, as }: AuditedRequest, to: Credentials): Promise<void> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return new Promise((resolve, reject) => {
    const sent = send(
      `${to.url}${path}`,
      {
        method: method ?? 'GET',
        agent: false,
        ca: to.ca,
        ...(as === undefined ? { cert: to.certificate, key: to.key } : {}),
        headers: {
          'User-Agent': 'audited/1.0',
          Accept: 'application/json',
          'Audit-Id': name,
          ...(text === undefined
            ? {}
            : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
          ...(as === 'bad token' ? { Authorization: 'Bearer not-a-token' } : {}),
          ...headers,
        },
      },
      (answer) => {
        answer.resume()
        answer.on('end', resolve).on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type AuditEvent = { readonly auditID: string; readonly stage: string } & { readonly [key: string]: Json }

/** An age in a Table. */
const AGE = /^\d+(?:s|m)(?:\d+s)?$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The events of the requests, in order, without values that differ from run to run. */
export function comparable(log: string, requests: readonly AuditedRequest[]): AuditEvent[] {
  const events = log
    .split('\n')
    .filter((line) => line !== '')
    // each line of an audit log is an event
    .map((line) => JSON.parse(line) as AuditEvent)
  const names = new Map(requests.map(({ name }, index) => [name, index]))
  return events
    .filter(({ auditID }) => names.has(auditID))
    .sort((a, b) => names.get(a.auditID)! - names.get(b.auditID)!)
    .map((event) => normalised(event, '') as AuditEvent) // an object stays an object
}

function normalised(value: Json, key: string): Json {
  if (typeof value === 'string') {
    if (key === 'resourceVersion' && value !== '0' && value !== '1') return 'REVISION'
    if (key === 'name' && value.startsWith('some-')) return 'some-NAME'
    if (TIME.test(value)) return value.length > 20 ? 'MICROTIME' : 'TIME'
    if (key === 'continue') return 'CONTINUE'
    if (AGE.test(value)) return 'AGE'
    return value.replace(UUID, 'UUID').replace(/X509SHA256=[0-9a-f]{64}/, 'X509SHA256')
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => normalised(one, ''))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, normalised(one, name)]))
}
