// A server in this process that keeps all data in memory. It runs the engine's code, and the bench can measure its
// steps.
// told of by walks of this server
export { lost } from '../../src/base/walk-progress.ts'
import { respondStatus } from '../../src/codec/respond.ts'
import { parseApiVersion } from '../../src/api/group-version.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { encodeCborValue } from '../../src/codec/cbor/encode.ts'
import { encodeProtobuf } from '../../src/codec/protobuf/envelope.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { Env } from '../../src/env.ts'
import { answer } from '../../src/server.ts'
import { loadPatterns } from '../../src/validation/go-pattern.ts'
import { memoryServer } from '../request-in-memory.ts'
import { definition } from './large-bodies-cases.ts'
import type { Call } from './load.ts'

type Sent = Omit<Call, 'body'> & {
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** A watch: the bench reads only its first bytes. */
  readonly isWatch?: boolean
}

const TOKEN = 'an-administrator-whose-token-is-long-enough'

/** `text` is the begin of the answer. */
export type Send = (call: Sent) => Promise<{ readonly status: number; readonly text: string }>

/** Stores an object without validation or admission. Definitions must be stored before the first request. */
export type Put = ReturnType<typeof memoryServer>['put']

/** Starts a server that has a namespace, its ServiceAccount and these definitions. */
export async function memoryTarget(
  settings: Partial<Env> = {},
  definitions: readonly Definition[] = [],
): Promise<Send & { readonly put: Put }> {
  // workerd has this class
  if (!('IdentityTransformStream' in globalThis))
    Object.assign(globalThis, { IdentityTransformStream: TransformStream })
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, ...settings })
  await loadPatterns()
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } }
  await server.put('', 'serviceaccounts', account)
  for (const { metadata, spec } of [JSON.parse(definition.body!) as Definition, ...definitions]) {
    const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }))
    await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
      metadata: { ...metadata, generation: 1 },
      spec,
      status: { acceptedNames: spec.names, storedVersions: ['v1'], conditions },
    })
  }
  const answered: Send = async ({ method, path, body, contentType = 'application/json', accept, as, isWatch }) => {
    const headers = {
      Authorization: `Bearer ${TOKEN}`,
      ...(body === undefined ? {} : { 'Content-Type': contentType }),
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(as === undefined ? {} : { 'Impersonate-User': as }),
    }
    const request = server.request(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const response = await answer(request).catch((error: unknown) => respondStatus(request, error))
    return { status: response.status, text: await startOf(response.body, isWatch === true) }
  }
  return Object.assign(answered, { put: server.put.bind(server) })
}

/** Bytes of an answer that are decoded. The rest is read and dropped, as decoding it is no work of the server. */
const SHOWN = 1024

async function startOf(body: ReadableStream<Uint8Array> | null, isWatch: boolean): Promise<string> {
  const reader = body?.getReader()
  const first = (await reader?.read())?.value?.subarray(0, SHOWN)
  if (isWatch) await reader?.cancel()
  else while ((await reader?.read())?.done === false);
  return new TextDecoder().decode(first)
}

/** A case may give a protobuf or CBOR body as JSON: the cost of encoding belongs to the client, not to the server. */
export function encoded(call: Call): Sent {
  const { body, contentType = '' } = call
  if (body === undefined || !/protobuf|cbor/.test(contentType)) return call
  const object = JSON.parse(body) as JsonObject
  if (contentType.includes('cbor')) return { ...call, body: encodeCborValue(object) as Uint8Array<ArrayBuffer> }
  const type = typeOfKind({ ...parseApiVersion(String(object.apiVersion))!, kind: String(object.kind) })!
  return { ...call, body: encodeProtobuf(type, object) as Uint8Array<ArrayBuffer> }
}

export interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: JsonObject & { readonly names: Record<string, string> }
}
