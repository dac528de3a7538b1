// Malformed bodies in CBOR (RFC 8949), sent to a server with the feature gate CBORServingAndStorage.
import {
  CBOR,
  BREAK,
  BYTE_STRING,
  FALSE,
  NULL,
  SELF_DESCRIBED,
  TEXT_STRING,
  UNDEFINED,
  bytes,
  head,
  list,
  map,
  repeated,
  tag,
  within,
  word,
} from './cbor-bytes.ts'
import { row, stricter } from './row.ts'
import type { Row } from './row.ts'

const PATH = '/api/v1/namespaces/a/configmaps'
const POST = `POST ${PATH}?dryRun=All`
const BAD = '400 BadRequest'

const NAME = map(['name', word('tried')])
const META = ['metadata', NAME] as const
/** A ConfigMap with one more member. */
const plus = (name: string | Uint8Array, value: Uint8Array): Uint8Array => map(META, [name, value])
const data = (value: Uint8Array): Uint8Array => plus('data', value)
const GOOD = data(map(['k', word('v')]))

type Case = readonly [what: string, body: Uint8Array]

/** Encodings that a CBOR decoder has to accept. */
const TAKEN: readonly Case[] = [
  ['a good object', GOOD],
  ['that says what it is', bytes(SELF_DESCRIBED, GOOD)],
  ['that says so twice', bytes(SELF_DESCRIBED, SELF_DESCRIBED, GOOD)],
  [
    'names as text strings',
    map([word('metadata', TEXT_STRING), map([word('name', TEXT_STRING), word('tried', TEXT_STRING)])]),
  ],
  ['a map of any length', bytes(0xbf, word('metadata'), NAME, BREAK)],
  ['a million empty pieces of a word', data(map(['k', bytes(0x5f, repeated(1_000_000, [0x40]), BREAK)]))],
  ['a map of any length inside', map(['metadata', bytes(0xbf, word('name'), word('tried'), BREAK)])],
  ['a byte string in pieces', map(['metadata', map(['name', bytes(0x5f, word('tri'), word('ed'), BREAK)])])],
  [
    'a text string in pieces',
    map(['metadata', map(['name', bytes(0x7f, word('tri', TEXT_STRING), word('ed', TEXT_STRING), BREAK)])]),
  ],
  ['a byte string of no pieces', data(map(['k', bytes(0x5f, BREAK)]))],
  ['a head longer than it must be', bytes(0xb8, 1, word('metadata'), NAME)],
  ['a head of eight octets', bytes(0xbb, 0, 0, 0, 0, 0, 0, 0, 1, word('metadata'), NAME)],
  ['null for a map', data(NULL)],
  ['a member that nobody knows', plus('unknown', list(word('x'), FALSE))],
  ['a list of any length, where nobody reads', plus('unknown', bytes(0x9f, word('x'), BREAK))],
  ['bytes tagged as base64', plus('binaryData', map(['k', tag(22, word('v'))]))],
  ['a byte string that is no UTF-8', data(map(['k', bytes(0x42, 0xff, 0xfe)]))],
  ['100 lists', plus('unknown', within(100, [0x81], bytes(0)))],
  ['bytes tagged twice', plus('binaryData', map(['k', tag(22, tag(22, word('v')))]))],
  ['bytes with a tag that nobody knows', data(map(['k', tag(999, word('v'))]))],
  ['a regular expression', data(map(['k', tag(35, word('v', TEXT_STRING))]))],
  ['a decimal fraction', plus('unknown', tag(4, list(bytes(0), bytes(1))))],
  ['what it is, inside', data(map(['k', bytes(SELF_DESCRIBED, word('v'))]))],
]

/** The decoder accepts these, and validation refuses the object. */
const INVALID: readonly Case[] = [
  ['null', NULL],
  ['a name that is no UTF-8', map(META, ['data', bytes(0xa1, bytes(0x42, 0xff, 0xfe), word('v'))])],
]

