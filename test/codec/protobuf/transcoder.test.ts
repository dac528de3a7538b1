/**
 * The transcoder writes protobuf while it reads JSON. Its bytes must equal those of decoding to an object and encoding
 * that.
 */
import { describe, expect, test } from 'vitest'
import fc from '../../chance.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import { stringify } from '../../../src/json/write-json.ts'
import { parseStored } from '../../../src/json/parse-json.ts'
import { encodeMessage } from '../../../src/codec/protobuf/encode.ts'
import { itemHead } from '../../../src/codec/protobuf/envelope.ts'
import { transcodeItems, transcodeMessage } from '../../../src/codec/protobuf/transcoder.ts'
import { builtInType } from '../../../src/schema/built-in.ts'

const CORE = 'io.k8s.api.core.v1'
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function expectSame(name: string, text: string): void {
  const type = builtInType(name)
  expect(hex(transcodeMessage(type, text))).toBe(hex(encodeMessage(type, parseStored(text) as JsonObject)))
}

test.each<[what: string, type: string, text: string]>([
  ['nothing', 'Pod', '{}'],
  [
    'null where a value may be',
    'Pod',
    '{"metadata":{"labels":null,"creationTimestamp":null},"spec":{"containers":null}}',
  ],
  ['null in a list', 'PodSpec', '{"containers":[null,{"name":"a"}]}'],
  ['null in a map', 'ConfigMap', '{"data":{"a":null}}'],
  ['members that nobody knows', 'ConfigMap', '{"x":{"data":["}"]},"data":{"a":"b"},"y":1,"z":null}'],
  ['members in another order', 'ConfigMap', '{"metadata":{"name":"a"},"data":{"a":"b"},"kind":"ConfigMap"}'],
  ['members in no order', 'Container', '{"image":"i","name":"n","env":[{"value":"v","name":"n"}]}'],
  ['inline members apart from each other', 'Volume', '{"emptyDir":{},"name":"a","hostPath":{"path":"/"}}'],
  ['names out of order', 'ConfigMap', '{"data":{"b":"1","a":"2"}}'],
  ['names that begin alike', 'ConfigMap', '{"data":{"a":"1","a.b":"2","ab":"3"}}'],
  ['names like numbers', 'ConfigMap', '{"data":{"10":"1","9":"2"}}'],
  ['space', 'ConfigMap', '{ "data": {"a": "b"} }'],
  ['whole numbers of 64 bits', 'PodSpec', '{"activeDeadlineSeconds":9223372036854775807}'],
  ['numbers below zero', 'PodSpec', '{"priority":-5,"activeDeadlineSeconds":-9223372036854775808}'],
  ['numbers that are not as Go writes them', 'PodSpec', '{"priority":1e3,"terminationGracePeriodSeconds":5.0}'],
  ['names or numbers', 'ServicePort', '{"port":80,"targetPort":-1}'],
  ['quantities that are numbers', 'ResourceRequirements', '{"limits":{"cpu":2,"memory":"1Gi"}}'],
  [
    'times of other forms',
    'PodCondition',
    '{"lastProbeTime":"2026-01-01T02:00:00+02:00","lastTransitionTime":"0001-01-01T00:00:00Z"}',
  ],
  [
    'times at the ends of months',
    'PodCondition',
    '{"lastProbeTime":"2024-02-29T23:59:59Z","lastTransitionTime":"2026-12-31T00:00:00Z"}',
  ],
  [
    'early members, some nested in each other',
    'PodSpec',
    '{"initContainers":[{"name":"a","envFrom":[{}],"restartPolicy":"x","resizePolicy":[],"imagePullPolicy":"y"}],"containers":[{"name":"b","env":[]}],"nodeName":"c"}',
  ],
  ['bytes', 'Secret', '{"data":{"a":"","b":"AQ==","c":"AQI=","d":"AQID","e":"//8/Pz8="}}'],
])('%s', (_, name, text) => expectSame(`${CORE}.${name}`, text))

