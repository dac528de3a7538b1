/** Converts between API versions that share storage: all pairs, with written examples and with random objects. */
import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import type * as V1 from '../../src/api/autoscaling/v1.ts'
import type * as V2 from '../../src/api/autoscaling/v2.ts'
import type { GroupVersionKind } from '../../src/api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../src/api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import { isJsonObject } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { encodeJson } from '../../src/codec/encode/encode.ts'
import { stringify } from '../../src/json/write-json.ts'
import { parseJson, parseStored } from '../../src/json/parse-json.ts'
import { converterBetween } from '../../src/registry/conversion.ts'
import { definitionOf } from '../../src/registry/definitions.ts'
import type { ResourceEntry } from '../../src/registry/served/resources.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import { randomNumbers, randomObject } from '../schema/random-object.ts'

const served = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })

const kindOf = ({ group, version, kind }: ResourceEntry): GroupVersionKind => ({ group, version, kind })
const storedKind = ({ storage, kind }: ResourceEntry): GroupVersionKind => ({ ...storage, kind })
const typeOf = (kind: GroupVersionKind) => typeOfKind(kind)!
const nameOf = (kind: GroupVersionKind) => `${kind.kind} ${apiVersionOf(kind)}`

const between = (requested: GroupVersionKind, stored: GroupVersionKind) => {
  const entry = served.findKind(stored) ?? served.findKind(requested)
  return converterBetween(requested, stored, definitionOf(entry!.storage).conversions)
}

/** Two versions of one kind; objects are stored in the second. */
const pairs = served.resources
  .map((entry) => ({ version: kindOf(entry), stored: storedKind(entry) }))
  .filter(({ version, stored }) => apiVersionOf(version) !== apiVersionOf(stored))
  .map((pair) => ({ name: `${nameOf(pair.version)}, stored as ${apiVersionOf(pair.stored)}`, ...pair }))

/** The JSON that a client receives for an object, parsed again. */
const shown = (kind: GroupVersionKind, object: KubeObject): KubeObject =>
  parseStored(encodeJson(typeOf(kind), object as unknown as JsonObject)) as unknown as KubeObject

const decoded = (kind: GroupVersionKind, tree: object): KubeObject =>
  decodeObject(typeOf(kind), parseJson(stringify(tree as Json))).object as unknown as KubeObject

/** A random object of a kind, as the server holds it after decoding. */
const randomOf = (kind: GroupVersionKind, seed: number): KubeObject =>
  decoded(kind, {
    ...randomObject(typeOf(kind), randomNumbers(seed)),
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
  })

const onSeeds = (property: (seed: number) => void, numRuns: number) =>
  fc.assert(fc.property(fc.integer(), property), { numRuns })

/** Converts an object to the storage version, writes and parses the stored text, and converts it back. */
function throughStorage(version: GroupVersionKind, stored: GroupVersionKind, object: KubeObject): KubeObject {
  const { toStorage, fromStorage } = between(version, stored)
  const text = encodeJson(typeOf(stored), toStorage(object) as unknown as JsonObject)
  return fromStorage(parseStored(text) as unknown as KubeObject)
}

/** A client of `version` reads a stored object and writes it back. */
function throughClient(version: GroupVersionKind, stored: GroupVersionKind, object: KubeObject): KubeObject {
  const { toStorage, fromStorage } = between(version, stored)
  return toStorage(decoded(version, shown(version, fromStorage(object))))
}

function eachObject(value: Json | undefined, change: (object: JsonObject) => void): void {
  if (Array.isArray(value)) return value.forEach((element) => eachObject(element, change))
  if (!isJsonObject(value)) return
  change(value)
  for (const member of Object.values(value)) eachObject(member, change)
}

/**
 * v1beta1 alone has another form, in which some values look like absent ones. By kind of any version: changes an object
 * to what the conversion back gives.
 */
const normalized: Readonly<Record<string, (object: KubeObject) => void>> = {
  ResourceClaim: (object) => eachObject(object as unknown as Json, dropEmptyExactly),
  ResourceClaimTemplate: (object) => eachObject(object as unknown as Json, dropEmptyExactly),
  ResourceSlice(object) {
    const { spec = {} } = object as { spec?: { nodeName?: string; allNodes?: boolean; devices?: { basic?: object }[] } }
    if (spec.nodeName === '') delete spec.nodeName
    if (spec.allNodes === false) delete spec.allNodes
    if (object.apiVersion === 'resource.k8s.io/v1beta1') for (const device of spec.devices ?? []) device.basic ??= {}
  },
}

