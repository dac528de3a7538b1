// Malformed CBOR in every place that takes a body: options, reviews, subresources and apply configurations.
import {
  BREAK,
  bytes,
  CBOR,
  list,
  map,
  NULL,
  SELF_DESCRIBED,
  tag,
  TEXT_STRING,
  UNDEFINED,
  within,
  word,
} from './cbor-bytes.ts'
import { row } from './row.ts'
import type { Row, Who } from './row.ts'

const A = '/api/v1/namespaces/a'
const BAD = '400 BadRequest'
const APPLY = 'application/apply-patch+cbor'
const UNSUPPORTED = '415 UnsupportedMediaType'

type Members = readonly (readonly [name: string, value: Uint8Array])[]
const named = (name: string): readonly [string, Uint8Array] => ['metadata', map(['name', word(name)])]
const kinds = (apiVersion: string, kind: string): Members => [
  ['apiVersion', word(apiVersion)],
  ['kind', word(kind)],
]

interface Place {
  readonly who: Who
  readonly request: string
  readonly members: Members
  readonly taken: string
}
const place = (
  who: Who,
  request: string,
  apiVersion: string,
  kind: string,
  members: Members,
  taken: string,
): Place => ({
  who,
  request,
  members: [...kinds(apiVersion, kind), ...members],
  taken,
})
const DRY: Members = [['dryRun', list(word('All'))]]
const AUTHENTICATION = 'authentication.k8s.io/v1'
const places: readonly Place[] = [
  place('owner', `DELETE ${A}/configmaps/ghost`, 'v1', 'DeleteOptions', DRY, '404 NotFound'),
  place('owner', `DELETE ${A}/configmaps?labelSelector=x%3Dy`, 'v1', 'DeleteOptions', DRY, '200'),
  place('owner', `POST ${A}/pods/unbound/eviction?dryRun=All`, 'policy/v1', 'Eviction', [named('unbound')], '201'),
  place(
    'owner',
    `POST ${A}/pods/unbound/binding?dryRun=All`,
    'v1',
    'Binding',
    [named('unbound'), ['target', map(['name', word('n1')])]],
    '201',
  ),
  place('owner', `PUT ${A}/pods/unbound/status?dryRun=All`, 'v1', 'Pod', [named('unbound')], '200'),
  place(
    'owner',
    'PUT /apis/apps/v1/namespaces/a/deployments/ghost/scale?dryRun=All',
    'autoscaling/v1',
    'Scale',
    [named('ghost')],
    '404 NotFound',
  ),
  place(
    'admin',
    `POST /apis/${AUTHENTICATION}/tokenreviews`,
    AUTHENTICATION,
    'TokenReview',
    [['spec', map(['token', word('none')])]],
    '201',
  ),
  place(
    'owner',
    `POST ${A}/serviceaccounts/nobody/token?dryRun=All`,
    AUTHENTICATION,
    'TokenRequest',
    [['spec', map()]],
    '201',
  ),
]

const good = ({ members }: Place): Uint8Array => map(...members)
/** The body of a place, with another encoding of its kind. */
const withKind = ({ members }: Place, kind: Uint8Array): Uint8Array =>
  map(...members.map(([name, value]) => [name, name === 'kind' ? kind : value] as const))
const kindOf = ({ members }: Place): Uint8Array => members[1]![1]