test('microseconds', () => {
  const type = 'io.k8s.api.coordination.v1.LeaseSpec'
  expectSame(type, '{"acquireTime":"2026-03-01T12:34:56.123456Z","renewTime":"2026-03-01T12:34:56.000000Z"}')
})

test('any day', () => {
  const type = `${CORE}.PodCondition`
  const day = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(day, (date) =>
      expectSame(type, JSON.stringify({ lastProbeTime: date.toISOString().replace(/\.\d+/, '') })),
    ),
  )
})

describe('texts', () => {
  test.each([[0x22, 0x5c, 0x08, 0x0c, 0x0a, 0x0d, 0x09, 0x01, 0x7f, 0x80, 0x7ff, 0x800, 0x2028, 0xfffd, 0xffff]])(
    'that are escaped',
    (...codes) => {
      for (const code of codes) {
        const text = String.fromCharCode(code)
        expectSame(`${CORE}.ConfigMap`, stringify({ data: { a: text, b: `${text}${'x'.repeat(60)}${text}` } }))
      }
    },
  )

  test('with escapes that are not needed, and surrogates that are alone', () => {
    expectSame(`${CORE}.ConfigMap`, String.raw`{"data":{"a":"\u0041\/\ud83d\ude00\ud83dx\ude00\ud83d\ud83d\ude00"}}`)
  })

  test('of any length', () => {
    for (const length of [0, 47, 48, 49, 126, 127, 128, 129, 16_383, 16_384, 70_000])
      for (const unit of ['a', 'é', '\n', '"'])
        expectSame(`${CORE}.ConfigMap`, stringify({ data: { [unit.repeat(3)]: unit.repeat(length), z: '' } }))
  })

  test('any', () => {
    const unit = fc.constantFrom(
      'a',
      'b',
      '0',
      ' ',
      '"',
      '\\',
      '\n',
      '\x01',
      '<',
      'é',
      '\u2028',
      '😀',
      '\ud83d',
      '\ude00',
    )
    const text = fc.string({ unit, maxLength: 70 })
    const texts = fc.dictionary(text, text, { maxKeys: 6 })
    fc.assert(
      fc.property(texts, (data) => expectSame(`${CORE}.ConfigMap`, stringify({ data }))),
      { numRuns: 200 },
    )
  })
})

test('messages that are longer or shorter than the one before', () => {
  for (const length of [1, 300, 3, 20_000, 0, 130])
    expectSame(`${CORE}.Pod`, stringify({ spec: { containers: [{ name: 'a', command: ['b'.repeat(length)] }] } }))
})

test('small JSON that becomes much', () => {
  const containers = Array.from({ length: 5000 }, () => ({}))
  expectSame(`${CORE}.PodSpec`, stringify({ containers }))
})

test('invalid JSON is an error', () => {
  const type = builtInType(`${CORE}.Pod`)
  const text = '{"metadata":{"name":"a"},"spec":{"containers":[{"name":"b","tty":true,"ports":[{"containerPort":1}]}]}}'
  for (let end = 0; end < text.length; end++)
    expect(() => transcodeMessage(type, text.slice(0, end))).toThrow(SyntaxError)
  expectSame(`${CORE}.Pod`, text)
})

test('items of a list, one of them not as this server writes it', () => {
  const type = builtInType(`${CORE}.ConfigMap`)
  const texts = ['{"data":{"a":"1"}}', '{"data":{"b":"1","a":"2"}}', `{"data":{"a":"${'x'.repeat(500)}"}}`, '{}']
  const expected = texts.map((text) => {
    const message = encodeMessage(type, parseStored(text) as JsonObject)
    return hex(itemHead(message.length)) + hex(message)
  })
  const lines = new TextEncoder().encode(texts.map((text) => `${text}\n`).join(''))
  for (const skipped of [0, 1, 3, 4, 9]) {
    const { bytes, count } = transcodeItems(type, lines, skipped)
    expect(count).toBe(texts.length)
    expect(hex(bytes)).toBe(expected.slice(skipped).join(''))
  }
  expect(hex(transcodeItems(type, lines.subarray(0, -1)).bytes)).toBe(expected.join(''))
})
