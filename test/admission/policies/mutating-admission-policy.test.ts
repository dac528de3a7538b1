import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { Attributes } from '../../../src/admission/attributes.ts'
import { mutatingAdmissionPolicy } from '../../../src/admission/policies/mutating-admission-policy.ts'
import { measurementsOf } from '../../../src/metrics/measurements.ts'
import { Reinvocation } from '../../../src/admission/reinvocation.ts'
import type { Given } from './policy-server.ts'
import { attributesOf, CONFIG_MAPS, configMap, policyServer, run } from './policy-server.ts'

const applying = (expression: string): JsonObject => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patching = (expression: string): JsonObject => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const labelling = (name: string, value: string) =>
  applying(`Object{metadata: Object.metadata{labels: {'${name}': ${value}}}}`)

const rules = (group: string, resource: string): JsonObject => ({
  matchConstraints: {
    ...CONFIG_MAPS,
    resourceRules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: [resource] }],
  },
})
const by = (...mutations: JsonObject[]): Given => ({ policies: { p: { mutations } } })

async function mutate(given: Given, more: Partial<Attributes> = {}) {
  const attributes = attributesOf(await policyServer('mutating', given), more)
  const error: unknown = await run(mutatingAdmissionPolicy, attributes).catch((thrown: unknown) => thrown)
  return { error, object: attributes.object as unknown as JsonObject }
}

const denial = (...why: string[]) => {
  const causes = why.map((text) => ({ message: `policy 'p' with binding 'p-b' denied request: ${text}` }))
  return {
    code: 403,
    status: { reason: 'Invalid', message: causes[0]!.message, details: { name: 'a', kind: 'configmaps', causes } },
  }
}

