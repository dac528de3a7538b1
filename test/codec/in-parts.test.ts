// The steps of a write over a large object, interrupted after every few items, give the same result as in one run.
import { beforeAll, describe, expect, test } from 'vitest'
import { cloneInParts } from '../../src/json/clone-json.ts'
import { FieldPath } from '../../src/api/field.ts'
import { plainJson } from '../../src/json/json.ts'
import { stringifySorted } from '../../src/json/write-json.ts'
import { parseStored, parseStoredInParts } from '../../src/json/parse-json.ts'
import type { JsonTree } from '../../src/json/json.ts'
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import { inParts } from '../../src/base/parts.ts'
import { lost } from '../../src/base/walk-progress.ts'
import { atOnce, inTurns } from '../../src/base/slices.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { encodeJson } from '../../src/codec/encode/encode.ts'
import { encodeCbor, encodeCborValue } from '../../src/codec/cbor/encode.ts'
import { indented } from '../../src/codec/encode/indent.ts'
import { listForm } from '../../src/codec/encode/list-form.ts'
import { negotiateOutput } from '../../src/codec/negotiation/negotiate.ts'
import { parseBody, parsing } from '../../src/codec/decode/parse-body.ts'
import type { BodyFormat } from '../../src/codec/decode/parse-body.ts'
import { Presenter, Source } from '../../src/codec/encode/present.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { encodeMessage } from '../../src/codec/protobuf/encode.ts'
import { encodeProtobuf } from '../../src/codec/protobuf/envelope.ts'
import { encodedItems } from '../../src/codec/protobuf/list.ts'
import { liveOf } from '../../src/codec/stored-object.ts'
import { watchFramer } from '../../src/codec/encode/watch-framer.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { yamlText } from '../../src/codec/yaml/text.ts'
import { valuesEqual, valuesEqualApart } from '../../src/json/value-order.ts'
import { FieldSet } from '../../src/patch/field-set.ts'
import { fromUnstructured } from '../../src/patch/from-unstructured.ts'
import { asWritten } from '../../src/patch/object-forms.ts'
import { applyMergePatch } from '../../src/patch/merge-patch.ts'
import { fieldsIn, removeFields } from '../../src/patch/fields-of-value.ts'
import { merge } from '../../src/patch/merge.ts'
import { compare } from '../../src/patch/compare.ts'
import { checkType } from '../../src/patch/type-problems.ts'
import { atomOf } from '../../src/schema/atom.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { defaultPod } from '../../src/registry/core/pods/pod-defaults.ts'
import { defaultRule } from '../../src/schema/default-rules.ts'
import { applyDefaults } from '../../src/schema/defaulting.ts'
import { dropDisabledFields } from '../../src/schema/disabled-fields.ts'
import { customKindType } from '../../src/schema/from-openapi.ts'
import { validateEmbedded } from '../../src/validation/embedded-objects.ts'
import { loadPatterns } from '../../src/validation/go-pattern.ts'
import { validateLists } from '../../src/validation/list-validation.ts'
import { validateValue } from '../../src/validation/value-validation.ts'
import { fakeRequest, fakeScope, METADATA, METADATA_LIST, NOW, TABLE } from './fake-scope.ts'

beforeAll(loadPatterns)
beforeAll(loadYaml)

/** Records walks that lose their progress: an interrupted walk finds its list rebuilt and must start again. */
const made: string[] = []
lost.tell = (owner, items) => void made.push(`${items} of ${JSON.stringify(owner).slice(0, 100)}`)

const stopped = <T>(run: () => T, part: number): Promise<T> => inTurns(inParts(run, part), async () => {})

/** @param make builds a fresh value to walk over, since walks change it */
async function same<Given, T>(make: () => Given, run: (given: Given) => T): Promise<T> {
  const whole = outcomeOf(() => atOnce(inParts(runOf(make(), run))))
  for (const part of [1, 3, 50]) {
    const given = make()
    const found = await stopped(() => run(given), part).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: String(error) }),
    )
    expect(found).toEqual(whole)
    expect(made.splice(0)).toEqual([])
  }
  return 'value' in whole ? whole.value : expect.unreachable(whole.error)
}

