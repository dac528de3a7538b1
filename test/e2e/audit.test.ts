// The audit log of a local server, compared event by event with the log of kube-apiserver for the same requests.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../eventually.ts'
import { requests } from '../audit/requests.ts'
import { comparable, sendRequests } from '../audit/send-requests.ts'
import type { AuditEvent } from '../audit/send-requests.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'

const FIXTURES = join(import.meta.dirname, '../audit')
// the fixture is the project's own
const recorded = JSON.parse(readFileSync(join(FIXTURES, 'kube-apiserver.json'), 'utf8')) as AuditEvent[]

/** kube-apiserver cannot encode a patch in YAML as JSON, and loses the event. */
const LOST_BY_KUBE_APISERVER = ['apply']

/** The resource that each controller writes into a new namespace. */
const CONTROLLERS = { 'service-account-controller': 'serviceaccounts', 'root-ca-cert-publisher': 'configmaps' }

function isWrittenBy(controllers: Readonly<Record<string, string>>, text: string): boolean {
  // Each line of the log is an event. The last line may be incomplete.
  const lines = text.split('\n').slice(0, -1)
  const events = lines.map((line) => JSON.parse(line) as AuditEvent & { user: { username?: string } })
  const writes = new Set(events.map(({ user, verb, requestURI }) => [user.username, verb, requestURI].join(' ')))
  return Object.entries(controllers).every(([name, resource]) =>
    writes.has(`system:serviceaccount:kube-system:${name} create /api/v1/namespaces/full/${resource}`),
  )
}

const directory = mkdtempSync(join(tmpdir(), 'kedge-audit-'))
const log = join(directory, 'audit.log')
let kedge: KedgeProcess
let written: AuditEvent[]

beforeAll(async () => {
  const audit = ['--audit-policy-file', join(FIXTURES, 'policy.yaml'), '--audit-log-path', log, '--audit-log-mode']
  kedge = await startKedge(['--ephemeral', '--port', '0', ...audit, 'blocking', '-v', '3'])
  const pem = (name: string): string => readFileSync(join(dirname(kedge.kubeconfig), 'pki', name), 'utf8')
  const credentials = { url: kedge.url, ca: pem('ca.crt'), certificate: pem('admin.crt'), key: pem('admin.key') }
  await sendRequests(requests, credentials)
  // The controllers write a moment later.
  await until(() => isWrittenBy(CONTROLLERS, readFileSync(log, 'utf8')))
  await kedge.stop()
  written = comparable(readFileSync(log, 'utf8'), requests)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const eventsOf = (events: readonly AuditEvent[], name: string) => events.filter(({ auditID }) => auditID === name)

test.each(requests.map(({ name }) => name).filter((name) => !LOST_BY_KUBE_APISERVER.includes(name)))(
  '%s has the events of kube-apiserver',
  (name) => expect(eventsOf(written, name)).toEqual(eventsOf(recorded, name)),
)

test('the log has a patch in YAML as JSON', () => {
  expect(eventsOf(written, 'apply').at(-1)).toMatchObject({
    stage: 'ResponseComplete',
    requestObject: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
    responseStatus: { code: 201 },
  })
})

test('the log has the writes of controllers, under their names', () => {
  expect(isWrittenBy(CONTROLLERS, readFileSync(log, 'utf8'))).toBe(true)
})

test('the log has no content of Secrets and tokens, whatever the policy says', () => {
  const text = readFileSync(log, 'utf8')
  expect(text).not.toContain('hidden')
  expect(text).not.toContain('not-a-token')
})

test('the access log has a line of each request, with its auditID', () => {
  const lines = kedge
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  // each of these lines is a LogFields
  const logged = lines.map((line) => JSON.parse(line) as { message: string; auditID: string })
  const ids = new Set(logged.filter(({ message }) => message === 'HTTP').map(({ auditID }) => auditID))
  expect(requests.map(({ name }) => name).filter((name) => !ids.has(name))).toEqual([])
})