describe('the mutations of an object', () => {
  const given = configMap({
    metadata: { name: 'a', namespace: 'blue', labels: { own: 'x', mark: 'no' } },
    data: { a: 'b' },
  })
  const metadata = given.metadata as unknown as JsonObject

  test.each<[string, JsonObject, JsonObject]>([
    [
      'a configuration is merged into it',
      applying("Object{metadata: Object.metadata{labels: Object.metadata.labels{mark: 'yes'}}, data: {'c': 'd'}}"),
      { metadata: { ...metadata, labels: { own: 'x', mark: 'yes' } }, data: { a: 'b', c: 'd' } },
    ],
    [
      'one that is made of what is there',
      applying("Object{data: {'size': string(object.data.size()), 'by': request.userInfo.username}}"),
      { data: { a: 'b', size: '1', by: 'eve' } },
    ],
    ['an empty one', applying('Object{}'), {}],
    ['a number', applying('Object{immutable: size(object.data) == 1}'), { immutable: true }],
    [
      'operations',
      patching(
        "[JSONPatch{op: 'test', path: '/data/a', value: 'b'}, JSONPatch{op: 'replace', path: '/data/a', value: 'c'}, JSONPatch{op: 'move', from: '/metadata/labels/own', path: '/data/own'}]",
      ),
      { metadata: { ...metadata, labels: { mark: 'no' } }, data: { a: 'c', own: 'x' } },
    ],
    [
      'a key with a slash',
      patching("[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c~d'), value: 'e'}]"),
      { metadata: { ...metadata, labels: { own: 'x', mark: 'no', 'a.b/c~d': 'e' } } },
    ],
    [
      'an object as a value',
      patching(
        "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}, JSONPatch{op: 'add', path: '/metadata/ownerReferences', value: [Object.metadata.ownerReferences{name: 'n', kind: 'k'}]}]",
      ),
      {
        metadata: {
          ...metadata,
          annotations: { a: 'b' },
          ownerReferences: [{ kind: 'k', name: 'n' }],
        },
      },
    ],
    [
      'what is optional, and whole numbers that a double does not hold',
      patching(
        "[JSONPatch{op: 'add', path: '/data/x', value: optional.of('y')}, JSONPatch{op: 'add', path: '/data/z', value: 9007199254740993}]",
      ),
      { data: { a: 'b', x: 'y', z: '9007199254740993' } },
    ],
    [
      'everything, whose version and kind are those of before',
      patching("[JSONPatch{op: 'replace', path: '', value: {'metadata': object.metadata, 'data': dyn({'q': 'r'})}}]"),
      { data: { q: 'r' } },
    ],
    ['no operation', patching("[JSONPatch{op: 'remove', path: '/data'}].filter(o, false)"), {}],
    [
      'nothing where a test fails',
      patching(
        "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}, JSONPatch{op: 'test', path: '/data/a', value: 'c'}]",
      ),
      {},
    ],
  ])('%s', async (_, mutation, expected) => {
    const { error, object } = await mutate(by(mutation), { object: structuredClone(given) })
    expect(error).toBeUndefined()
    expect(object).toEqual({ ...given, ...expected })
  })

  test.each<[string, JsonObject, string]>([
    [
      'an expression fails',
      applying("Object{data: {'x': object.none.y}}"),
      "expression 'Object{data: {'x': object.none.y}}' resulted in error: no such key: none",
    ],
    ['it does not compile', applying('1'), 'must evaluate to Object but got int'],
    [
      'a field is not there',
      applying('Object{spec: Object.spec{}}'),
      'error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema',
    ],
    [
      'a value has another type',
      applying("Object{data: ['a']}"),
      'error applying patch: failed to convert patch object to typed object: .data: expected map, got &{[a]}',
    ],
    [
      'a value is null',
      applying('Object{metadata: Object.metadata{generateName: null}}'),
      'error applying patch: failed to convert patch object to typed object: .metadata.generateName: expected string, got &value.valueUnstructured{Value:0}',
    ],
    [
      'a map is null',
      applying('Object{data: null}'),
      'error applying patch: failed to convert patch object to typed object: .data: expected map, got &{NULL_VALUE}',
    ],
    [
      'a text is a duration',
      applying("Object{data: {'x': duration('1h')}}"),
      'error applying patch: failed to convert patch object to typed object: .data.x: expected string, got &value.valueUnstructured{Value:3600000000000}',
    ],
    [
      'a text is a time',
      applying("Object{data: {'x': timestamp('2020-01-01T00:00:00Z')}}"),
      'error applying patch: failed to convert patch object to typed object: .data.x: expected string, got &value.valueUnstructured{Value:time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)}',
    ],
    [
      'a text is bytes',
      applying("Object{binaryData: {'x': b'abc'}}"),
      'error applying patch: failed to convert patch object to typed object: .binaryData.x: expected string, got &value.valueUnstructured{Value:[]uint8{0x61, 0x62, 0x63}}',
    ],
    [
      'a number is a duration',
      applying("Object{metadata: Object.metadata{generation: duration('1s')}}"),
      'error applying patch: failed to convert patch object to typed object: .metadata.generation: expected numeric (int or float), got time.Duration',
    ],
    [
      'a time is a timestamp',
      applying("Object{metadata: Object.metadata{creationTimestamp: timestamp('2020-01-01T00:00:00Z')}}"),
      'error applying patch: failed to convert patch object to typed object: .metadata.creationTimestamp: expected any scalar, got &{2020-01-01 00:00:00 +0000 UTC}',
    ],
    [
      'a type is named by another place',
      applying("Object{metadata: Object.wrong{labels: {'a': 'b'}}}"),
      'type mismatch: unexpected type name "Object.wrong", expected "Object.metadata", which matches field name path from root Object type',
    ],
    [
      'there is nothing at a path',
      patching("[JSONPatch{op: 'remove', path: '/data/none'}]"),
      "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
    ],
    [
      'there is nothing on the way',
      patching("[JSONPatch{op: 'remove', path: '/none/a'}]"),
      'JSON Patch: remove operation does not apply: doc is missing path: "/none/a": missing value',
    ],
    [
      'an operation is none',
      patching("[JSONPatch{op: string(object.data.a), path: '/data'}]"),
      'JSON Patch: Unexpected kind: b',
    ],
    [
      'a value is no JSON',
      patching("[JSONPatch{op: 'add', path: '/data/x', value: 1.0 / 0.0}]"),
      'JSONPath valueExpression evaluated to a type that could not marshal to JSON: no JSON value for Infinity',
    ],
  ])('it is denied where %s', async (_, mutation, why) => {
    expect((await mutate(by(mutation))).error).toMatchObject(denial(why))
    const ignored = await mutate({
      policies: { p: { mutations: [mutation, labelling('mark', "'yes'")], failurePolicy: 'Ignore' } },
    })
    expect(ignored).toMatchObject({ error: undefined, object: { metadata: { labels: { mark: 'yes' } } } })
  })

  test('a result that is no object of the kind ends the request, whatever the failure policy is', async () => {
    const mutations = [patching("[JSONPatch{op: 'add', path: '/nope', value: 1}]")]
    expect((await mutate({ policies: { p: { mutations, failurePolicy: 'Ignore' } } })).error).toMatchObject({
      code: 500,
      message: 'Internal error occurred: strict decoding error: unknown field "nope"',
    })
  })

  test('the operations of one patch are bounded together, though they share their values', async () => {
    const operations = Array.from({ length: 40 }, () => "JSONPatch{op: 'add', path: '/data/x', value: object.data.big}")
    const attributes = {
      object: configMap({ metadata: { name: 'a', namespace: 'blue' }, data: { big: 'x'.repeat(100_000) } }),
    }
    const { error } = await mutate(by(patching(`[${operations.join(', ')}]`)), attributes)
    expect(error).toMatchObject({ message: expect.stringContaining('the value is too large') })
  })

  test('the result of an expression is bounded, though values share their parts', async () => {
    const variables = Array.from({ length: 40 }, (_, i) => ({
      name: `v${i}`,
      expression: i === 0 ? "['a']" : `[variables.v${i - 1}, variables.v${i - 1}]`,
    }))
    const mutations = [patching("[JSONPatch{op: 'add', path: '/data/x', value: variables.v39}]")]
    expect((await mutate({ policies: { p: { variables, mutations } } })).error).toMatchObject({
      message: expect.stringContaining('the value is too large'),
    })
  })
})