/** Drops `exactly` of a device request when it is empty. */
function dropEmptyExactly(object: JsonObject): void {
  const { exactly } = object
  if (isJsonObject(exactly) && Object.values(exactly).every((value) => value === '')) delete object.exactly
}

function normal(kind: GroupVersionKind, object: KubeObject): KubeObject {
  const copy = shown(kind, object)
  normalized[kind.kind]?.(copy)
  return copy
}

/**
 * Some versions of HorizontalPodAutoscaler keep in annotations what others have as fields. Random text is no valid
 * annotation of that sort; a test below covers the kind.
 */
const isAutoscaler = ({ kind }: GroupVersionKind) => kind === 'HorizontalPodAutoscaler'

test('the pairs are those of the facts', () => {
  expect(pairs.map(({ name }) => name).sort()).toEqual([
    'ClusterTrustBundle certificates.k8s.io/v1alpha1, stored as certificates.k8s.io/v1beta1',
    'DeviceClass resource.k8s.io/v1beta1, stored as resource.k8s.io/v1',
    'DeviceClass resource.k8s.io/v1beta2, stored as resource.k8s.io/v1',
    'DeviceTaintRule resource.k8s.io/v1beta2, stored as resource.k8s.io/v1alpha3',
    'Event events.k8s.io/v1, stored as v1',
    'HorizontalPodAutoscaler autoscaling/v1, stored as autoscaling/v2',
    'IPAddress networking.k8s.io/v1beta1, stored as networking.k8s.io/v1',
    'LeaseCandidate coordination.k8s.io/v1alpha2, stored as coordination.k8s.io/v1beta1',
    'MutatingAdmissionPolicy admissionregistration.k8s.io/v1, stored as admissionregistration.k8s.io/v1beta1',
    'MutatingAdmissionPolicy admissionregistration.k8s.io/v1alpha1, stored as admissionregistration.k8s.io/v1beta1',
    'MutatingAdmissionPolicyBinding admissionregistration.k8s.io/v1, stored as admissionregistration.k8s.io/v1beta1',
    'MutatingAdmissionPolicyBinding admissionregistration.k8s.io/v1alpha1, stored as admissionregistration.k8s.io/v1beta1',
    'ResourceClaim resource.k8s.io/v1beta1, stored as resource.k8s.io/v1',
    'ResourceClaim resource.k8s.io/v1beta2, stored as resource.k8s.io/v1',
    'ResourceClaimTemplate resource.k8s.io/v1beta1, stored as resource.k8s.io/v1',
    'ResourceClaimTemplate resource.k8s.io/v1beta2, stored as resource.k8s.io/v1',
    'ResourceSlice resource.k8s.io/v1beta1, stored as resource.k8s.io/v1',
    'ResourceSlice resource.k8s.io/v1beta2, stored as resource.k8s.io/v1',
    'ServiceCIDR networking.k8s.io/v1beta1, stored as networking.k8s.io/v1',
    'VolumeAttributesClass storage.k8s.io/v1beta1, stored as storage.k8s.io/v1',
  ])
})

describe.each(pairs.filter(({ version }) => !isAutoscaler(version)))('$name', ({ version, stored }) => {
  test('into storage and back', () => {
    onSeeds((seed) => {
      const object = randomOf(version, seed)
      const sent = structuredClone(object)
      expect(normal(version, throughStorage(version, stored, object))).toEqual(normal(version, object))
      expect(object).toEqual(sent)
    }, 40)
  })

  test('out of storage and back', () => {
    onSeeds((seed) => {
      const object = randomOf(stored, seed)
      const kept = structuredClone(object)
      expect(normal(stored, throughClient(version, stored, object))).toEqual(normal(stored, object))
      expect(object).toEqual(kept)
    }, 40)
  })
})

