import { gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { conflict, StatusError, tooManyRequests } from '../../src/api/status.ts'
import { negotiateOutput } from '../../src/codec/negotiation/negotiate.ts'
import { finish, listShape, respondItems, respondList, respondObject, respondStatus } from '../../src/codec/respond.ts'
import { parseCbor } from '../../src/codec/cbor/decode.ts'
import { indented } from '../../src/codec/encode/indent.ts'
import { plainJson } from '../../src/json/json.ts'
import { parseStored } from '../../src/json/parse-json.ts'
import { Presenter, Source } from '../../src/codec/encode/present.ts'
import { watchFramer } from '../../src/codec/encode/watch-framer.ts'
import { readEnvelope } from '../../src/codec/protobuf/envelope.ts'
import { encodedItems, encodedLines, listProtobuf } from '../../src/codec/protobuf/list.ts'
import type { EncodedList } from '../../src/codec/protobuf/list.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { KeptItems } from '../../src/codec/protobuf/kept-items.ts'
import { yamlText } from '../../src/codec/yaml/text.ts'
import type { RequestScope } from '../../src/registry/resource-scope.ts'
import type { Resource } from '../../src/registry/resource.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import type { ListShape } from '../../src/storage/storage.ts'
import { memberText } from '../../src/storage/streams/value-text.ts'
import { fakeCustomScope, fakeRequest, fakeScope, METADATA, METADATA_LIST, TABLE } from './fake-scope.ts'
import { builtInForms } from '../../src/codec/built-in-forms.ts'
import { useOfNothing } from './use-of-nothing.ts'

const configMap = (name: string, revision: number, value = 'v'): string =>
  `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","resourceVersion":"${revision}"},"data":{"k":"${value}"}}`

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

interface Asked {
  readonly accept?: string
  readonly query?: string
  readonly headers?: Record<string, string>
}

type MakeScope = (headers: Record<string, string>, more: Partial<Resource>) => RequestScope

function scopeFor({ accept = '', query = '', headers = {} }: Asked, more: Partial<Resource> = {}): RequestScope {
  const line = `GET /api/v1/namespaces/a/configmaps${query}`
  const request = fakeRequest(line, { ...(accept === '' ? {} : { Accept: accept }), ...headers })
  return fakeScope('v1/configmaps', request, more)
}

async function one(asked: Asked, text = configMap('a', 7)): Promise<Response> {
  const scope = scopeFor(asked)
  const output = negotiateOutput(scope.request, { kind: 'object', forms: builtInForms })
  return respondObject(scope, output, 200, { revision: 7, text })
}

/** Streams what storage would send in this shape, cut at arbitrary places. */
function stored(texts: readonly string[], shape: ListShape): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(written(texts, shape))
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 17) controller.enqueue(bytes.subarray(at, at + 17))
      controller.close()
    },
  })
}

function written(texts: readonly string[], shape: ListShape): string {
  if (shape.as === 'lines') return texts.map((text) => `${text}\n`).join('')
  if (shape.as === 'members') return texts.map((text) => memberText(text, shape)).join(',')
  const { without = '{' } = shape
  return texts.map((text) => `{${text.slice(text.startsWith(without) ? without.length : 1)}`).join(',')
}

async function list(asked: Asked, texts: readonly string[], scope = scopeFor(asked)): Promise<Response> {
  const output = negotiateOutput(scope.request, { kind: 'list', forms: scope.resource.forms })
  const shape = listShape(scope.resource, output)
  const facts = {
    revision: 9,
    continueToken: 'c',
    remaining: 3,
    isEmpty: texts.length === 0,
    count: texts.length,
    shape,
  }
  return respondList(scope, output, { ...facts, values: stored(texts, shape), use: useOfNothing })
}

