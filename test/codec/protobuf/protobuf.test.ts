import { describe, expect, it, test } from 'vitest'
import { decodeObject } from '../../../src/codec/decode/decode.ts'
import { encodeJson } from '../../../src/codec/encode/encode.ts'
import {
  encodeProtobuf,
  itemHead,
  itemLength,
  listFrame,
  readEnvelope,
  readWatchFrame,
  watchFrame,
} from '../../../src/codec/protobuf/envelope.ts'
import { ProtobufError, WireReader, WireWriter } from '../../../src/codec/protobuf/wire.ts'
import { decodeMessage } from '../../../src/codec/protobuf/decode.ts'
import { encodeMessage, hasProtobuf } from '../../../src/codec/protobuf/encode.ts'
import { builtInType } from '../../../src/schema/built-in.ts'

const core = (kind: string) => builtInType(`io.k8s.api.core.v1.${kind}`)
const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

const CONFIG_MAP = 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhMKAwoBYhIMCgNrZXkSBXZhbHVlGgAiAA=='

describe('whole numbers', () => {
  test.each<[number | bigint, string]>([
    [0, '00'],
    [1, '01'],
    [127, '7f'],
    [128, '8001'],
    [2 ** 32, '8080808010'],
    [2 ** 53 - 1, 'ffffffffffffff0f'],
    [9223372036854775807n, 'ffffffffffffffff7f'],
    [-1, 'ffffffffffffffffff01'],
    [-9223372036854775808n, '80808080808080808001'],
  ])('%d', (value, bytes) => {
    const writer = new WireWriter(1)
    writer.varint(value)
    expect(Buffer.from(writer.finish()).toString('hex')).toBe(bytes)
    expect(new WireReader(hex(bytes)).int64()).toBe(value)
  })
})

describe('envelopes', () => {
  it('reads and writes one', () => {
    const { apiVersion, kind, raw } = readEnvelope(base64(CONFIG_MAP))
    const object = { kind, apiVersion, ...decodeMessage(core('ConfigMap'), raw) }
    expect(object).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'b' }, data: { key: 'value' } })
    const again = readEnvelope(encodeProtobuf(core('ConfigMap'), object))
    expect(decodeMessage(core('ConfigMap'), again.raw)).toEqual({ metadata: { name: 'b' }, data: { key: 'value' } })
  })

  test.each([
    ['', 'empty data'],
    ['azhzAA==', 'empty body'],
    ['azh4AA==', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['azhzAAoPCgJ2MRIJQ29uZmlnTWE=', 'unexpected EOF'],
  ])('%j is refused', (text, message) => {
    expect(() => readEnvelope(base64(text))).toThrow(expect.objectContaining({ message, name: 'ProtobufError' }))
  })

  it('may lack the object', () => {
    expect(readEnvelope(base64('azhzAAoPCgJ2MRIJQ29uZmlnTWFw'))).toMatchObject({
      kind: 'ConfigMap',
      raw: new Uint8Array(),
    })
  })
})

describe('messages', () => {
  it('drops what it does not know', () => {
    // unknown fields with number 90 and up, one of each wire type including a group, around a name
    const unknown = 'd005 01 d105 0102030405060708 d205 03 616263 d305 d005 01 d405 d505 01020304'
    const metadata = hex(`0a03 0a01 61`)
    expect(decodeMessage(core('ConfigMap'), Uint8Array.from([...hex(unknown), ...metadata]))).toEqual({
      metadata: { name: 'a' },
    })
  })

  it('joins the parts of a message and takes the last of a scalar', () => {
    expect(decodeMessage(core('ConfigMap'), hex('0a03 0a0161 0a06 0a0162 1a0163'))).toEqual({
      metadata: { name: 'b', namespace: 'c' },
    })
  })

  test.each([
    ['0a05', 'unexpected EOF'],
    ['0a ffffffffffffffff7f', 'unexpected EOF'],
    ['0a ffffffffffffffffff01', 'proto: negative length found during unmarshaling'],
    ['ffffffffffffffffffffff', 'proto: integer overflow'],
    ['08 01', 'proto: wrong wireType = 0 for field Metadata'],
    ['0c', 'proto: ConfigMap: wiretype end group for non-group'],
    ['00', 'proto: ConfigMap: illegal tag 0 (wire type 0)'],
    ['d305', 'unexpected EOF'],
    ['d605', 'proto: illegal wireType 6'],
  ])('%s is refused', (bytes, message) => {
    expect(() => decodeMessage(core('ConfigMap'), hex(bytes))).toThrow(new ProtobufError(message))
  })

  it('refuses endless nesting', () => {
    const props = builtInType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps')
    const not = props.field('not')!.number
    const writer = new WireWriter()
    for (let i = 0; i < 2000; i++) writer.close(not, 0)
    expect(() => decodeMessage(props, writer.finish())).toThrow('exceeded max depth')
  })

  it('knows what has no protobuf form', () => {
    expect(hasProtobuf(builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.Table'))).toBe(false)
    expect(hasProtobuf(core('Pod'))).toBe(true)
  })

  it('gives texts that are no UTF-8 their replacement', () => {
    const { raw } = readEnvelope(base64('azhzAAoPCgJ2MRIJQ29uZmlnTWFwEg0KAwoBYhIGCgFrEgH/GgAiAA=='))
    expect(decodeMessage(core('ConfigMap'), raw)).toMatchObject({ data: { k: '\ufffd' } })
  })
})

test('a list comes item by item, and is the list', () => {
  const items = ['a', 'b', 'c'.repeat(300)].map((name) => encodeMessage(core('ConfigMap'), { metadata: { name } }))
  const kind = { apiVersion: 'v1', kind: 'ConfigMapList' }
  const listMeta = builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta')
  const itemsLength = items.reduce((sum, item) => sum + itemLength(item.length), 0)
  const { head, tail, length } = listFrame(kind, listMeta, { resourceVersion: '5' }, itemsLength)
  const parts = [head, ...items.flatMap((item) => [itemHead(item.length), item]), tail]
  const whole = new Uint8Array(Buffer.concat(parts))
  expect(whole).toHaveLength(length)
  const list = {
    ...kind,
    metadata: { resourceVersion: '5' },
    items: ['a', 'b', 'c'.repeat(300)].map((name) => ({ metadata: { name } })),
  }
  expect(Buffer.from(whole).toString('hex')).toBe(
    Buffer.from(encodeProtobuf(core('ConfigMapList'), list)).toString('hex'),
  )
})

test('an event of a watch has four bytes of length and no envelope of its own', () => {
  const object = base64(CONFIG_MAP)
  const frame = watchFrame('ADDED', object)
  expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0)).toBe(frame.length - 4)
  expect(readWatchFrame(frame)).toEqual({ type: 'ADDED', object })
})

test('numbers of 64 bits stay exact', () => {
  const type = core('PodSecurityContext')
  const { object } = decodeObject(type, { runAsUser: 9007199254740993n })
  expect(encodeJson(type, decodeMessage(type, encodeMessage(type, object)))).toBe('{"runAsUser":9007199254740993}')
})