describe('kinds', () => {
  const pod = (): KubeObject => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'blue' },
    ...{ spec: { containers: [{ name: 'c', image: 'x', resources: {} }] } },
  })
  const ofPods: Partial<Attributes> = {
    resource: { group: '', version: 'v1', resource: 'pods' },
    kind: { group: '', version: 'v1', kind: 'Pod' },
  }

  test('elements of lists are merged by their keys, with defaults', async () => {
    const text =
      "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 's', image: 'side'}], containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: 'A', value: 'x'}]})}}"
    const { error, object } = await mutate(
      { policies: { p: { ...rules('', 'pods'), mutations: [applying(text)] } } },
      { ...ofPods, object: pod() },
    )
    expect(error).toBeUndefined()
    expect(object).toMatchObject({
      spec: {
        initContainers: [{ name: 's', image: 'side', imagePullPolicy: 'Always' }],
        containers: [{ name: 'c', image: 'x', env: [{ name: 'A', value: 'x' }] }],
      },
    })
  })

  test('an atomic field is not changed in part', async () => {
    const text =
      "Object{spec: Object.spec{nodeSelector: Object.spec.nodeSelector{a: 'b'}, tolerations: [Object.spec.tolerations{key: 'k'}]}}"
    const { error } = await mutate(
      { policies: { p: { ...rules('', 'pods'), mutations: [applying(text)] } } },
      { ...ofPods, object: pod() },
    )
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector, .spec.tolerations$/,
      ),
    })
  })

  test('a patch in another version is not converted back, as in kube-apiserver', async () => {
    const mutations = [applying('Object{spec: Object.spec{targetCPUUtilizationPercentage: 70}}')]
    const { error } = await mutate(
      { policies: { p: { ...rules('autoscaling', 'horizontalpodautoscalers'), mutations } } },
      {
        resource: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
        kind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
        object: {
          kind: 'HorizontalPodAutoscaler',
          apiVersion: 'autoscaling/v2',
          metadata: { name: 'a' },
          ...{ spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } },
        },
      },
    )
    expect(error).toMatchObject({
      code: 403,
      message:
        "policy 'p' with binding 'p-b' denied request: converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion",
    })
  })

  test('a Scale takes JSON patches, and no configuration: the document of its version does not have it', async () => {
    const scale = () => ({
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      subresource: 'scale',
      object: { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, ...{ spec: { replicas: 9 } } },
    })
    const by = (mutation: JsonObject) => ({
      policies: { p: { ...rules('apps', 'deployments/scale'), mutations: [mutation] } },
    })
    const patched = await mutate(by(patching("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 5}]")), scale())
    expect(patched).toMatchObject({ error: undefined, object: { spec: { replicas: 5 } } })
    const { error } = await mutate(by(applying('Object{spec: Object.spec{replicas: 5}}')), scale())
    expect(error).toMatchObject({
      message: expect.stringMatching(/typed object: no corresponding type for autoscaling\/v1, Kind=Scale$/),
    })
  })
})

test('each mutation is counted, by what came of it', async () => {
  const server = await policyServer('mutating', {
    policies: {
      p: {
        mutations: [labelling('a', "'b'"), labelling('c', 'object.none.x'), applying('1')],
        failurePolicy: 'Ignore',
      },
    },
  })
  const attributes = attributesOf(server)
  await run(mutatingAdmissionPolicy, attributes)
  const samples = measurementsOf(attributes.request).policyChecks.mutating.samples()
  const counted = (error_type: string, value: number) => ({
    labels: { error_type, policy: 'p', policy_binding: 'p-b' },
    value,
  })
  expect(samples).toEqual([counted('no_error', 1), counted('invalid_error', 2)])
})

test.each([
  [33_000, undefined],
  [34_000, { code: 504, status: { reason: 'Timeout' } }],
])('a write of %i ms is not changed longer than a write may take', async (after, expected) => {
  const server = await policyServer('mutating', by(labelling('a', "'b'")))
  const attributes = attributesOf(server)
  server.now = new Date(server.now.getTime() + after)
  const error = await run(mutatingAdmissionPolicy, attributes).catch((why: unknown) => why)
  if (expected === undefined) expect(error).toBeUndefined()
  else expect(error).toMatchObject(expected)
})