describe('an object', () => {
  test('as it is stored', async () => {
    const response = await one({})
    expect(await response.text()).toBe(`${configMap('a', 7)}\n`)
    expect(Object.fromEntries(response.headers)).toEqual({
      'audit-id': 'audit',
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
    })
  })

  test('indented', async () =>
    expect(await (await one({ query: '?pretty=1' })).text()).toBe(
      JSON.stringify(JSON.parse(configMap('a', 7)), null, 2),
    ))

  test('YAML', async () => {
    const response = await one({ accept: 'application/yaml' })
    expect(response.headers.get('Content-Type')).toBe('application/yaml')
    expect(await response.text()).toBe(
      'apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\nmetadata:\n  name: a\n  resourceVersion: "7"\n',
    )
  })

  test('protobuf', async () => {
    const response = await one({ accept: 'application/vnd.kubernetes.protobuf' })
    const { kind, apiVersion, raw } = readEnvelope(new Uint8Array(await response.arrayBuffer()))
    expect({ kind, apiVersion }).toEqual({ kind: 'ConfigMap', apiVersion: 'v1' })
    expect(decodeMessage(builtInType('io.k8s.api.core.v1.ConfigMap'), raw)).toMatchObject({ data: { k: 'v' } })
  })

  test('metadata', async () =>
    expect(await (await one({ accept: METADATA })).text()).toBe(
      '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"7"}}\n',
    ))

  test('a list of metadata is another thing', async () =>
    await expect(one({ accept: METADATA_LIST })).rejects.toThrow(
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ))

  test.each<[query: string, object: unknown]>([
    [
      '',
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a', resourceVersion: '7' } },
    ],
    ['?includeObject=None', null],
    ['?includeObject=Object', JSON.parse(configMap('a', 7))],
  ])('a table %s', async (query, object) => {
    const table = JSON.parse(await (await one({ accept: TABLE, query })).text()) as Record<string, unknown>
    expect(Object.keys(table)).toEqual(['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows'])
    expect(table.metadata).toEqual({ resourceVersion: '7' })
    expect(table.rows).toEqual([{ cells: ['a', 1, '<unknown>'], object }])
  })

  test('a table with a wrong includeObject', async () =>
    await expect(one({ accept: TABLE, query: '?includeObject=x' })).rejects.toThrow('Unable to convert to Table'))

  test('the annotation that is a field of DaemonSets inside is not part of metadata', async () => {
    const name = 'deprecated.daemonset.template.generation'
    const scope = fakeScope('apps/v1/daemonsets', fakeRequest('GET /', { Accept: METADATA }))
    const output = negotiateOutput(scope.request, { kind: 'object', forms: builtInForms })
    const text = `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"a","annotations":{"${name}":"1"}},"spec":{}}`
    const metadata = async () => JSON.parse(await respondObject(scope, output, 200, { revision: 1, text }).text())
    expect((await metadata()).metadata).toEqual({ name: 'a' })
  })
})

describe('compression', () => {
  const gzip = { headers: { 'Accept-Encoding': 'deflate, gzip' } }
  const large = configMap('a', 7, 'x'.repeat(131072))

  test('above 128 KiB, when asked for', async () => {
    const response = await one(gzip, large)
    expect(response.headers.get('Content-Encoding')).toBe('gzip')
    expect(response.headers.get('Vary')).toBe('Accept-Encoding')
    expect(gunzipSync(new Uint8Array(await response.arrayBuffer())).toString()).toBe(`${large}\n`)
  })

  test('not below, and not unasked', async () => {
    expect((await one(gzip)).headers.get('Content-Encoding')).toBeNull()
    expect((await one({}, large)).headers.get('Content-Encoding')).toBeNull()
    expect((await one({ headers: { 'Accept-Encoding': 'x-gzip' } }, large)).headers.get('Vary')).toBeNull()
  })

  test('of a list whose size shows as it comes', async () => {
    const small = await list(gzip, [configMap('a', 1)])
    expect(small.headers.get('Content-Encoding')).toBeNull()
    expect(JSON.parse(await small.text()).items).toHaveLength(1)
    const big = await list(gzip, [configMap('a', 1), large])
    expect(big.headers.get('Content-Encoding')).toBe('gzip')
    expect(JSON.parse(gunzipSync(new Uint8Array(await big.arrayBuffer())).toString()).items).toHaveLength(2)
  })
})