/** kube-apiserver skips unknown fields without decoding them; Kedge decodes them first, and refuses these. */
const SKIPPED: readonly Case[] = [
  ['a simple value that nobody knows', plus('unknown', bytes(0xf0))],
  ['a name twice where nobody reads', plus('unknown', map(['k', word('a')], ['k', word('b')]))],
  ['an unsigned number of 2^64-1', plus('unknown', bytes(0x1b, Array<number>(8).fill(0xff)))],
  ['a negative number of -2^64', plus('unknown', bytes(0x3b, Array<number>(8).fill(0xff)))],
]
/** kube-apiserver also skips members whose key is no text. An object without metadata remains. */
const NAMELESS: readonly Case[] = [['a name that is a number', bytes(0xa1, 1, word('v'))]]

const REFUSED: readonly Case[] = [
  ['nothing', bytes()],
  ['only what it is', SELF_DESCRIBED],
  ['a break alone', bytes(BREAK)],
  ['JSON', bytes('{"metadata":{"name":"tried"}}')],
  ['a list', list(GOOD)],
  ['a number', bytes(1)],
  ['a byte string', word('tried')],
  ['cut off in a map', GOOD.subarray(0, GOOD.length - 1)],
  ['cut off in a head', bytes(0xb9, 0)],
  ['cut off in a word', map(['metadata', bytes(0x45, 'tri')])],
  ['octets behind it', bytes(GOOD, 0)],
  ['two objects', bytes(GOOD, GOOD)],
  ['a map of more members than follow', bytes(0xa2, word('metadata'), NAME)],
  ['a map of 2^64-1 members', bytes(0xbb, Array<number>(8).fill(0xff), word('metadata'), NAME)],
  ['a map of 2^63 members', bytes(0xbb, 0x80, Array<number>(7).fill(0), word('metadata'), NAME)],
  ['a map of 2^32 members', bytes(0xbb, 0, 0, 0, 1, 0, 0, 0, 0, word('metadata'), NAME)],
  ['a byte string of 2^64-1 octets', map(['metadata', map(['name', bytes(0x5b, Array<number>(8).fill(0xff))])])],
  ['a byte string of 4 GB', map(['metadata', map(['name', bytes(0x5a, 0xff, 0xff, 0xff, 0xff, 'x')])])],
  ['a text string of 2 GB', map(['metadata', map(['name', bytes(0x7a, 0x7f, 0xff, 0xff, 0xff, 'x')])])],
  ['a list of 2^64-1 items', plus('unknown', bytes(0x9b, Array<number>(8).fill(0xff)))],
  ['a list of 2^31 items', plus('unknown', bytes(0x9a, 0x80, 0, 0, 0))],
  ['a map of any length without end', bytes(0xbf, word('metadata'), NAME)],
  ['a list of any length without end', plus('unknown', bytes(0x9f, word('x')))],
  ['a byte string in pieces without end', map(['metadata', map(['name', bytes(0x5f, word('tried'))])])],
  ['a map that ends behind a name', bytes(0xbf, word('metadata'), BREAK)],
  ['pieces of another type', map(['metadata', map(['name', bytes(0x5f, word('tried', TEXT_STRING), BREAK)])])],
  ['pieces within pieces', map(['metadata', map(['name', bytes(0x5f, 0x5f, word('tried'), BREAK, BREAK)])])],
  ['a number of any length', plus('unknown', bytes(0x1f))],
  ['a tag of any length', plus('unknown', bytes(0xdf, 0))],
  ...[28, 29, 30].map((additional): Case => [
    `the reserved length ${additional}`,
    plus('unknown', bytes((BYTE_STRING << 5) | additional)),
  ]),
  ['a simple value that is reserved', plus('unknown', bytes(0xf8, 24))],
  ['a simple value in two octets that fits into one', plus('unknown', bytes(0xf8, 20))],
  ['undefined for a map', data(UNDEFINED)],
  ['a name that is null', bytes(0xa1, NULL, word('v'))],
  ['a name that is a list', bytes(0xa1, list(), word('v'))],
  ['a name that is a map', bytes(0xa1, map(), word('v'))],
  ['a name that is a float', bytes(0xa1, 0xf9, 0x3c, 0x00, word('v'))],
  ['a text string that is no UTF-8', data(map(['k', bytes(0x62, 0xff, 0xfe)]))],
  ['a name twice', map(META, META)],
  ['a name twice, of both types', map(META, [word('metadata', TEXT_STRING), NAME])],
  ['a name twice in a map of any length', bytes(0xbf, word('metadata'), NAME, word('metadata'), NAME, BREAK)],
  ['a key twice', data(map(['k', word('a')], ['k', word('b')]))],
  ['a key twice, of both types', data(map(['k', word('a')], [word('k', TEXT_STRING), word('b')]))],
  ['a number for a value', data(map(['k', bytes(1)]))],
  ['a list for a map', data(list(word('k')))],
  ['a map for a name', map(['metadata', map(['name', map()])])],
  ['false for metadata', map(['metadata', FALSE])],
  ['another kind', map(['apiVersion', word('v1')], ['kind', word('Secret')], META)],
  ['another version', map(['apiVersion', word('apps/v1')], ['kind', word('ConfigMap')], META)],
  ['a kind of Object.prototype', map(['apiVersion', word('v1')], ['kind', word('constructor')], META)],
  ['a hundred thousand lists in one another', plus('unknown', within(100_000, [0x81], bytes(0)))],
  ['a hundred thousand lists of any length', plus('unknown', within(100_000, [0x9f], bytes(0), [BREAK]))],
  ['a hundred thousand maps', plus('unknown', within(100_000, [0xa1, 0x41, 0x61], bytes(0)))],
  ['a hundred thousand tags', plus('unknown', within(100_000, [0xd9, 0xd9, 0xf7], bytes(0)))],
  ['a positive bignum of 100 octets', plus('unknown', tag(2, bytes(head(BYTE_STRING, 100), Buffer.alloc(100, 255))))],
  ['a bignum that is text', plus('unknown', tag(2, word('1', TEXT_STRING)))],
  ['a bignum that is a list', plus('unknown', tag(3, list()))],
  [
    'a time that is none',
    map(['metadata', map(['name', word('tried')], ['creationTimestamp', tag(0, word('yesterday', TEXT_STRING))])]),
  ],
  ['a time that is a list', map(['metadata', map(['name', word('tried')], ['creationTimestamp', tag(1, list())])])],
  ...[NULL, FALSE, list(bytes(5)), map(), word('5', TEXT_STRING)].map((value): Case => [
    `a time that is ${Buffer.from(value).toString('hex')}`,
    map(['metadata', map(['name', word('tried')], ['creationTimestamp', tag(1, value)])]),
  ]),
  ['bytes tagged as base64 that are text', plus('binaryData', map(['k', tag(22, word('v', TEXT_STRING))]))],
  ['NaN', plus('unknown', bytes(0xf9, 0x7e, 0x00))],
  ['infinity', plus('unknown', bytes(0xf9, 0x7c, 0x00))],
  ['a float half there', plus('unknown', bytes(0xfb, 0, 0))],
]

const post = ([what, body]: Case, answer: string): Row =>
  row(what, 'owner', POST, answer, { headers: { 'Content-Type': CBOR }, body })

export const cbor: readonly Row[] = [
  ...TAKEN.map((one) => post(one, '201')),
  ...INVALID.map((one) => post(one, '422 Invalid')),
  ...SKIPPED.map((one) => stricter(BAD, post(one, '201'))),
  ...NAMELESS.map((one) => stricter(BAD, post(one, '422 Invalid'))),
  ...REFUSED.map((one) => post(one, BAD)),
  row('is not read for who may not write', 'nobody', POST, '403 Forbidden', {
    headers: { 'Content-Type': CBOR },
    body: within(100_000, [0x81], bytes(0)),
  }),
  row('nor for nobody', 'anonymous', POST, '403 Forbidden', {
    headers: { 'Content-Type': CBOR },
    body: within(100_000, [0x81], bytes(0)),
  }),
]