test('one version to another by way of storage', () => {
  const siblings = pairs.flatMap((one) =>
    pairs
      .filter(({ stored, version }) => nameOf(stored) === nameOf(one.stored) && version !== one.version)
      .map((other) => [one.version, other.version, one.stored] as const),
  )
  expect(siblings).toHaveLength(12)
  for (const [from, to, stored] of siblings)
    onSeeds((seed) => {
      const object = randomOf(from, seed)
      const kept = between(from, stored).toStorage(structuredClone(object))
      const back = between(from, stored).fromStorage(throughClient(to, stored, kept))
      expect(normal(from, back)).toEqual(normal(from, between(from, stored).fromStorage(kept)))
    }, 20)
})

describe('autoscalers', () => {
  const v1: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' }
  const v2: GroupVersionKind = { ...v1, version: 'v2' }
  const text = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', '-', '"', 'é') })
  const quantity = fc.constantFrom('1', '100m', '1Gi', '25')
  const percent = fc.integer({ min: 1, max: 1000 })
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const labels = optional(fc.record({ matchLabels: fc.dictionary(text, text, { minKeys: 1, maxKeys: 2 }) }))
  const metric = fc.record({ name: text, selector: labels })
  const ofAverage = fc.record({ type: fc.constant('AverageValue'), averageValue: quantity })
  const ofValue = fc.record({ type: fc.constant('Value'), value: quantity })
  const ofUse = fc.record({ type: fc.constant('Utilization'), averageUtilization: percent })
  const target = fc.record({ kind: text, name: text, apiVersion: text })
  // v1 always has a `value` in an Object metric; v2 may have `averageValue` alone
  const ofObject = fc.oneof(
    ofValue,
    fc.record({ type: fc.constant('AverageValue'), averageValue: quantity, value: quantity }),
  )
  const metricSpec: fc.Arbitrary<V2.MetricSpec> = fc.oneof(
    fc.record({
      type: fc.constant('Object'),
      object: fc.record({ describedObject: target, target: ofObject, metric }),
    }),
    fc.record({ type: fc.constant('Pods'), pods: fc.record({ metric, target: ofAverage }) }),
    fc.record({ type: fc.constant('External'), external: fc.record({ metric, target: fc.oneof(ofAverage, ofValue) }) }),
    fc.record({
      type: fc.constant('Resource'),
      resource: fc.record({ name: fc.constantFrom('memory', 'x'), target: fc.oneof(ofUse, ofAverage) }),
    }),
    fc.record({
      type: fc.constant('ContainerResource'),
      containerResource: fc.record({ name: text, container: text, target: fc.oneof(ofUse, ofAverage) }),
    }),
  )
  const ofCpu = (averageUtilization: number): V2.MetricSpec => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  })
  const rules = fc.record({
    stabilizationWindowSeconds: optional(fc.integer({ min: 0, max: 3600 })),
    selectPolicy: optional(fc.constantFrom('Max', 'Min', 'Disabled')),
    tolerance: optional(quantity),
    policies: fc.array(
      fc.record({ type: fc.constantFrom('Pods', 'Percent'), value: percent, periodSeconds: percent }),
      {
        minLength: 1,
        maxLength: 2,
      },
    ),
  })
  const current = fc.record({ averageValue: quantity, averageUtilization: optional(percent) })
  const spec = fc.record({
    scaleTargetRef: target,
    minReplicas: optional(percent),
    maxReplicas: percent,
    behavior: optional(fc.record({ scaleUp: optional(rules), scaleDown: rules })),
  })
  const status = fc.record({
    currentReplicas: optional(percent),
    desiredReplicas: fc.nat(),
    lastScaleTime: optional(fc.constant('2024-01-02T03:04:05Z')),
    currentMetrics: optional(
      fc.array(
        fc.record({
          type: fc.constant('Resource'),
          resource: fc.record({ name: fc.constantFrom('cpu', 'memory'), current }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    conditions: optional(
      fc.array(fc.record({ type: text, status: fc.constantFrom('True', 'False'), reason: text, message: text }), {
        minLength: 1,
        maxLength: 2,
      }),
    ),
  })
  const metadata = fc.record({ name: text, annotations: fc.dictionary(text, text, { maxKeys: 2 }) })
  const autoscaler = fc
    .record({ metadata, spec, status, others: fc.array(metricSpec, { maxLength: 4 }), cpu: optional(percent) })
    .filter(({ others, cpu }) => others.length > 0 || cpu !== undefined)
    .map(({ others, cpu, spec, ...rest }) =>
      decoded(v2, {
        kind: v2.kind,
        apiVersion: 'autoscaling/v2',
        ...rest,
        // v1 has its own field for CPU, so the conversion appends the CPU metric last
        spec: { ...spec, metrics: [...others, ...(cpu === undefined ? [] : [ofCpu(cpu)])] },
      }),
    )

  test('out of storage, through v1 and back', () => {
    fc.assert(
      fc.property(autoscaler, (object) => {
        expect(shown(v2, throughClient(v1, v2, object))).toEqual(shown(v2, object))
      }),
      { numRuns: 100 },
    )
  })

  test('what v1 made of it once stays', () => {
    fc.assert(
      fc.property(autoscaler, (object) => {
        const read = between(v1, v2).fromStorage(object)
        expect(shown(v1, throughStorage(v1, v2, decoded(v1, shown(v1, read))))).toEqual(shown(v1, read))
      }),
      { numRuns: 100 },
    )
  })

  const PREFIX = 'autoscaling.alpha.kubernetes.io/'
  const fromV1 = (annotations: Record<string, string>): V2.HorizontalPodAutoscaler & KubeObject =>
    between(v1, v2).toStorage(
      decoded(v1, {
        kind: v1.kind,
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'a', annotations: prefixed(annotations) },
        spec: { maxReplicas: 1 } satisfies V1.HorizontalPodAutoscalerSpec,
      }),
    )
  const prefixed = (annotations: Record<string, string>) =>
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${PREFIX}${name}`, value]))

  test.each<[what: string, annotations: Record<string, string>, spec: V2.HorizontalPodAutoscalerSpec]>([
    ['no JSON', { metrics: 'nope', behavior: '{' }, { metrics: [ofCpu(80)] }],
    ['another type', { metrics: '{}', behavior: '[]', conditions: '3' }, { metrics: [ofCpu(80)] }],
    ['a member of another type', { metrics: '[{"type":3}]' }, { metrics: [ofCpu(80)] }],
    ['null', { metrics: 'null', behavior: 'null' }, { metrics: [ofCpu(80)] }],
    ['nothing', { metrics: '[]', behavior: '{"ScaleUp":null}' }, { metrics: [ofCpu(80)] }],
    ['names in any case', { behavior: '{"scaleup":{"SELECTPOLICY":"Min"}}' }, behaving({ selectPolicy: 'Min' })],
    ['no policies', { behavior: '{"ScaleUp":{"Policies":null}}' }, behaving({})],
    ['an empty list of policies', { behavior: '{"ScaleUp":{"Policies":[]}}' }, behaving({ policies: [] })],
    [
      'metrics with names in any case',
      { metrics: '[{"TYPE":"Resource","Resource":{"NAME":"memory","targetaverageutilization":40,"other":1}}]' },
      {
        metrics: [
          {
            type: 'Resource',
            resource: {
              name: 'memory',
              target: { type: 'Utilization', averageUtilization: 40, averageValue: undefined },
            },
          },
        ],
      },
    ],
  ])('annotations of v1 that hold %s', (_, annotations, expected) => {
    const { spec, metadata } = fromV1(annotations)
    expect({ metrics: spec?.metrics, behavior: spec?.behavior }).toEqual({ behavior: undefined, ...expected })
    expect(metadata.annotations).toBeUndefined()
  })

  function behaving(scaleUp: V2.HPAScalingRules): V2.HorizontalPodAutoscalerSpec {
    return { metrics: [ofCpu(80)], behavior: { scaleUp } }
  }

  test('the names of annotations are spelled in one way', () => {
    const object = decoded(v1, {
      kind: v1.kind,
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', annotations: { 'Autoscaling.alpha.kubernetes.io/metrics': '[]' } },
    })
    expect(between(v1, v2).toStorage(object).metadata.annotations).toEqual({
      'Autoscaling.alpha.kubernetes.io/metrics': '[]',
    })
  })

  test('v2 does not keep annotations of v1', () => {
    const object = decoded(v2, {
      kind: v2.kind,
      apiVersion: 'autoscaling/v2',
      metadata: { name: 'a', annotations: { ...prefixed({ metrics: '[]', 'scale-up-tolerance': '1' }), b: 'c' } },
    })
    expect(between(v2, v2).toStorage(object).metadata.annotations).toEqual({ b: 'c' })
  })
})

describe('resource.k8s.io/v1beta1', () => {
  const gvk = (kind: string, apiVersion: string): GroupVersionKind => ({ ...parseApiVersion(apiVersion)!, kind })
  const OLD = 'resource.k8s.io/v1beta1'
  const NEW = 'resource.k8s.io/v1'
  const claim = (request: object) => ({ spec: { devices: { requests: [{ name: 'r', ...request }] } } })

  const request = { deviceClassName: 'c', selectors: [{ cel: { expression: 'e' } }], count: 1 }
  const alternative = { name: 'a', deviceClassName: 'c', allocationMode: 'All' }

  test.each<[what: string, old: object, now: object]>([
    ['one device', request, { exactly: request }],
    ['alternatives', { firstAvailable: [alternative] }, { firstAvailable: [alternative] }],
    [
      'both',
      { adminAccess: false, firstAvailable: [alternative] },
      { exactly: { adminAccess: false }, firstAvailable: [alternative] },
    ],
    ['neither', {}, {}],
    ['an empty list of selectors', { selectors: [] }, { exactly: { selectors: [] } }],
    ['an empty list of tolerations', { tolerations: [] }, { exactly: {} }],
    ['what is zero', { deviceClassName: '', allocationMode: '', count: 0 }, {}],
    ['a capacity', { capacity: {} }, { exactly: { capacity: {} } }],
  ])('a request for %s', (_, old, now) => {
    const { toStorage } = between(gvk('ResourceClaim', OLD), gvk('ResourceClaim', NEW))
    const sent = decoded(gvk('ResourceClaim', OLD), { kind: 'ResourceClaim', apiVersion: OLD, ...claim(old) })
    expect(toStorage(sent)).toMatchObject({ apiVersion: NEW, spec: { devices: { requests: [{ name: 'r', ...now }] } } })
    expect(Object.keys((toStorage(sent) as unknown as V1Claim).spec.devices.requests[0]!).sort()).toEqual(
      ['name', ...Object.keys(now)].sort(),
    )
  })

  interface V1Claim {
    spec: { devices: { requests: object[] } }
  }

  test('templates hold the same', () => {
    const { toStorage, fromStorage } = between(gvk('ResourceClaimTemplate', OLD), gvk('ResourceClaimTemplate', NEW))
    const sent = {
      kind: 'ResourceClaimTemplate',
      apiVersion: OLD,
      metadata: {},
      spec: { metadata: {}, ...claim(request) },
    }
    const kept = toStorage({ ...sent, spec: { metadata: {}, spec: claim(request).spec } } as KubeObject)
    expect(kept).toMatchObject({ spec: { spec: claim({ exactly: request }).spec } })
    expect(fromStorage(kept)).toMatchObject({ apiVersion: OLD, spec: { spec: claim(request).spec } })
  })

  test.each<[what: string, old: object, now: object, back: object]>([
    ['nothing', {}, {}, { basic: {} }],
    ['no properties', { basic: {} }, {}, { basic: {} }],
    [
      'properties',
      { basic: { attributes: { a: { int: 1 } }, taints: [], nodeName: 'n' } },
      { attributes: { a: { int: 1 } }, nodeName: 'n' },
      { basic: { attributes: { a: { int: 1 } }, nodeName: 'n' } },
    ],
  ])('a device with %s', (_, old, now, back) => {
    const { toStorage, fromStorage } = between(gvk('ResourceSlice', OLD), gvk('ResourceSlice', NEW))
    const slice = {
      kind: 'ResourceSlice',
      apiVersion: OLD,
      spec: { allNodes: false, devices: [{ name: 'd', ...old }] },
    }
    const kept = toStorage(decoded(gvk('ResourceSlice', OLD), slice))
    expect(kept).toMatchObject({ spec: { devices: [{ name: 'd', ...now }] } })
    expect((kept as unknown as { spec: object }).spec).not.toHaveProperty('allNodes')
    expect((kept as unknown as { spec: { devices: object[] } }).spec.devices[0]).toEqual({ name: 'd', ...now })
    expect(fromStorage(kept)).toMatchObject({ spec: { devices: [{ name: 'd', ...back }] } })
  })
})
