// PROVISIONAL (lead): only so that the server runs. Its owner replaces the whole file, keeping these exports' names.
import { StatusError, internalError } from '../api/status.ts'
import type { Status } from '../api/status.ts'
import type { KubeObject } from '../api/object.ts'
import type { OutputNegotiation } from './negotiate.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ResourceScope } from '../endpoints/resource-scope.ts'
import type { ListShape, StoredValue } from '../storage/storage.ts'
import { apiVersionOf } from '../api/group-version.ts'

const baseHeaders = (request: ApiRequest, type = 'application/json'): Headers => {
  const headers = new Headers({ 'Content-Type': type, 'Cache-Control': 'no-cache, private', 'Audit-Id': request.auditId })
  for (const text of new Set(request.warnings)) headers.append('Warning', `299 - ${JSON.stringify(text)}`)
  return headers
}
const json = (request: ApiRequest, status: number, body: unknown) =>
  new Response(JSON.stringify(body) + '\n', { status, headers: baseHeaders(request) })

export function respondStatus(request: ApiRequest, error: unknown): Response {
  if (!(error instanceof StatusError)) console.error(error instanceof Error ? error.stack : error)
  const known = error instanceof StatusError ? error : internalError(String(error))
  return json(request, known.code, known.status)
}
export function respondObject(scope: ResourceScope, _o: OutputNegotiation, status: number, object: KubeObject | StoredValue): Response {
  if ('text' in object) return new Response(object.text + '\n', { status, headers: baseHeaders(scope.request) })
  return json(scope.request, status, object)
}
export const respondSuccess = (scope: ResourceScope, _o: OutputNegotiation, status: Status): Response => json(scope.request, 200, status)
export function respondItems(scope: ResourceScope, _o: OutputNegotiation, list: { revision: number; items: KubeObject[] }): Response {
  return json(scope.request, 200, { kind: scope.entry.listKind, apiVersion: apiVersionOf(scope.kind), metadata: { resourceVersion: String(list.revision) }, items: list.items })
}
export const listShape = (scope: ResourceScope, _o: OutputNegotiation): ListShape => ({
  as: 'items',
  without: `{"kind":"${scope.storageKind.kind}","apiVersion":"${apiVersionOf(scope.storageKind)}",`,
})
export function respondList(scope: ResourceScope, _o: OutputNegotiation, list: { revision: number; continueToken?: string; remaining?: number; count: number; values: ReadableStream<Uint8Array>; shape?: ListShape }): Response {
  const meta = { resourceVersion: String(list.revision), continue: list.continueToken, remainingItemCount: list.remaining || undefined }
  const head = `{"kind":"${scope.entry.listKind}","apiVersion":"${apiVersionOf(scope.kind)}","metadata":${JSON.stringify(meta)},"items":[`
  const { readable, writable } = new IdentityTransformStream()
  const encoder = new TextEncoder()
  scope.request.waitUntil(
    (async () => {
      const writer = writable.getWriter()
      await writer.write(encoder.encode(head))
      writer.releaseLock()
      await list.values.pipeTo(writable, { preventClose: true })
      const end = writable.getWriter()
      await end.write(encoder.encode(']}\n'))
      await end.close()
    })(),
  )
  return new Response(readable, { headers: baseHeaders(scope.request) })
}
export const watchHeaders = (scope: ResourceScope, _o: OutputNegotiation): Headers => {
  const headers = baseHeaders(scope.request)
  headers.set('Content-Encoding', 'identity')
  return headers
}
