// Malformed protobuf in bodies that are no object of the resource: DeleteOptions, Evictions, Bindings, Scales,
// statuses, reviews and TokenRequests. The server refuses each, and does nothing with the part that it could read.
import { gzipSync } from 'node:zlib'
import { envelope, field, PROTOBUF, text, typed } from './protobuf-bytes.ts'
import { row } from './row.ts'
import type { Row, Who } from './row.ts'

const A = '/api/v1/namespaces/a'
const BAD = '400 BadRequest'

interface Place {
  readonly who: Who
  readonly request: string
  readonly apiVersion: string
  readonly kind: string
  /** A valid message. */
  readonly message: Uint8Array
  readonly json: object
  readonly taken: string
}

const named = (name: string): Uint8Array => field(1, text(1, name))
const both = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)
const AUTHENTICATION = 'authentication.k8s.io/v1'
const place = (
  who: Who,
  request: string,
  apiVersion: string,
  kind: string,
  message: Uint8Array,
  json: object,
  taken: string,
): Place => ({ who, request, apiVersion, kind, message, json: { apiVersion, kind, ...json }, taken })

const OPTIONS = text(5, 'All')
const DRY = { dryRun: ['All'] }
const UNBOUND = { metadata: { name: 'unbound' } }
const places: readonly Place[] = [
  place('owner', `DELETE ${A}/configmaps/ghost`, 'v1', 'DeleteOptions', OPTIONS, DRY, '404 NotFound'),
  place('owner', `DELETE ${A}/configmaps?labelSelector=x%3Dy`, 'v1', 'DeleteOptions', OPTIONS, DRY, '200'),
  place(
    'owner',
    `POST ${A}/pods/unbound/eviction?dryRun=All`,
    'policy/v1',
    'Eviction',
    named('unbound'),
    UNBOUND,
    '201',
  ),
  ...[`${A}/pods/unbound/binding`, `${A}/bindings`].map((path) =>
    place(
      'owner',
      `POST ${path}?dryRun=All`,
      'v1',
      'Binding',
      both(named('unbound'), field(2, text(3, 'n1'))),
      { ...UNBOUND, target: { name: 'n1' } },
      '201',
    ),
  ),
  place('owner', `PUT ${A}/pods/unbound/status?dryRun=All`, 'v1', 'Pod', named('unbound'), UNBOUND, '200'),
  place(
    'owner',
    'PUT /apis/apps/v1/namespaces/a/deployments/ghost/scale?dryRun=All',
    'autoscaling/v1',
    'Scale',
    both(named('ghost'), field(2, Buffer.from([8, 1]))),
    { metadata: { name: 'ghost' }, spec: { replicas: 1 } },
    '404 NotFound',
  ),
  place(
    'admin',
    `POST /apis/${AUTHENTICATION}/tokenreviews`,
    AUTHENTICATION,
    'TokenReview',
    field(2, text(1, 'none')),
    { spec: { token: 'none' } },
    '201',
  ),
  place(
    'owner',
    `POST ${A}/serviceaccounts/nobody/token?dryRun=All`,
    AUTHENTICATION,
    'TokenRequest',
    field(2, new Uint8Array()),
    { spec: {} },
    '201',
  ),
  place(
    'owner',
    'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    field(2, field(2, both(text(1, '/x'), text(2, 'get')))),
    { spec: { nonResourceAttributes: { path: '/x', verb: 'get' } } },
    '201',
  ),
]

const good = ({ apiVersion, kind, message }: Place): Uint8Array => envelope(apiVersion, kind, message)
const withMore = (one: Place, ...more: readonly number[]): Uint8Array =>
  envelope(one.apiVersion, one.kind, both(one.message, Buffer.from(more)))