const LIES: readonly (readonly [what: string, make: (place: Place) => Uint8Array])[] = [
  ['JSON', () => bytes('{}')],
  ['only what it is', () => SELF_DESCRIBED],
  ['a list of it', (one) => list(good(one))],
  ['cut off', (one) => good(one).subarray(0, -1)],
  ['octets behind it', (one) => bytes(good(one), 0)],
  ['a sequence of two', (one) => bytes(good(one), good(one))],
  ['a map without end', ({ members }) => bytes(0xbf, ...members.flatMap(([name, value]) => [word(name), value]))],
  ['a name twice', (one) => map(...one.members, one.members[0]!)],
  ['a name twice, of both types', (one) => map(...one.members, [word('kind', TEXT_STRING), kindOf(one)])],
  ['another kind', (one) => withKind(one, word('ConfigMap'))],
  ['a kind that is a list', (one) => withKind(one, list(kindOf(one)))],
  ['a kind that is a number', (one) => withKind(one, bytes(1))],
  ['a kind that is undefined', (one) => withKind(one, UNDEFINED)],
  ['a kind in pieces of another type', (one) => withKind(one, bytes(0x5f, word('Config', TEXT_STRING), BREAK))],
  ['a kind that is no UTF-8', (one) => withKind(one, bytes(0x62, 0xff, 0xfe))],
  ['a character in two pieces', (one) => withKind(one, bytes(0x7f, 0x61, 0xc3, 0x61, 0xa9, BREAK))],
  ['a hundred thousand lists in one another', () => within(100_000, [0x81], bytes(0))],
  ['more members than follow', (one) => bytes(0xb8, 200, good(one).subarray(1))],
]

const inPlaces: readonly Row[] = places.flatMap((one) => {
  const tried = (what: string, body: Uint8Array, answer = BAD, type = CBOR): Row =>
    row(`${one.request.slice(0, 60)}: ${what}`, one.who, one.request, answer, {
      headers: { 'Content-Type': type },
      body,
    })
  return [
    tried('a good one', good(one), one.taken),
    tried('that says what it is', bytes(SELF_DESCRIBED, good(one)), one.taken),
    tried(
      'without a length',
      bytes(0xbf, ...one.members.flatMap(([name, value]) => [word(name), value]), BREAK),
      one.taken,
    ),
    ...LIES.map(([what, make]) => tried(what, make(one))),
    tried('in CBOR that says JSON', good(one), BAD, 'application/json'),
    tried('in CBOR that says YAML', good(one), BAD, 'application/yaml'),
    tried('in CBOR that says protobuf', good(one), BAD, 'application/vnd.kubernetes.protobuf'),
    tried('as a sequence', good(one), UNSUPPORTED, 'application/cbor-seq'),
    tried('as a patch', good(one), UNSUPPORTED, APPLY),
  ]
})

const MAP: Members = [...kinds('v1', 'ConfigMap'), named('applied')]
const data = (value: Uint8Array): Uint8Array => map(...MAP, ['data', map(['k', value])])
const applied = (what: string, body: Uint8Array, answer: string, type = APPLY, who: Who = 'owner'): Row =>
  row(`applied: ${what}`, who, `PATCH ${A}/configmaps/applied?fieldManager=m&force=true&dryRun=All`, answer, {
    headers: { 'Content-Type': type },
    body,
  })