const runOf =
  <Given, T>(given: Given, run: (given: Given) => T) =>
  () =>
    run(given)

function outcomeOf<T>(run: () => T): { value: T } | { error: string } {
  try {
    return { value: run() }
  } catch (error) {
    return { error: String(error) }
  }
}

const times = <T>(n: number, one: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => one(at))
const parsed = (text: string): JsonTree => parseBody('json', new TextEncoder().encode(text)).tree!

const podText = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    labels: Object.fromEntries(times(20, (at) => [`l${99 - at}`, 'v'])),
    finalizers: ['a/b', 'a/b'],
  },
  spec: {
    unknown: 1,
    containers: times(4, (at) => ({
      name: `c${at}`,
      image: 'b',
      other: [1, 2],
      env: times(9, (place) => ({ name: `V${place % 7}`, value: `${place}`, more: {} })),
      ports: times(5, (place) => ({ containerPort: place + 1, name: `p${place}` })),
      resources: { requests: { cpu: '1.0001', memory: '1Ki' } },
    })),
    volumes: times(5, (at) => ({
      name: `v${at}`,
      configMap: { name: 'a', items: times(3, (n) => ({ key: `${n}`, path: 'p' })) },
    })),
  },
})
const repeatedText = `{"kind":"Pod","kind":"Pod","spec":{"containers":[{"name":"a","name":"b"}],"nodeSelector":{"a":"b","a":"c"}},"spec":{"hostname":"h"}}`
const wrongText = '{"kind":"Pod","spec":{"containers":[{"name":"a"},{"name":1},{"image":2}]}}'

const podType = builtInType('io.k8s.api.core.v1.Pod')
const podAtom = atomOf(podType)
const pod = (): JsonObject => decodeObject(podType, parsed(podText)).object
const written = (): JsonObject => asWritten(podType, pod())
const changed = (): JsonObject => {
  const object = written()
  const { containers } = object['spec'] as { containers: { env: JsonObject[]; image: string }[] }
  containers[1]!.image = 'other'
  containers[2]!.env.splice(2, 3, { name: 'NEW', value: '1' })
  containers.splice(3, 1)
  return object
}

describe('objects of a built-in kind', () => {
  test.each([podText, repeatedText, wrongText])('are decoded: %.40s', async (text) => {
    await same(
      () => parsed(text),
      (tree) => outcomeOf(() => decodeObject(podType, tree)),
    )
  })

  test('get their defaults', () =>
    same(pod, (object) => {
      const ofKind = { type: podType.name, apply: defaultRule(defaultPod) }
      applyDefaults(podType, object, { now: new Date(0), enabled: () => true, ofKind })
      return object
    }))

  test('lose disabled fields', () =>
    same(pod, (object) => {
      dropDisabledFields(podType, object, undefined, () => false)
      return object
    }))

  test('are written', async () => {
    await same(pod, (object) => encodeJson(podType, object))
    await same(
      () => ({ ...pod(), metadata: { name: 'a', labels: { 10: 'a', 9: 'b', a: 'c' } } }),
      (object) => encodeJson(podType, object),
    )
  })

  test('are converted from maps', () =>
    same(
      () => parsed(podText),
      (tree) => fromUnstructured(podType, tree),
    ))
})

describe('ownership', () => {
  const fieldsOf = (set: FieldSet) => set.toFieldsV1()

  test('of all that an object says', async () => {
    await same(written, (object) => fieldsOf(fieldsIn(podAtom, object)))
  })

  test('of what a write changes', () =>
    same(
      () => [written(), changed()] as const,
      ([before, after]) => {
        const { added, modified, removed } = compare(podAtom, before, after)
        return [added, modified, removed].map(fieldsOf)
      },
    ))

  test('as it is stored', async () => {
    const fields = fieldsIn(podAtom, written()).toFieldsV1()
    await same(
      () => structuredClone(fields) as Json,
      (json) => fieldsOf(FieldSet.fromFieldsV1(json)),
    )
  })

  test('of what is merged, and of what is taken away', async () => {
    const unlike = (object: JsonObject): JsonObject => {
      const { containers } = object['spec'] as { containers: { env: { name: string }[] }[] }
      for (const { env } of containers) env.forEach((one, at) => (one.name += at))
      return { ...object, metadata: { name: 'a' } }
    }
    await same(
      () => [unlike(written()), unlike(changed())] as const,
      ([live, config]) => merge(podAtom, live, config),
    )
    const fields = compare(podAtom, changed(), written()).added
    await same(written, (object) => removeFields(podAtom, object, fields))
  })

  test('of objects that do not have their type', () =>
    same(
      () => ({
        ...written(),
        spec: { containers: [{ name: 'a', env: [{ name: 1 }, { value: 'b' }] }, { name: 'a' }] },
      }),
      (object) => outcomeOf(() => checkType(podAtom, object as Json, 'refused')),
    ))
})