const LIES: readonly (readonly [what: string, make: (place: Place) => Uint8Array])[] = [
  ['JSON', ({ json }) => Buffer.from(JSON.stringify(json))],
  ['no prefix', (one) => good(one).subarray(4)],
  ['a prefix alone', (one) => good(one).subarray(0, 4)],
  ['an envelope cut off', (one) => good(one).subarray(0, -1)],
  ['octets behind the envelope', (one) => both(good(one), Uint8Array.of(0))],
  ['an envelope within', (one) => envelope(one.apiVersion, one.kind, good(one))],
  ['another kind', ({ message }) => envelope('v1', 'ConfigMap', message)],
  ['a kind of Object.prototype', ({ apiVersion, message }) => envelope(apiVersion, 'constructor', message)],
  ['the kind in small letters', ({ apiVersion, kind, message }) => envelope(apiVersion, kind.toLowerCase(), message)],
  ['JSON within', ({ apiVersion, kind, json }) => envelope(apiVersion, kind, Buffer.from(JSON.stringify(json)))],
  [
    'a message in gzip, as the envelope says',
    ({ apiVersion, kind, message }) => both(envelope(apiVersion, kind, gzipSync(message)), text(3, 'gzip')),
  ],
  ['a length of 2 GB', (one) => withMore(one, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x07)],
  ['a negative length', (one) => withMore(one, 0x0a, ...Array<number>(9).fill(0xff), 1)],
  ['the field number 0', (one) => withMore(one, 0x02, 0x00)],
  ['a group without end', (one) => withMore(one, 0x9b, 0x06)],
  ['the end of a group alone', (one) => withMore(one, 0x9c, 0x06)],
  ['a number of eleven octets', (one) => withMore(one, 0x98, 0x06, ...Array<number>(10).fill(0xff), 1)],
  ['a wire type that is none', (one) => withMore(one, 0x9f, 0x06)],
  [
    'a first field of another type',
    (one) => withMore(one, ...(one.kind === 'DeleteOptions' ? text(1, 'x') : [0x08, 0x01])),
  ],
  [
    'what all others follow in, of 2^63 octets',
    ({ apiVersion, kind }) => envelope(apiVersion, kind, Buffer.from([0x12, ...Array<number>(8).fill(0xff), 0x7f])),
  ],
]

export const untrueBodies: readonly Row[] = places.flatMap((one) => {
  const { who, request, taken } = one
  const lie = (what: string, type: string, body: unknown, answer = BAD): Row =>
    row(`${one.kind}: ${what}`, who, request, answer, typed(type, body))
  return [
    lie('a good one', PROTOBUF, good(one), taken),
    lie('with a field that nobody knows', PROTOBUF, withMore(one, 0x98, 0x06, 0x01), taken),
    lie('with a hundred thousand groups in one another', PROTOBUF, deep(one), taken),
    // servers read this as a body without a version
    lie('of a version that is none', PROTOBUF, envelope('a/b/c', one.kind, one.message), taken),
    lie('in JSON', 'application/json', one.json, taken),
    ...LIES.map(([what, make]) => lie(what, PROTOBUF, make(one))),
    lie('in protobuf that says JSON', 'application/json', good(one)),
    lie('in protobuf that says YAML', 'application/yaml', good(one)),
    lie('in protobuf that says it is of no server', 'application/x-protobuf', good(one), '415 UnsupportedMediaType'),
    lie('in CBOR, which is not taken', 'application/cbor', Buffer.from([0xa0]), '415 UnsupportedMediaType'),
    lie('two values of JSON', 'application/json', JSON.stringify(one.json).repeat(2)),
    lie('a list of it', 'application/json', [one.json]),
    lie('of another kind in JSON', 'application/json', { ...one.json, kind: 'ConfigMap' }),
    lie('20,000 levels of JSON', 'application/json', '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)),
    // the first document counts
    lie('two documents of YAML', 'application/yaml', `${JSON.stringify(one.json)}\n---\n{"kind":"ConfigMap"}`, taken),
  ]
})

function deep({ apiVersion, kind, message }: Place): Uint8Array {
  const levels = 100_000
  const groups = [
    Buffer.alloc(levels * 2, Buffer.from([0x9b, 0x06])),
    Buffer.alloc(levels * 2, Buffer.from([0x9c, 0x06])),
  ]
  return envelope(apiVersion, kind, both(message, ...groups))
}