describe('a list', () => {
  const texts = [configMap('a', 1), configMap('b', 2)]
  const metadata = '"metadata":{"resourceVersion":"9","continue":"c","remainingItemCount":3}'
  const textOf = async (asked: Asked, of = texts) => (await list(asked, of)).text()

  test('of objects, which do not say their kind', async () => {
    const items = texts.map((text) => text.replace('"kind":"ConfigMap","apiVersion":"v1",', ''))
    const whole = `{"kind":"ConfigMapList","apiVersion":"v1",${metadata},"items":[${items.join(',')}]}`
    expect(await textOf({})).toBe(`${whole}\n`)
    expect(await textOf({ query: '?pretty=1' })).toBe(JSON.stringify(JSON.parse(whole), null, 2))
  })

  test('of nothing', async () => {
    expect(await textOf({}, [])).toBe(`{"kind":"ConfigMapList","apiVersion":"v1",${metadata},"items":[]}\n`)
    expect(await textOf({ accept: METADATA_LIST }, [])).toContain('"items":null}')
    expect(await textOf({ accept: TABLE }, [])).toContain('"rows":[]}')
  })

  test('of metadata', async () => {
    const items = texts.map(
      (text) =>
        `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${/\{"name[^}]*\}/.exec(text)![0]}}`,
    )
    expect(await textOf({ accept: METADATA_LIST })).toBe(
      `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",${metadata},"items":[${items.join(',')}]}\n`,
    )
  })

  test('metadata of one object is another thing', async () =>
    await expect(list({ accept: METADATA }, texts)).rejects.toThrow(
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    ))

  test('as a table, in the order of the list', async () => {
    const table = JSON.parse(await textOf({ accept: TABLE })) as { rows: { cells: unknown[] }[] }
    expect(table.rows.map(({ cells }) => cells[0])).toEqual(['a', 'b'])
  })

  test('flow schemas as a table are in the order in which they match', async () => {
    const schema = (name: string, matchingPrecedence: number) =>
      JSON.stringify({
        kind: 'FlowSchema',
        apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
        metadata: { name },
        spec: { matchingPrecedence },
      })
    const request = fakeRequest('GET /', { Accept: TABLE })
    const scope = fakeScope('flowcontrol.apiserver.k8s.io/v1/flowschemas', request)
    const response = await list({}, [schema('a', 5), schema('c', 1), schema('b', 1)], scope)
    const { rows } = JSON.parse(await response.text()) as { rows: { cells: unknown[] }[] }
    expect(rows.map(({ cells }) => cells[0])).toEqual(['b', 'c', 'a'])
  })

  test('in protobuf', async () => {
    const response = await list({ accept: 'application/vnd.kubernetes.protobuf' }, texts)
    const { kind, raw } = readEnvelope(new Uint8Array(await response.arrayBuffer()))
    expect(kind).toBe('ConfigMapList')
    const decoded = decodeMessage(builtInType('io.k8s.api.core.v1.ConfigMapList'), raw)
    expect(decoded).toMatchObject({
      metadata: { continue: 'c' },
      items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
    })
  })

  test('of custom resources: sorted members, items that say their kind', async () => {
    const scope = fakeCustomScope(undefined, fakeRequest('GET /'))
    const text = '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}}'
    const response = await list({}, [text], scope)
    expect(await response.text()).toBe(
      `{"apiVersion":"example.com/v1","items":[${text}],"kind":"ThingList","metadata":{"continue":"c","remainingItemCount":3,"resourceVersion":"9"}}\n`,
    )
  })

  test('of what was deleted', async () => {
    const scope = scopeFor({})
    const output = negotiateOutput(scope.request, { kind: 'list', forms: builtInForms })
    const items = texts.map((text) => JSON.parse(text) as KubeObject)
    const response = await respondItems(scope, output, { revision: 9, items, use: useOfNothing })
    expect(JSON.parse(await response.text())).toMatchObject({
      kind: 'ConfigMapList',
      items: [{ data: { k: 'v' } }, {}],
    })
  })
})

// workerd has IdentityTransformStream; in Node the class is called TransformStream
vi.stubGlobal('IdentityTransformStream', TransformStream)