describe('custom objects', () => {
  const list = (items: object, rest: object = {}) => ({ type: 'array', items, ...rest })
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          set: list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
          words: list({ type: 'string', enum: ['one', 'two'], maxLength: 3 }),
          keyed: list(
            { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } } },
            { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
          ),
          map: { type: 'object', additionalProperties: { type: 'integer', maximum: 5 } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          pods: list({
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          }),
        },
      },
    },
  } as unknown as JsonObject
  const type = customKindType('example.com.v1.Thing', { group: 'example.com', version: 'v1', kind: 'Thing' }, schema)
  const text = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","more":1},"spec":${JSON.stringify({
    set: times(12, (at) => `e${at % 9}`),
    words: times(12, (at) => (at % 3 === 0 ? 'one' : `w${at}`)),
    keyed: times(12, (at) => ({ name: `k${at % 10}`, other: at, nothing: null })),
    map: Object.fromEntries(times(12, (at) => [`m${20 - at}`, at])),
    free: { a: times(9, (at) => ({ b: [at, {}] })) },
    unknown: times(9, () => ({})),
    pods: times(4, (at) => ({ apiVersion: 'v1', kind: at % 2 ? 'Pod' : '', metadata: { name: 'P', x: 1 }, y: 2 })),
  }).slice(0, -1)},"free":{"twice":[{"a":1.50,"a":[{}]}]}}}`
  const decoded = (): KubeObject & JsonObject => decodeObject(type, parsed(text)).object as never

  test('are decoded', async () => {
    const { strict } = await same(
      () => parsed(text),
      (tree) => decodeObject(type, tree),
    )
    expect(strict).toContain('duplicate field "spec.free.twice[0].a"')
    expect(strict).toContain('unknown field "spec.pods[0].metadata.x"')
  })

  test('are decoded once, also where something walks over them behind it', () =>
    same(
      () => parsed(text),
      (tree) => {
        const { object, strict } = decodeObject(type, tree)
        applyDefaults(type, object, {} as never)
        return strict
      },
    ))

  test('give others their turn where elements are compared with those of before', async () => {
    const one = (): JsonObject => ({ spec: { keyed: times(2_000, (at) => ({ name: `k${at}`, size: at })) } })
    const [object, before] = [one(), one()]
    let turns = 0
    await inTurns(
      inParts(() => validateValue(schema, object, FieldPath.root, { value: before }), 50),
      async () => void turns++,
    )
    expect(turns).toBeGreaterThan(2_000 / 50)
  })

  test('get their defaults, and are written', () =>
    same(decoded, (object) => {
      applyDefaults(type, object, {} as never)
      return stringifySorted(object)
    }))

  test('are validated', async () => {
    const errors = await same(decoded, (object) => [
      ...validateValue(schema, object),
      ...validateLists(type, object, FieldPath.root),
      ...validateEmbedded(type, object, FieldPath.root),
    ])
    expect(errors.length).toBeGreaterThan(10)
  })

  test('of no type are plain', () =>
    same(
      () => parsed(text),
      (tree) => plainJson(tree),
    ))
})

test.each([podText, repeatedText, '{"a":', '{"a":"\u00ff"', '[1,{}]'])('bodies are parsed: %.30s', async (text) => {
  const bytes = new TextEncoder().encode(text)
  const whole = outcomeOf(() => parseBody('json', bytes).tree)
  const found = await inTurns(parsing('json', bytes), async () => {}).then(
    ({ tree }) => ({ value: tree }),
    (error: unknown) => ({ error: String(error) }),
  )
  expect(found).toEqual(whole)
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const crdType = builtInType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition')
const field = { type: 'string', description: 'a text '.repeat(20) }
const schema = {
  type: 'object',
  properties: Object.fromEntries(times(40, (at) => [`p${at}`, { type: 'object', properties: { a: field, b: field } }])),
  items: { type: 'object', properties: Object.fromEntries(times(40, (at) => [`q${at}`, field])) },
  additionalProperties: { type: 'object', properties: Object.fromEntries(times(40, (at) => [`r${at}`, field])) },
  dependencies: { a: times(80, (at) => `d${at}`), b: { properties: { a: field } } },
  anyOf: times(30, () => ({ properties: { a: field } })),
  default: { a: times(400, (at) => ({ at, b: 1.5, c: '\u00e9\ud800'.repeat(at % 3) })) },
  example: 'x'.repeat(2000),
}
const definition = (): JsonObject =>
  decodeObject(
    crdType,
    parsed(
      JSON.stringify({
        metadata: { name: 'a', annotations: Object.fromEntries(times(90, (at) => [`a${at}`, 'v'])) },
        spec: {
          group: 'g',
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
        },
      }),
    ),
  ).object

describe.each([
  ['a Pod', podType, pod],
  ['a definition', crdType, definition],
])('%s is what it is at once', (_, type, make) => {
  test('in YAML', () => same(make, yamlText))
  test('in CBOR', () => same(make, (object) => hex(encodeCbor(type, object))))
  test('in CBOR, without a type', () => same(make, (object) => hex(encodeCborValue(object))))
  test('indented', async () => {
    const text = JSON.stringify(times(20_000, () => ({ a: ['[{"'] })))
    await same(
      () => ({}),
      (owner) => new TextDecoder().decode(indented(text, owner)),
    )
  })

  test('in protobuf', async () => {
    await same(make, (object) => hex(encodeProtobuf(type, object)))
    const message = encodeMessage(type, make())
    const large = (bytes: Uint8Array) => () => bytes.slice()
    const read = await same(large(message), (bytes) => decodeMessage(type, bytes))
    expect(hex(encodeMessage(type, read))).toBe(hex(message))
    for (const at of [1, 3, 7]) {
      const broken = message.slice(0, Math.floor((message.length * at) / 8))
      await same(large(broken), (bytes) => outcomeOf(() => decodeMessage(type, bytes)))
    }
  })
})

/** A stored Pod with an integer that JSON.parse would round. */
const storedPod = () =>
  `${encodeJson(podType, pod()).slice(0, -1)},"more":[12345678901234567890123,-0,9007199254740993]}`
const EACH_FORM = ['json', 'yaml', 'cbor', 'pretty', 'Table', 'metadata'] as const

function presenterOf(
  form: (typeof EACH_FORM)[number],
  accept: Parameters<typeof negotiateOutput>[1]['kind'],
): Presenter {
  const accepted = {
    json: 'application/json',
    yaml: 'application/yaml',
    cbor: 'application/cbor',
    pretty: '',
    Table: TABLE,
  }
  const metadata = accept === 'list' ? METADATA_LIST : METADATA
  const header = form === 'metadata' ? metadata : accepted[form]
  const request = fakeRequest(
    `GET /api/v1/pods${form === 'pretty' ? '?pretty=1' : ''}`,
    header === '' ? {} : { Accept: header },
    'CBORServingAndStorage=true',
  )
  const { resource } = fakeScope('v1/pods', request)
  return new Presenter(resource, negotiateOutput(request, { kind: accept, forms: resource.forms }))
}

const sources = () => [storedPod(), storedPod()].map((text) => Source.ofText(text))

test.each(EACH_FORM)('items of a list in %s are what they are at once', async (form) => {
  await same(
    () => ({ given: sources(), list: listForm(presenterOf(form, 'list'), {}, 2, NOW) }),
    ({ given, list }) => hex(list.items(given)),
  )
})

test('items of a list in protobuf are what they are at once', async () => {
  const { resource, output } = presenterOf('json', 'list')
  const others = { ...resource, storedAsServed: false }
  const presenter = new Presenter(others, { ...output, serialization: 'protobuf' })
  const all = async () => hex((await Array.fromAsync(encodedItems(presenter, sources()))).at(0)!.bytes)
  const large = Source.ofText(storedPod().padEnd(100_000, ' '))
  const [alone] = await Array.fromAsync(encodedItems(presenter, [large]))
  expect(hex(alone!.bytes).repeat(2)).toBe(await all())
})

test.each(['json', 'cbor', 'Table', 'metadata'] as const)(
  'events of a watch in %s are what they are at once',
  async (form) => {
    const { resource, output } = presenterOf(form, 'watch')
    await same(
      () => ({ framer: watchFramer(resource, output, () => NOW.getTime()), source: Source.ofText(storedPod()) }),
      ({ framer, source }) => hex(framer.event('ADDED', source)),
    )
  },
)

test.each(['exact', 'rounded'] as const)('a long stored text is read as a short one: %s', async (numbers) => {
  const long = `${' '.repeat(300_000)}${storedPod()}`
  const read = await same(
    () => ({}),
    (owner) => parseStoredInParts(long, owner, numbers),
  )
  expect(read).toEqual(numbers === 'exact' ? parseStored(storedPod()) : JSON.parse(storedPod()))
})

test('nulls of a stored object go', async () => {
  const text = JSON.stringify({
    ...written(),
    spec: { containers: times(9, () => ({ name: 'a', env: null, ports: [{ name: null }] })) },
  })
  const read = await same(
    () => liveOf({ revision: 1, text }),
    (live) => live.object,
  )
  expect(JSON.stringify(read)).not.toContain('null')
})

test('a copy is made', () => same(pod, cloneInParts))

const cbor = encodeCborValue(pod())
const yaml = `${yamlText(pod())}more: &a {x: [1, 2], y: {z: w}}\nagain: [*a, *a, {<<: *a, y: 2}]\n`
test.each<[BodyFormat, string, Uint8Array]>([
  ['cbor', 'a Pod', cbor],
  ['cbor', 'a Pod that ends too early', cbor.slice(0, 900)],
  ['cbor', 'a Pod and more', Uint8Array.of(...cbor, 0)],
  ['cbor', 'lists and maps without lengths', Buffer.from('bf41619f80bfff01ff416280ff', 'hex')],
  ['cbor', 'a map that ends behind a name', Buffer.from('bf4161ff', 'hex')],
  ['yaml', 'a Pod', new TextEncoder().encode(yaml)],
  ['yaml', 'a Pod, and a syntax error', new TextEncoder().encode(`${yaml}\n  x: [}`)],
  ['yaml', 'many lines of nothing', new TextEncoder().encode(`${'\n'.repeat(9000)}a: b\n---\nc: d`)],
])('bodies are parsed: %s, %s', async (format, _, bytes) => {
  const whole = outcomeOf(() => parseBody(format, bytes).tree)
  const found = await inTurns(parsing(format, bytes), async () => {}).then(
    ({ tree }) => ({ value: tree }),
    (error: unknown) => ({ error: String(error) }),
  )
  expect(found).toEqual(whole)
})

test('two values are equal in parts where they are at once', async () => {
  const wide = () => Object.fromEntries(times(3_000, (at) => [`k${at}`, at]))
  for (const [a, b] of [
    [wide(), wide()],
    [wide(), { ...wide(), k2999: 0 }],
    [{ a: wide() }, { a: [] }],
    [times(3_000, (at) => at), times(3_000, (at) => at)],
    [[1], null],
  ] as [Json, Json][])
    expect(
      await same(
        () => ({ a, b }),
        ({ a, b }) => valuesEqualApart(a, b),
      ),
    ).toBe(valuesEqual(a, b))
})

test('a merge patch of a wide map comes to what it comes to at once', async () => {
  const wide = (value: Json) => Object.fromEntries(times(1_500, (at) => [`k${at}`, value]))
  const patched = await same(
    () => ({ document: { a: wide(1), b: 2 }, patch: { a: { ...wide({ c: null, d: 1 }), k7: null }, b: null } }),
    ({ document, patch }) => applyMergePatch(document, patch, true).document,
  )
  expect(patched).toMatchObject({ a: { k8: { d: 1 } } })
})