test('a deletion has nothing to change', async () => {
  expect(
    (await mutate(by(applying('1')), { operation: 'DELETE', object: undefined, oldObject: configMap() })).error,
  ).toBeUndefined()
})

test('policies run in the order of their names, each on the object that the earlier ones made', async () => {
  const append = (text: string) => [applying(`Object{data: {'a': object.data.a + '${text}'}}`)]
  const { object } = await mutate({
    policies: { q: { mutations: append('q') }, p: { mutations: [...append('p'), ...append('!')] } },
  })
  expect(object['data']).toEqual({ a: 'bp!q' })
})

test('all configuration errors are reported, and none where the policy ignores errors', async () => {
  const param = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, mutations: [labelling('a', 'params.data.x')] }
  const bindings = {
    'p-b': { policyName: 'p', paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } },
    'q-b': { policyName: 'q' },
  }
  const none = { paramKind: { apiVersion: 'example.com/v1', kind: 'None' }, mutations: [labelling('a', "'b'")] }
  const { error } = await mutate({ policies: { p: param, q: none }, bindings })
  const first =
    "policy 'p' with binding 'p-b' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
  expect(error).toMatchObject({
    code: 403,
    status: {
      reason: 'Forbidden',
      message: first,
      details: {
        causes: [
          { message: first },
          {
            message: `policy "q" denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'`,
          },
        ],
      },
    },
  })
  const ignoring = {
    policies: { p: { ...param, failurePolicy: 'Ignore' }, q: { ...none, failurePolicy: 'Ignore' } },
    bindings,
  }
  expect((await mutate(ignoring)).error).toBeUndefined()
  // a client that is gone may be the reason
  const attributes = attributesOf(await policyServer('mutating', ignoring))
  const gone = AbortSignal.abort()
  Object.assign(attributes.request, { gone: () => gone })
  await expect(run(mutatingAdmissionPolicy, attributes)).rejects.toMatchObject({ code: 504 })
})

describe('the second run', () => {
  const counting = (name: string) => [applying(`Object{data: {'${name}': object.?data.?${name}.orValue('') + 'x'}}`)]
  async function twice(policies: Given['policies'] & object, between: (object: KubeObject) => void = () => {}) {
    const server = await policyServer('mutating', { policies })
    const reinvocation = new Reinvocation()
    const attributes = { ...attributesOf(server, { object: configMap({ data: {} }) }), reinvocation }
    await run(mutatingAdmissionPolicy, attributes)
    const first = structuredClone((attributes.object as unknown as JsonObject)['data'])
    between(attributes.object!)
    reinvocation.isSecond = true
    await run(mutatingAdmissionPolicy, attributes)
    return { wanted: reinvocation.isWanted, first, second: (attributes.object as unknown as JsonObject)['data'] }
  }

  test('is for those that want it, where something was changed', async () => {
    const policies = {
      a: { mutations: counting('a'), reinvocationPolicy: 'IfNeeded' },
      b: { mutations: counting('b'), reinvocationPolicy: 'Never' },
    }
    expect(await twice(policies)).toEqual({ wanted: true, first: { a: 'x', b: 'x' }, second: { a: 'xx', b: 'x' } })
  })

  test('a mutation that changed nothing counts, one that was not made does not', async () => {
    const still = { mutations: [applying('Object{}')], reinvocationPolicy: 'IfNeeded' }
    expect((await twice({ a: still })).wanted).toBe(true)
    const never = { ...still, matchConditions: [{ name: 'c', expression: 'false' }] }
    expect((await twice({ a: never })).wanted).toBe(false)
  })

  test('changes of another plugin in between count', async () => {
    const ifData = {
      mutations: counting('a'),
      reinvocationPolicy: 'IfNeeded',
      matchConditions: [{ name: 'c', expression: "has(object.data) && 'other' in object.data" }],
    }
    const other = (object: KubeObject) => Object.assign(object, { data: { other: 'y' } })
    // it did not take part in the first run, so that it has no second one
    expect((await twice({ a: ifData }, other)).second).toEqual({ other: 'y' })
  })
})

test('without the feature gate no policy changes anything', async () => {
  const given = by(labelling('mark', "'yes'"))
  const labelsWith = async (gates: string) => {
    const attributes = attributesOf(await policyServer('mutating', given, { KEDGE_FEATURE_GATES: gates }), {
      object: configMap(),
    })
    await run(mutatingAdmissionPolicy, attributes)
    return attributes.object?.metadata.labels
  }
  expect(await labelsWith('')).toEqual({ mark: 'yes' })
  expect(await labelsWith('MutatingAdmissionPolicy=false')).toBeUndefined()
})
