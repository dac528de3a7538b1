// Bodies with a Content-Encoding, or compressed, in every place that takes a body. kube-apiserver decompresses none.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { row } from './row.ts'
import type { Row } from './row.ts'

const PATH = '/api/v1/namespaces/a/configmaps'
const BAD = '400 BadRequest'
const object = JSON.stringify({ metadata: { name: 'tried' }, data: { k: 'v' } })
const bomb = gzipSync(Buffer.alloc(100_000_000, ' '))
const packed: readonly (readonly [what: string, coding: string, body: Uint8Array])[] = [
  ['gzip', 'gzip', gzipSync(object)],
  ['a bomb in gzip', 'gzip', bomb],
  ['gzip within gzip', 'gzip, gzip', gzipSync(gzipSync(object))],
  ['gzip cut off', 'gzip', gzipSync(object).subarray(0, 20)],
  ['gzip of two members', 'gzip', Buffer.concat([gzipSync('{'), gzipSync('}')])],
  ['gzip with words behind', 'gzip', Buffer.concat([gzipSync(object), Buffer.from(object)])],
  ['deflate', 'deflate', deflateSync(object)],
  ['brotli', 'br', brotliCompressSync(object)],
]
/** Requests that take a body. */
const places: readonly (readonly [request: string, type: string])[] = [
  [`POST ${PATH}?dryRun=All`, 'application/json'],
  [`PUT ${PATH}/one?dryRun=All`, 'application/json'],
  [`PATCH ${PATH}/one?dryRun=All`, 'application/json-patch+json'],
  [`PATCH ${PATH}/one?dryRun=All`, 'application/strategic-merge-patch+json'],
  [`DELETE ${PATH}/one?dryRun=All`, 'application/json'],
  [`DELETE ${PATH}?dryRun=All&labelSelector=x%3Dy`, 'application/json'],
  ['POST /api/v1/namespaces/a/serviceaccounts/owner/token', 'application/json'],
  ['POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'application/json'],
]

export const unpacking: readonly Row[] = [
  ...places.flatMap(([request, type]) =>
    packed.map(([what, coding, body]) =>
      row(`${what} as ${type.slice(12)}`, 'owner', request, BAD, {
        headers: { 'Content-Type': type, 'Content-Encoding': coding },
        body,
      }),
    ),
  ),
  ...packed.map(([what, , body]) =>
    row(`${what} that does not say so`, 'owner', `POST ${PATH}?dryRun=All`, BAD, { body }),
  ),
  ...places.map(([request, type]) =>
    row(
      'a bomb of who may not write',
      'nobody',
      request.replace('selfsubjectaccessreviews', 'subjectaccessreviews'),
      '403 Forbidden',
      {
        headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' },
        body: bomb,
      },
    ),
  ),
  row('a bomb in protobuf', 'owner', `POST ${PATH}?dryRun=All`, BAD, {
    headers: { 'Content-Type': 'application/vnd.kubernetes.protobuf', 'Content-Encoding': 'gzip' },
    body: bomb,
  }),
  row('a bomb in YAML', 'owner', `POST ${PATH}?dryRun=All`, BAD, {
    headers: { 'Content-Type': 'application/yaml', 'Content-Encoding': 'gzip' },
    body: bomb,
  }),
]
