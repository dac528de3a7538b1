// Bodies that are not what their headers, their paths or their own envelopes say.
import { gzipSync } from 'node:zlib'
import { row } from './row.ts'
import type { Row } from './row.ts'

const PATH = '/api/v1/namespaces/a/configmaps'
const POST = `POST ${PATH}?dryRun=All`
const BAD = '400 BadRequest'
const typed = (type: string, body: unknown, more: Record<string, string> = {}) => ({
  headers: { 'Content-Type': type, ...more },
  body,
})
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const CBOR = 'application/cbor'

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))]
const field = (number: number, bytes: Uint8Array): Uint8Array =>
  Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length), ...bytes])
const text = (number: number, value: string): Uint8Array => field(number, Buffer.from(value))
const envelope = (apiVersion: string, kind: string, raw: Uint8Array, magic = 'k8s\0'): Uint8Array =>
  Buffer.concat([Buffer.from(magic), field(1, Buffer.concat([text(1, apiVersion), text(2, kind)])), field(2, raw)])
const CONFIG_MAP = field(1, text(1, 'tried'))

const WRONG_PROTOBUF: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['nothing', new Uint8Array()],
  ['only the magic', Buffer.from('k8s\0')],
  ['another magic', envelope('v1', 'ConfigMap', CONFIG_MAP, 'k8t\0')],
  ['no magic', CONFIG_MAP],
  ['a kind of another path', envelope('v1', 'Secret', CONFIG_MAP)],
  ['a kind that is not there', envelope('v1', 'Constructor', CONFIG_MAP)],
  ['a version that is not there', envelope('v9', 'ConfigMap', CONFIG_MAP)],
  ['a body cut off', envelope('v1', 'ConfigMap', CONFIG_MAP.subarray(0, 3))],
  ['an envelope cut off', envelope('v1', 'ConfigMap', CONFIG_MAP).subarray(0, 12)],
  ['a length of 4 GB', Buffer.from([...Buffer.from('k8s\0'), 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])],
  ['a negative length', Buffer.from([...Buffer.from('k8s\0'), 0x12, ...Array<number>(9).fill(0xff), 0x01])],
  ['a length inside of 2 GB', envelope('v1', 'ConfigMap', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]))],
  ['a varint without end', envelope('v1', 'ConfigMap', Buffer.alloc(20, 0xff))],
  ['a wire type that is none', envelope('v1', 'ConfigMap', Buffer.from([0x0f]))],
  ['the field number 0', envelope('v1', 'ConfigMap', Buffer.from([0x02, 0x00]))],
  ['JSON', Buffer.from('{"metadata":{"name":"tried"}}')],
]
const WRONG_JSON: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['a list', '[]'],
  ['text', '"x"'],
  ['a number', '1'],
  ['cut off', '{"metadata":{"name":"tried"'],
  ['two values', '{"metadata":{"name":"tried"}}{}'],
  ['a comma too much', '{"metadata":{"name":"tried"},}'],
  ['NaN', '{"metadata":{"name":NaN}}'],
  ['another kind', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"tried"}}'],
  ['another version', '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"tried"}}'],
  ['a kind of Object.prototype', '{"apiVersion":"v1","kind":"constructor","metadata":{"name":"tried"}}'],
  ['metadata that is text', '{"metadata":"x"}'],
  ['data that is a list', '{"metadata":{"name":"tried"},"data":[]}'],
  ['a value that is a number', '{"metadata":{"name":"tried"},"data":{"k":1}}'],
  ['20,000 levels', '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)],
]
const object = JSON.stringify({ metadata: { name: 'tried' }, data: { k: 'v' } })
const bomb = gzipSync(Buffer.alloc(200_000_000, ' '))

export const bodies: readonly Row[] = [
  row('a good envelope', 'owner', POST, '201', typed(PROTOBUF, envelope('v1', 'ConfigMap', CONFIG_MAP))),
  ...WRONG_PROTOBUF.map(([what, bytes]) => row(`protobuf: ${what}`, 'owner', POST, BAD, typed(PROTOBUF, bytes))),
  ...WRONG_JSON.map(([what, json]) => row(`JSON: ${what}`, 'owner', POST, BAD, { body: json })),
  ...[
    Buffer.from([0xd9, 0xd9, 0xf7, 0xa1]),
    Buffer.from([0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0x9f]),
    Buffer.from([0xa1, 0x01, 0x01]),
    Buffer.from('{}'),
    Buffer.from([0xff]),
  ].map((bytes) =>
    row(`CBOR ${bytes.toString('hex')} is not taken`, 'owner', POST, '415 UnsupportedMediaType', typed(CBOR, bytes)),
  ),
  ...[
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/',
    'constructor',
    'application/apply-patch+yaml',
  ].map((type) => row(`the type ${type} is not taken`, 'owner', POST, '415 UnsupportedMediaType', typed(type, object))),
  ...['application/json', 'text/plain', 'application/patch', 'constructor'].map((type) =>
    row(`${type} is no patch`, 'owner', `PATCH ${PATH}/one?dryRun=All`, '415 UnsupportedMediaType', typed(type, '{}')),
  ),
  row('a body of 3 MB and more', 'owner', POST, '413 RequestEntityTooLarge', {
    body: `{"metadata":{"name":"tried"},"data":{"k":"${'x'.repeat(3_200_000)}"}}`,
  }),
  row(
    'a bomb of 200 MB in gzip is not unpacked',
    'owner',
    POST,
    BAD,
    typed('application/json', bomb, { 'Content-Encoding': 'gzip' }),
  ),
  row(
    'nor a small body',
    'owner',
    POST,
    BAD,
    typed('application/json', gzipSync(object), { 'Content-Encoding': 'gzip' }),
  ),
  row('a body is not read for who may not write', 'nobody', POST, '403 Forbidden', { body: '{"a":'.repeat(20_000) }),
  row(
    'nor a bomb',
    'anonymous',
    POST,
    '403 Forbidden',
    typed('application/json', bomb, { 'Content-Encoding': 'gzip' }),
  ),
  row(
    'a patch of another object',
    'owner',
    `PATCH ${PATH}/one?dryRun=All`,
    BAD,
    typed('application/json-patch+json', [{ op: 'replace', path: '/metadata/name', value: 'two' }]),
  ),
  row(
    'a JSON patch of 10,001 operations',
    'owner',
    `PATCH ${PATH}/one?dryRun=All`,
    '413 RequestEntityTooLarge',
    typed('application/json-patch+json', Array(10_001).fill({ op: 'test', path: '/kind', value: 'ConfigMap' })),
  ),
  row(
    'a JSON patch through a prototype',
    'owner',
    `PATCH ${PATH}/one?dryRun=All`,
    '422 Invalid',
    typed('application/json-patch+json', [{ op: 'add', path: '/__proto__/polluted', value: 'x' }]),
  ),
  row(
    'a JSON patch of no operation',
    'owner',
    `PATCH ${PATH}/one?dryRun=All`,
    '422 Invalid',
    typed('application/json-patch+json', [{ op: 'constructor', path: '/data' }]),
  ),
  ...['constructor', 'toString', 'hasOwnProperty', 'valueOf'].map((key) =>
    row(
      'a name of Object.prototype is a key like others',
      'owner',
      POST,
      '201',
      { body: `{"metadata":{"name":"tried"},"data":{"${key}":"v"}}` },
      ({ text }) => {
        if (!text.includes(`"${key}":"v"`)) throw new Error(text)
      },
    ),
  ),
]
