import { describe, expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { fromUnstructured } from '../../src/patch/from-unstructured.ts'
import { treeText } from '../../src/patch/json-document.ts'
import { applyStrategicMergePatch } from '../../src/patch/strategic-merge-patch.ts'
import type { PatchMap } from '../../src/patch/strategic-form.ts'
import { builtInType, typeOfKind } from '../../src/schema/built-in.ts'

const podSpec = builtInType('io.k8s.api.core.v1.PodSpec')
const meta = builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')

const patched = (type: typeof podSpec, original: string, patch: string): string =>
  treeText(applyStrategicMergePatch(type, parseJson(original) as PatchMap, parseJson(patch) as PatchMap))

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`
    throw error
  }
  return 'none'
}

describe('lists', () => {
  const containers = '{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}'

  test.each([
    [
      'merged by their key, new ones first',
      '{"containers":[{"name":"b","image":"2"},{"name":"c"}]}',
      '{"containers":[{"image":"1","name":"a"},{"image":"2","name":"b"},{"name":"c"}]}',
    ],
    ['$patch: delete', '{"containers":[{"name":"a","$patch":"delete"}]}', '{"containers":[{"name":"b","image":"1"}]}'],
    [
      '$patch: replace leaves what else is given',
      '{"containers":[{"name":"c"},{"$patch":"replace"}]}',
      '{"containers":[{"name":"c"}]}',
    ],
    ['null', '{"containers":null}', '{}'],
    ['nothing', '{"containers":[]}', '{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}'],
    [
      '$setElementOrder',
      '{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}',
      '{"containers":[{"name":"b","image":"1"},{"name":"a","image":"1"}]}',
    ],
    [
      'lists without merge are replaced',
      '{"tolerations":[{"key":"x"}]}',
      '{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}],"tolerations":[{"key":"x"}]}',
    ],
  ])('%s', (_, patch, expected) => {
    const sorted = (text: string) => JSON.parse(text) as unknown
    expect(sorted(patched(podSpec, containers, patch))).toEqual(sorted(expected))
  })

  test('of scalars are sets', () => {
    const live = '{"finalizers":["a","b","c"]}'
    expect(patched(meta, live, '{"finalizers":["c","d"]}')).toBe('{"finalizers":["a","b","c","d"]}')
    expect(patched(meta, live, '{"$deleteFromPrimitiveList/finalizers":["b"]}')).toBe('{"finalizers":["a","c"]}')
    expect(patched(meta, live, '{"$setElementOrder/finalizers":["c","a"]}')).toBe('{"finalizers":["b","c","a"]}')
  })

  test('a key that is not written as a whole number is another key', () => {
    const container = builtInType('io.k8s.api.core.v1.Container')
    const live = '{"ports":[{"containerPort":80}]}'
    expect(patched(container, live, '{"ports":[{"containerPort":80,"name":"x"}]}')).toBe(
      '{"ports":[{"containerPort":80,"name":"x"}]}',
    )
    expect(patched(container, live, '{"ports":[{"containerPort":80.0}]}')).toBe(
      '{"ports":[{"containerPort":80.0},{"containerPort":80}]}',
    )
  })

  test('deleting makes room in which new elements count as live ones', () => {
    const live = '{"volumes":[{"name":"e"},{"name":"d"}]}'
    const patch =
      '{"$setElementOrder/volumes":[{"name":"c"},{"name":"b"}],"volumes":[{"name":"c"},{"name":"b"},{"$patch":"delete","name":"e"}]}'
    expect(patched(podSpec, live, patch)).toBe('{"volumes":[{"name":"d"},{"name":"c"},{"name":"b"}]}')
  })
})

describe('maps', () => {
  test.each([
    ['merged', '{"labels":{"b":"2","c":null}}', '{"labels":{"a":"1","b":"2"}}'],
    ['$patch: replace', '{"labels":{"$patch":"replace","b":"2"}}', '{"labels":{"b":"2"}}'],
    ['$patch: delete', '{"labels":{"$patch":"delete"}}', '{"labels":{}}'],
    ['$retainKeys', '{"labels":{"$retainKeys":["a"],"a":"2"}}', '{"labels":{"a":"2"}}'],
  ])('%s', (_, patch, expected) => {
    expect(patched(meta, '{"labels":{"a":"1","c":"3"}}', patch)).toBe(expected)
  })

  test('directives in what is new are dropped with their map', () => {
    expect(patched(meta, '{}', '{"labels":{"a":null,"b":"1"},"annotations":{"$patch":"replace","x":"y"}}')).toBe(
      '{"labels":{"b":"1"}}',
    )
  })
})

test.each([
  ['{"labels":{"$patch":"merge"}}', '500 unknown patch type: merge in map: map[$patch:merge]'],
  ['{"labels":{"$patch":5}}', '500 unknown patch type: %!s(int64=5) in map: map[$patch:5]'],
  ['{"labels":{"$retainKeys":["b"],"a":"2"}}', '400 invalid patch format of retainKeys'],
  ['{"labels":{"$retainKeys":"b"}}', '400 invalid patch format of retainKeys'],
  ['{"ownerReferences":[{"name":"o"}]}', '500 map: map[name:o] does not contain declared merge key: uid'],
  ['{"ownerReferences":[{"uid":"u","$patch":"merge"}]}', '500 merging lists cannot yet be specified in the patch'],
  ['{"ownerReferences":["u"]}', '500 list element types are not identical: [[map[uid:u]] [u]]'],
  [
    '{"finalizers":["b"],"$setElementOrder/finalizers":["a"]}',
    "500 The order in patch list:\n[b]\n doesn't match $setElementOrder list:\n[a]\n",
  ],
  ['{"$setElementOrder/finalizers":5}', '500 expected a []interface {}, but received a int64'],
])('%s is refused', (patch, message) => {
  const live = '{"labels":{"a":"1"},"finalizers":["a"],"ownerReferences":[{"uid":"u"}]}'
  expect(refusal(() => patched(meta, live, patch))).toBe(message)
})

describe('decoding of the result', () => {
  const deployment = typeOfKind({ group: 'apps', version: 'v1', kind: 'Deployment' })!
  const converted = (text: string) => fromUnstructured(deployment, parseJson(text))

  test.each([
    ['{"spec":{"replicas":"3"}}', 'unrecognized type: int32'],
    ['{"spec":{"replicas":2.5}}', 'cannot convert float64 to int32'],
    ['{"metadata":{"labels":{"a":5}}}', 'cannot convert int64 to string'],
    ['{"metadata":{"labels":[]}}', 'cannot restore map from slice'],
    ['{"spec":"x"}', 'cannot restore struct from: string'],
    ['{"spec":{"template":{"spec":{"containers":"x"}}}}', 'cannot restore slice from string'],
  ])('%s is refused', (text, message) => {
    expect(() => converted(text)).toThrow(message)
  })

  test('numbers are converted as Go does it', () => {
    const replicas = (text: string) =>
      (converted(`{"spec":{"replicas":${text}}}`).object['spec'] as { replicas: number }).replicas
    expect(replicas('2.0')).toBe(2)
    expect(replicas('3000000000')).toBe(-1294967296)
  })

  test('free JSON is sorted, as Go writes maps', () => {
    const revision = typeOfKind({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })!
    const { object } = fromUnstructured(revision, parseJson('{"data":{"b":[{"d":1,"c":{"z":1,"y":2}}],"a":1}}'))
    expect(JSON.stringify(object['data'])).toBe('{"a":1,"b":[{"c":{"y":2,"z":1},"d":1}]}')
  })

  test('unknown fields are reported, sorted', () => {
    expect(converted('{"spec":{"b":1,"a":1,"template":{"spec":{"containers":[{"x":1}]}}},"foo":1}').strict).toEqual([
      'unknown field "foo"',
      'unknown field "spec.a"',
      'unknown field "spec.b"',
      'unknown field "spec.template.spec.containers[0].x"',
    ])
  })
})
