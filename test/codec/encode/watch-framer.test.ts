import { describe, expect, test } from 'vitest'
import { expired } from '../../../src/api/status.ts'
import { negotiateOutput } from '../../../src/codec/negotiation/negotiate.ts'
import { Source } from '../../../src/codec/encode/present.ts'
import { readEnvelope, readWatchFrame } from '../../../src/codec/protobuf/envelope.ts'
import { watchFramer } from '../../../src/codec/encode/watch-framer.ts'
import type { WatchFramer } from '../../../src/codec/encode/watch-framer.ts'
import { fakeCustomScope, fakeRequest, fakeScope, METADATA, METADATA_LIST, TABLE } from '../fake-scope.ts'

function framer(accept: string, resource = 'v1/configmaps', query = ''): WatchFramer {
  const request = fakeRequest(`GET /${query}`, accept === '' ? {} : { Accept: accept })
  const scope = resource === 'custom' ? fakeCustomScope(undefined, request) : fakeScope(resource, request)
  return watchFramer(
    scope.resource,
    negotiateOutput(request, { kind: 'watch', forms: scope.resource.forms }),
    request.clock,
  )
}

const text = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"},"data":{"k":"v"}}'
const decoder = new TextDecoder()
const lines = (...frames: Uint8Array[]) => frames.map((frame) => decoder.decode(frame))

describe('JSON', () => {
  test('a line an event', () =>
    expect(lines(framer('').event('ADDED', Source.ofText(text)))).toEqual([`{"type":"ADDED","object":${text}}\n`]))

  test('an error', () =>
    expect(lines(framer('').error(expired('too old')))[0]).toMatch(
      /^\{"type":"ERROR","object":\{"kind":"Status".*"code":410\}\}\n$/,
    ))

  test.each<[resource: string, object: string]>([
    ['v1/configmaps', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}'],
    [
      'v1/pods',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"},"spec":{"containers":null},"status":{}}',
    ],
    [
      'apps/v1/deployments',
      '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"resourceVersion":"9"},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
    ],
    ['custom', '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"resourceVersion":"9"}}'],
  ])('a bookmark of %s', (resource, object) =>
    expect(lines(framer('', resource).bookmark(9, false))).toEqual([`{"type":"BOOKMARK","object":${object}}\n`]),
  )

  test('the bookmark that ends the initial events', () =>
    expect(lines(framer('').bookmark(9, true))[0]).toContain('"annotations":{"k8s.io/initial-events-end":"true"}'))
})

describe('tables', () => {
  const objectOf = (frame: Uint8Array) =>
    (JSON.parse(decoder.decode(frame)) as { object: Record<string, unknown> }).object

  test('columns come with the first event', () => {
    const tables = framer(TABLE)
    const [first, second] = [
      tables.event('ADDED', Source.ofText(text)),
      tables.event('MODIFIED', Source.ofText(text)),
    ].map(objectOf)
    expect(first!.columnDefinitions).toHaveLength(3)
    expect(second!.columnDefinitions).toBeNull()
    expect(second!.rows).toMatchObject([{ cells: ['a', 1, '<unknown>'] }])
  })

  test('the end of the initial events is sent even without objects', () => {
    const tables = framer(TABLE, 'v1/configmaps', '?includeObject=None')
    expect(objectOf(tables.bookmark(9, false)).rows).toMatchObject([{ object: null }])
    expect(objectOf(tables.bookmark(9, true)).rows).toMatchObject([
      { object: { kind: 'PartialObjectMetadata', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
    ])
  })
})

test('metadata', () => {
  expect(lines(framer(METADATA).event('ADDED', Source.ofText(text)))[0]).toContain('{"kind":"PartialObjectMetadata"')
  expect(framer(METADATA).passesLines).toBe(false)
})

test('lists of metadata have no events: the watch ends', () =>
  expect(() => framer(METADATA_LIST).event('ADDED', Source.ofText(text))).toThrow())

test('protobuf', () => {
  const binary = framer('application/vnd.kubernetes.protobuf')
  const frame = binary.event('ADDED', Source.ofText(text))
  expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0)).toBe(frame.length - 4)
  const { type, object } = readWatchFrame(frame)
  expect([type, readEnvelope(object).kind]).toEqual(['ADDED', 'ConfigMap'])
  expect(readEnvelope(readWatchFrame(binary.error(expired('x'))).object).kind).toBe('Status')
  expect(binary.isText).toBe(false)
})
