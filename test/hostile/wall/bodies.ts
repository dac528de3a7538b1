// Bodies that contradict their headers, their paths or their own envelopes.
import { gzipSync } from 'node:zlib'
import { envelope, field, PROTOBUF, text, typed } from './protobuf-bytes.ts'
import { row, stricter } from './row.ts'
import type { Row } from './row.ts'

const PATH = '/api/v1/namespaces/a/configmaps'
const POST = `POST ${PATH}?dryRun=All`
const BAD = '400 BadRequest'
const CBOR = 'application/cbor'

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
/** Unknown fields, each nested in the one before. */
const nested = (levels: number): Uint8Array => {
  let bytes: Uint8Array = Buffer.from([])
  for (let level = 0; level < levels; level++) bytes = field(99, bytes)
  return bytes
}
/** Bytes that a protobuf decoder has to accept or skip. */
const ODD_PROTOBUF: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['an unknown field', envelope('v1', 'ConfigMap', Buffer.concat([CONFIG_MAP, text(99, 'x')]))],
  ['metadata twice', envelope('v1', 'ConfigMap', Buffer.concat([field(1, text(1, 'other')), CONFIG_MAP]))],
  [
    'a key of a map twice',
    envelope(
      'v1',
      'ConfigMap',
      Buffer.concat([
        CONFIG_MAP,
        field(2, Buffer.concat([text(1, 'k'), text(2, 'a')])),
        field(2, Buffer.concat([text(1, 'k'), text(2, 'b')])),
      ]),
    ),
  ],
  [
    'an entry of a map without a value',
    envelope('v1', 'ConfigMap', Buffer.concat([CONFIG_MAP, field(2, text(1, 'k'))])),
  ],
  ['fields nested a thousand times', envelope('v1', 'ConfigMap', Buffer.concat([CONFIG_MAP, nested(1_000)]))],
  [
    'a varint that is longer than it must be',
    envelope('v1', 'ConfigMap', Buffer.from([0x0a, 0x87, 0x80, 0x00, ...text(1, 'tried')])),
  ],
  ['a group', envelope('v1', 'ConfigMap', Buffer.from([...CONFIG_MAP, 0x9b, 0x06, 0x9c, 0x06]))],
  ['an encoding that the envelope names', Buffer.concat([envelope('v1', 'ConfigMap', CONFIG_MAP), text(3, 'gzip')])],
  [
    'a type that the envelope names',
    Buffer.concat([envelope('v1', 'ConfigMap', CONFIG_MAP), text(4, 'application/json')]),
  ],
]
const REFUSED_PROTOBUF: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['a group without end', envelope('v1', 'ConfigMap', Buffer.from([...CONFIG_MAP, 0x9b, 0x06]))],
  ['the end of a group without beginning', envelope('v1', 'ConfigMap', Buffer.from([...CONFIG_MAP, 0x9c, 0x06]))],
  ['text where a message belongs', envelope('v1', 'ConfigMap', Buffer.from([0x08, 0x01]))],
  ['a number of 32 bits cut off', envelope('v1', 'ConfigMap', Buffer.from([...CONFIG_MAP, 0x9d, 0x06, 0x01]))],
  ['a length within a length that is longer', envelope('v1', 'ConfigMap', Buffer.from([0x0a, 0x03, 0x0a, 0x05, 0x78]))],
  ['octets behind the envelope', Buffer.concat([envelope('v1', 'ConfigMap', CONFIG_MAP), Uint8Array.of(0xff)])],
  ['two envelopes', Buffer.concat([envelope('v1', 'ConfigMap', CONFIG_MAP), envelope('v1', 'ConfigMap', CONFIG_MAP)])],
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
/** Duplicate members, of which parsers may choose either. fieldValidation=Strict refuses them. */
const TWICE: readonly (readonly [what: string, text: string])[] = [
  ['a name', '{"metadata":{"name":"tried","name":"other"}}'],
  ['metadata', '{"metadata":{"name":"tried"},"metadata":{"name":"other"}}'],
  ['a namespace', '{"metadata":{"name":"tried","namespace":"a","namespace":"b"}}'],
  ['a key of a map', '{"metadata":{"name":"tried"},"data":{"k":"a","k":"b"}}'],
  ['a key in escapes', '{"metadata":{"name":"tried"},"data":{"k":"a","\\u006b":"b"}}'],
  ['a kind', '{"kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"tried"}}'],
]
const object = JSON.stringify({ metadata: { name: 'tried' }, data: { k: 'v' } })
/** Nine lists, each of which has nine aliases of the list before it. */
const YAML_BOMB = [
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tried}\na: &a [x,x,x,x,x,x,x,x,x]',
  ...[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join()}]`),
  '',
].join('\n')
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
  ...ODD_PROTOBUF.map(([what, bytes]) => row(`protobuf: ${what}`, 'owner', POST, '201', typed(PROTOBUF, bytes))),
  ...REFUSED_PROTOBUF.map(([what, bytes]) => row(`protobuf: ${what}`, 'owner', POST, BAD, typed(PROTOBUF, bytes))),
  row(
    'protobuf: text that is no UTF-8',
    'owner',
    POST,
    '422 Invalid',
    typed(PROTOBUF, envelope('v1', 'ConfigMap', field(1, field(1, Uint8Array.of(0xff, 0xfe))))),
  ),
  ...TWICE.map(([what, json]) =>
    row(`${what} twice, strictly`, 'owner', `${POST}&fieldValidation=Strict`, BAD, { body: json }),
  ),
  ...TWICE.map(([what, json]) =>
    row(`${what} twice`, 'owner', POST, what === 'a namespace' ? BAD : '201', { body: json }),
  ),
  row('a kind twice, two of them', 'owner', POST, '400 BadRequest', {
    body: '{"kind":"ConfigMap","kind":"Secret","metadata":{"name":"tried"}}',
  }),
  ...['deflate', 'br', 'zstd', 'compress', 'identity', 'x-gzip', 'gzip, gzip'].map((coding) =>
    row(
      `a body that says ${coding}`,
      'owner',
      POST,
      '201',
      typed('application/json', object, { 'Content-Encoding': coding }),
    ),
  ),
  ...['deflate', 'br', 'gzip'].map((coding) =>
    row(
      `a patch that says ${coding}`,
      'owner',
      `PATCH ${PATH}/one?dryRun=All`,
      BAD,
      typed('application/merge-patch+json', bomb, { 'Content-Encoding': coding }),
    ),
  ),
  row(
    'a bomb in gzip as an apply',
    'owner',
    `PATCH ${PATH}/tried?fieldManager=m&dryRun=All`,
    '400 BadRequest',
    typed('application/apply-patch+yaml', bomb, { 'Content-Encoding': 'gzip' }),
  ),
  row(
    'a bomb of aliases in YAML',
    'owner',
    `POST ${PATH}?dryRun=All`,
    '400 BadRequest',
    typed('application/yaml', YAML_BOMB),
  ),
  row(
    'a bomb of aliases in an apply',
    'owner',
    `PATCH ${PATH}/tried?fieldManager=m&dryRun=All`,
    '400 BadRequest',
    typed('application/apply-patch+yaml', YAML_BOMB),
  ),
  // kube-apiserver takes the first of two Content-Type headers
  ...(['application/json', 'application/yaml'] as const).map((second) =>
    stricter(
      '415 UnsupportedMediaType',
      row(`a second type: ${second}`, 'owner', POST, '201', {
        headers: { 'Content-Type': ['application/json', second] },
        body: object,
      }),
    ),
  ),
  row('a type that is none before one that is', 'owner', POST, '415 UnsupportedMediaType', {
    headers: { 'Content-Type': ['constructor', 'application/json'] },
    body: object,
  }),
  row(
    'two types in one line',
    'owner',
    POST,
    '415 UnsupportedMediaType',
    typed('application/json, application/yaml', object),
  ),
  ...[
    'application/json;',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'application/json;stream=watch',
    ' application/json ',
  ].map((type) => row(`the type ${JSON.stringify(type)}`, 'owner', POST, '201', typed(type, object))),
  row('a mark of octets before JSON', 'owner', POST, BAD, { body: `\ufeff${object}` }),
  row('JSON in UTF-16', 'owner', POST, BAD, { body: Buffer.from(object, 'utf16le') }),
  row('octets that are no UTF-8', 'owner', POST, '201', {
    body: Buffer.from([
      ...Buffer.from('{"metadata":{"name":"tried"},"data":{"k":"'),
      0xff,
      0xfe,
      ...Buffer.from('"}}'),
    ]),
  }),
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