describe('a list in another form says what it says in compact JSON', () => {
  /** Has values of all kinds, and members and text that look like the members of a list. */
  const nasty = JSON.stringify({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'c', annotations: { items: 'null', 'a b': 'items: null\nrows: null\n' } },
    data: { empty: '', text: 'one\ntwo\n', quote: '"{[,:\\', long: 'word '.repeat(40) },
  })
  const texts = [configMap('a', 1), nasty, configMap('b', 2)]
  const gv = 'flowcontrol.apiserver.k8s.io/v1'
  const schema = `{"kind":"FlowSchema","apiVersion":"${gv}","metadata":{"name":"a"},"spec":{"matchingPrecedence":5}}`
  const thing = '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"items":[1,{}]}}'
  const cases: [what: string, as: string, texts: string[], scope: MakeScope][] = [
    ['built in', '', texts, (headers, more) => fakeScope('v1/configmaps', fakeRequest('GET /', headers), more)],
    ['custom', '', [thing, thing], (headers, more) => fakeCustomScope(undefined, fakeRequest('GET /', headers), more)],
    [
      'metadata',
      METADATA_LIST,
      texts,
      (headers, more) => fakeScope('v1/configmaps', fakeRequest('GET /', headers), more),
    ],
    ['table', TABLE, texts, (headers, more) => fakeScope('v1/configmaps', fakeRequest('GET /', headers), more)],
    [
      'ordered',
      TABLE,
      [schema, schema],
      (headers, more) => fakeScope(`${gv}/flowschemas`, fakeRequest('GET /', headers), more),
    ],
  ]
  const all = cases.flatMap(([what, as, items, scope]) =>
    [items, items.slice(0, 1), []].flatMap((some) =>
      [true, false].map((stored) => [what, some.length, stored ? 'as stored' : 'converted', as, some, scope] as const),
    ),
  )

  test.each(all)('%s, %i items, %s', async (_what, _count, stored, as, items, scopeOf) => {
    const asked = async (accept: string, query = '') => {
      const headers: Record<string, string> = accept === '' ? {} : { Accept: accept }
      const scope = scopeOf(headers, { storedAsServed: stored === 'as stored' })
      if (query !== '') Object.assign(scope.request, { query: parseQuery(query) })
      return (await list({}, items, scope)).text()
    }
    const compact = await asked(as)
    expect(await asked(as, 'pretty=true')).toBe(textOf(indented(compact.trimEnd())))
    const yaml = as === '' ? 'application/yaml' : as.replace('json', 'yaml')
    expect(await asked(yaml)).toBe(yamlText(parseStored(compact)))
  })
})

describe('CBOR, behind its gate', () => {
  const GATE = 'CBORServingAndStorage=true'
  const request = (accept = 'application/cbor') => fakeRequest('GET /', { Accept: accept }, GATE)
  const valueOf = async (response: Response) => plainJson(parseCbor(new Uint8Array(await response.arrayBuffer())))

  test('an object', async () => {
    const scope = fakeScope('v1/configmaps', request())
    const output = negotiateOutput(scope.request, { kind: 'object', forms: builtInForms })
    const response = respondObject(scope, output, 200, { revision: 7, text: configMap('a', 7) })
    expect(response.headers.get('Content-Type')).toBe('application/cbor')
    expect(await valueOf(response)).toEqual(JSON.parse(configMap('a', 7)))
  })

  test.each(['built in', 'custom'])('a list, %s', async (origin) => {
    const isCustom = origin === 'custom'
    const scope = isCustom ? fakeCustomScope(undefined, request()) : fakeScope('v1/configmaps', request())
    const text = isCustom ? '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}}' : configMap('a', 1)
    const { kind: _, apiVersion: __, ...bare } = JSON.parse(text) as Record<string, unknown>
    expect(await valueOf(await list({}, [text], scope))).toEqual({
      kind: isCustom ? 'ThingList' : 'ConfigMapList',
      apiVersion: isCustom ? 'example.com/v1' : 'v1',
      metadata: { resourceVersion: '9', continue: 'c', remainingItemCount: 3 },
      items: [isCustom ? JSON.parse(text) : bare],
    })
  })

  test('a list of metadata', async () => {
    const scope = fakeScope('v1/configmaps', request(METADATA_LIST.replace('json', 'cbor')))
    expect(await valueOf(await list({}, [configMap('a', 1)], scope))).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
    })
  })

  test('a watch', () => {
    const scope = fakeScope('v1/configmaps', request())
    const framer = watchFramer(
      scope.resource,
      negotiateOutput(scope.request, { kind: 'watch', forms: builtInForms }),
      () => 0,
    )
    const event = plainJson(parseCbor(framer.event('ADDED', Source.ofText(configMap('a', 7)))))
    expect(event).toEqual({ type: 'ADDED', object: JSON.parse(configMap('a', 7)) })
  })
})

