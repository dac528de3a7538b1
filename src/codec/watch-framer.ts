// PROVISIONAL (lead): only so that the server runs. Its owner replaces the whole file, keeping these exports' names.
import { apiVersionOf } from '../api/group-version.ts'
import type { StatusError } from '../api/status.ts'
import type { ResourceScope } from '../endpoints/resource-scope.ts'
import type { OutputNegotiation } from './negotiate.ts'

export interface WatchFramer {
  readonly isText: boolean
  readonly passesLines: boolean
  event(type: string, text: string): Uint8Array | undefined
  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array
  error(status: StatusError): Uint8Array
}
const encoder = new TextEncoder()
export const watchFramer = (scope: ResourceScope, _o: OutputNegotiation): WatchFramer => ({
  isText: true,
  passesLines: true,
  event: (type, text) => encoder.encode(`{"type":"${type}","object":${text}}\n`),
  bookmark: (revision, end) => encoder.encode(JSON.stringify({ type: 'BOOKMARK', object: { kind: scope.kind.kind, apiVersion: apiVersionOf(scope.kind), metadata: { resourceVersion: String(revision), ...(end ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}) } } }) + '\n'),
  error: (status) => encoder.encode(JSON.stringify({ type: 'ERROR', object: status.status }) + '\n'),
})