const applying: readonly Row[] = [
  applied('a good one', data(word('v')), '201'),
  applied('that says what it is', bytes(SELF_DESCRIBED, data(word('v'))), '201'),
  applied('without a length', bytes(0xbf, ...MAP.flatMap(([name, value]) => [word(name), value]), BREAK), '201'),
  applied('a value in pieces', data(bytes(0x5f, word('a'), word('b'), BREAK)), '201'),
  applied('a value with a tag that nobody knows', data(tag(999, word('v'))), '201'),
  applied('YAML', bytes('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\n'), BAD),
  applied('JSON', bytes('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}'), BAD),
  applied('nothing', bytes(), BAD),
  applied('only what it is', SELF_DESCRIBED, BAD),
  applied('null', NULL, BAD),
  applied('a list', list(data(word('v'))), BAD),
  applied('a number', bytes(1), BAD),
  applied('a negative number', bytes(0x20), BAD),
  applied('a word', word('v'), BAD),
  applied('a text', word('v', TEXT_STRING), BAD),
  applied('true', bytes(0xf5), BAD),
  applied('a float', bytes(0xf9, 0x3c, 0x00), BAD),
  applied('octets behind it', bytes(data(word('v')), 0), BAD),
  applied('a sequence of two', bytes(data(word('v')), data(word('v'))), BAD),
  applied('cut off', data(word('v')).subarray(0, -1), BAD),
  applied('a name twice', map(...MAP, ['kind', word('ConfigMap')]), BAD),
  applied('a name twice deep below', map(...MAP, ['data', map(['k', word('a')], ['k', word('b')])]), BAD),
  applied('a name that is a number', bytes(0xa1, 1, word('v')), BAD),
  applied('NaN', data(bytes(0xf9, 0x7e, 0x00)), BAD),
  applied('infinity', data(bytes(0xf9, 0x7c, 0x00)), BAD),
  applied('a bignum', data(tag(2, word('1'))), BAD),
  applied('undefined', data(UNDEFINED), BAD),
  applied('a number beyond 64 bits', data(bytes(0x1b, Array<number>(8).fill(0xff))), BAD),
  applied('text that is no UTF-8', data(bytes(0x62, 0xff, 0xfe)), BAD),
  applied('a character in two pieces', data(bytes(0x7f, 0x61, 0xc3, 0x61, 0xa9, BREAK)), BAD),
  applied('a map of 2^63 members', bytes(0xbb, 0x80, Array<number>(7).fill(0)), BAD),
  applied('a hundred thousand maps', within(100_000, [0xa1, 0x41, 0x61], bytes(0)), BAD),
  applied('a hundred thousand tags', within(100_000, [0xd9, 0xd9, 0xf7], bytes(0)), BAD),
  applied('another kind', map(...kinds('v1', 'Secret'), named('applied')), BAD),
  applied('no kind', map(named('applied')), BAD),
  applied('another name', map(...kinds('v1', 'ConfigMap'), named('other')), BAD),
  applied('in CBOR that says YAML', data(word('v')), BAD, 'application/apply-patch+yaml'),
  applied('in CBOR that says it is JSON', data(word('v')), '422 Invalid', 'application/merge-patch+json'),
  applied('a merge patch in CBOR', data(word('v')), UNSUPPORTED, 'application/merge-patch+cbor'),
  applied('a patch in CBOR', data(word('v')), UNSUPPORTED, CBOR),
  applied('of who may not', data(word('v')), '403 Forbidden', APPLY, 'nobody'),
  applied('of nobody', data(word('v')), '403 Forbidden', APPLY, 'anonymous'),
  row('applied by nobody in particular', 'owner', `PATCH ${A}/configmaps/applied?dryRun=All`, '422 Invalid', {
    headers: { 'Content-Type': APPLY },
    body: data(word('v')),
  }),
]

const answeredAs =
  (type: string): Row['check'] =>
  ({ headers }) => {
    if (headers['content-type'] !== type) throw new Error(String(headers['content-type']))
  }
const WATCH = `GET ${A}/configmaps?watch=1&timeoutSeconds=1`
const asking = (what: string, request: string, Accept: string, answer: string, type?: string): Row =>
  row(what, 'owner', request, answer, { headers: { Accept } }, type === undefined ? undefined : answeredAs(type))
const answers: readonly Row[] = [
  asking('a watch', WATCH, CBOR, '200', 'application/cbor-seq'),
  asking('a watch that asks for a sequence', WATCH, 'application/cbor-seq', '406 NotAcceptable'),
  asking('a watch of a sequence of JSON', WATCH, 'application/json-seq', '406 NotAcceptable'),
  asking('a list as a sequence', `GET ${A}/configmaps`, 'application/cbor-seq', '406 NotAcceptable'),
  asking('a list', `GET ${A}/configmaps`, CBOR, '200', CBOR),
  asking('an error', `GET ${A}/configmaps/ghost`, CBOR, '404', CBOR),
  asking('a Table', `GET ${A}/configmaps`, 'application/cbor;as=Table;g=meta.k8s.io;v=v1', '406 NotAcceptable'),
]

export const cborPlaces: readonly Row[] = [...inPlaces, ...applying, ...answers]