describe('errors', () => {
  const request = (headers: Record<string, string> = {}) => fakeRequest('GET /api/v1/pods', headers)
  const error = conflict({ group: '', resource: 'pods' }, 'a', 'why')

  test('compact, with the code of the Status', async () => {
    const response = await respondStatus(request(), error)
    expect(response.status).toBe(409)
    expect(await response.text()).toMatch(
      /^\{"kind":"Status","apiVersion":"v1","metadata":\{\},"status":"Failure",.*\n$/,
    )
  })

  test('indented for clients that accept nothing that fits', async () =>
    expect(await (await respondStatus(request({ Accept: TABLE }), error)).text()).toMatch(/^\{\n {2}"kind": "Status",/))

  test('YAML', async () =>
    expect(await (await respondStatus(request({ Accept: 'application/yaml' }), error)).text()).toMatch(
      /^apiVersion: v1\ncode: 409\n/,
    ))

  test('when to come back', async () =>
    expect((await respondStatus(request(), tooManyRequests('later', 5))).headers.get('Retry-After')).toBe('5'))

  test('headers of its own', async () => {
    const own = new StatusError(403, 'Forbidden', 'no', {}, {}, { 'X-Content-Type-Options': 'nosniff' })
    expect((await respondStatus(request(), own)).headers.get('X-Content-Type-Options')).toBe('nosniff')
  })

  test('the headers about the request are on every answer once', () => {
    const warned = {
      ...request(),
      warnings: ['late'],
      answerHeaders: { 'Audit-Id': 'a', 'X-Kubernetes-Pf-Flowschema-Uid': 'f' },
    }
    const scope = { ...scopeFor({}), request: warned }
    const output = negotiateOutput(warned, { kind: 'object', forms: builtInForms })
    for (const response of [
      respondObject(scope, output, 200, { revision: 1, text: configMap('a', 1) }),
      new Response('plain'),
    ]) {
      finish(warned, response)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'audit-id': 'a',
        'x-kubernetes-pf-flowschema-uid': 'f',
        warning: '299 - "late"',
      })
    }
  })

  test('warnings', async () => {
    const warned = { ...request(), warnings: ['a', 'b', 'a'] }
    const response = await respondStatus(warned, error)
    finish(warned, response)
    expect(response.headers.get('Warning')).toBe('299 - "a", 299 - "b"')
  })
})

test.each([true, false])(
  'a list in protobuf that is too long to keep is read twice and streamed: %s',
  async (stored) => {
    const lines = Array.from({ length: 60 }, (_, i) => configMap(`c${i}`, i + 1))
    const scope = scopeFor({ accept: 'application/vnd.kubernetes.protobuf' }, { storedAsServed: stored })
    const presenter = new Presenter(
      scope.resource,
      negotiateOutput(scope.request, { kind: 'list', forms: builtInForms }),
    )
    const metadata = { resourceVersion: '9' }
    /** The chunks are cut at arbitrary places. */
    const values = (size: number): ReadableStream<Uint8Array> => {
      const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
      const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => i * size)
      return new ReadableStream({
        start(controller) {
          for (const start of starts) controller.enqueue(bytes.slice(start, start + size))
          controller.close()
        },
      })
    }
    const fail = (error: unknown) => expect.unreachable(String(error))
    const listed = (keep?: number, again?: EncodedList['again']) =>
      listProtobuf(
        presenter,
        metadata,
        {
          items: encodedLines(presenter, values(700)),
          ...(again === undefined ? {} : { again }),
          ...(keep === undefined ? {} : { kept: new KeptItems(0, keep) }),
        },
        fail,
      )
    const whole = await listed()
    const sources = lines.map((line) => Source.ofText(line))
    expect(await listProtobuf(presenter, metadata, { items: encodedItems(presenter, sources) }, fail)).toEqual(whole)
    let reads = 0
    const again = async (skipped: number) => (reads++, encodedLines(presenter, values(1100), skipped))
    for (const keep of [0, 800, 1600]) {
      const streamed = await listed(keep, again)
      expect(streamed).toBeInstanceOf(ReadableStream)
      expect(await new Response(streamed).bytes()).toEqual(whole)
    }
    expect(reads).toBe(3)
    expect(await listed(undefined, again)).toEqual(whole)
    expect(reads).toBe(3)
  },
)

test('a list in protobuf gives others their turn between the chunks of its shard', async () => {
  const scope = scopeFor({ accept: 'application/vnd.kubernetes.protobuf' }, { storedAsServed: true })
  const output = negotiateOutput(scope.request, { kind: 'list', forms: builtInForms })
  let turns = 0
  const presenter = new Presenter(scope.resource, output, async () => void turns++)
  const values = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let n = 0; n < 5; n++) controller.enqueue(new TextEncoder().encode(`${configMap(`c${n}`, n + 1)}\n`))
      controller.close()
    },
  })
  let count = 0
  for await (const items of encodedLines(presenter, values)) count += items.count
  expect({ count, turns }).toEqual({ count: 5, turns: 4 })
})
