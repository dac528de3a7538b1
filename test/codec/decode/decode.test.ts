import { describe, expect, it, test } from 'vitest'
import { decodeObject, findKind } from '../../../src/codec/decode/decode.ts'
import { decodeUnstructured } from '../../../src/codec/decode/decode-untyped.ts'
import { canonical, encodeJson } from '../../../src/codec/encode/encode.ts'
import { parseJson } from '../../../src/json/parse-json.ts'
import { builtInType } from '../../../src/schema/built-in.ts'

const api = (name: string) => builtInType(`io.k8s.api.${name}`)
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition'

describe('values that do not fit their type', () => {
  test.each([
    [
      'core.v1.ConfigMap',
      '{"data":{"a":1}}',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'core.v1.ConfigMap',
      '{"data":[]}',
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'core.v1.ConfigMap',
      '{"immutable":"true"}',
      'json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
    ],
    [
      'core.v1.ConfigMap',
      '{"binaryData":{"a":5}}',
      'json: cannot unmarshal number into Go struct field ConfigMap.binaryData of type []uint8',
    ],
    [
      'core.v1.ConfigMap',
      '{"binaryData":{"a":[null,{}]}}',
      'json: cannot unmarshal object into Go struct field ConfigMap.binaryData of type uint8',
    ],
    ['core.v1.ConfigMap', '{"binaryData":{"a":"***"}}', 'illegal base64 data at input byte 0'],
    ['core.v1.ConfigMap', '{"binaryData":{"a":"YQ"}}', 'illegal base64 data at input byte 0'],
    ['core.v1.ConfigMap', '{"binaryData":{"a":"YWFh*"}}', 'illegal base64 data at input byte 4'],
    [
      'core.v1.ConfigMap',
      '{"metadata":{"name":5}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [
      'core.v1.ConfigMap',
      '{"metadata":"x"}',
      'json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
    [
      'core.v1.ConfigMap',
      '{"metadata":{"uid":5}}',
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID',
    ],
    [
      'batch.v1.Job',
      '{"status":{"uncountedTerminatedPods":{"failed":[5]}}}',
      'json: cannot unmarshal number into Go struct field UncountedTerminatedPods.status.uncountedTerminatedPods.failed of type types.UID',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"overhead":{"cpu":"1\\n"}}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['core.v1.ConfigMap', '[]', 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
    [
      'core.v1.Pod',
      '{"spec":{"hostname":3.0}}',
      'json: cannot unmarshal number into Go struct field PodSpec.spec.hostname of type string',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"activeDeadlineSeconds":1e2}}',
      'json: cannot unmarshal number 1e2 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"activeDeadlineSeconds":99999999999999999999}}',
      'json: cannot unmarshal number 99999999999999999999 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":{}}}',
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":[{"imagePullPolicy":1}]}}',
      'json: cannot unmarshal number into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":[{"resources":{"limits":5}}]}}',
      'json: cannot unmarshal number into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"volumes":[{"emptyDir":5}]}}',
      'json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}}',
      'quantities must match the regular expression',
    ],
    [
      'core.v1.Pod',
      '{"spec":{"containers":[{"resources":{"limits":{"cpu":"1K"}}}]}}',
      "unable to parse quantity's suffix",
    ],
    [
      'core.v1.Service',
      '{"spec":{"ports":[{"targetPort":3.5}]}}',
      'json: cannot unmarshal number 3.5 into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
    [
      'core.v1.Service',
      '{"spec":{"ports":[{"port":3000000000}]}}',
      'json: cannot unmarshal number 3000000000 into Go struct field ServicePort.spec.ports.port of type int32',
    ],
    [
      'core.v1.Event',
      '{"lastTimestamp":5}',
      'json: cannot unmarshal number into Go struct field Event.lastTimestamp of type string',
    ],
    [
      'core.v1.Event',
      '{"lastTimestamp":"x"}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      'coordination.v1.Lease',
      '{"spec":{"renewTime":[]}}',
      'json: cannot unmarshal array into Go struct field LeaseSpec.spec.renewTime of type string',
    ],
  ])('%s %s', (name, text, message) => {
    expect(() => decodeObject(api(name), parseJson(text))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), name: 'DecodeError' }),
    )
  })

  it('tells the first mistake, but one of a value that reads itself before all others', () => {
    expect(() => decodeObject(api('core.v1.ConfigMap'), parseJson('{"data":1,"immutable":2}'))).toThrow(
      'ConfigMap.data',
    )
    const both = '{"spec":{"hostname":1,"overhead":{"cpu":"x"}}}'
    expect(() => decodeObject(api('core.v1.Pod'), parseJson(both))).toThrow('quantities must match')
  })

  it('names the place of a mistake inside a schema', () => {
    const text = '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"items":{"type":5}}}}]}}'
    expect(() => decodeObject(builtInType(CRD), parseJson(text))).toThrow(
      'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type of type string',
    )
    const neither = '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":5}}}]}}'
    expect(() => decodeObject(builtInType(CRD), parseJson(neither))).toThrow('boolean or JSON schema expected')
  })
})

describe('strictness', () => {
  test.each([
    ['{"spec":{"z":1,"a":2},"zz":1}', ['unknown field "spec.z"', 'unknown field "spec.a"', 'unknown field "zz"']],
    ['{"spec":{"containers":[{},{"env":[{"x":1}]}]}}', ['unknown field "spec.containers[1].env[0].x"']],
    ['{"Spec":{},"a\\"b":1}', ['unknown field "Spec"', 'unknown field "a\\"b"']],
    ['{"x":1,"x":2}', ['unknown field "x"']],
    ['{"x":{"a":1,"a":2}}', ['unknown field "x"']],
    ['{"spec":{"hostname":"a","hostname":"b"}}', ['duplicate field "spec.hostname"']],
    ['{"metadata":{"labels":{"a.b":"1","a.b":"2","a.b":"3"}}}', ['duplicate field "metadata.labels.a.b"']],
  ])('%s', (text, strict) => {
    expect(decodeObject(api('core.v1.Pod'), parseJson(text)).strict).toEqual(strict)
  })

  it('tells a hundred at most', () => {
    const members = Array.from({ length: 150 }, (_, i) => `"x${i}":1`).join(',')
    expect(decodeObject(api('core.v1.Pod'), parseJson(`{${members}}`)).strict).toHaveLength(100)
  })

  it('does not look into schemas', () => {
    const text = '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"x":1,"items":{"y":1}}}}]}}'
    expect(decodeObject(builtInType(CRD), parseJson(text)).strict).toEqual([
      'unknown field "spec.versions[0].schema.openAPIV3Schema.x"',
    ])
  })
})

describe('repeated members', () => {
  test.each([
    ['maps join', 'core.v1.ConfigMap', '{"data":{"a":"1"},"data":{"b":"2"}}', { data: { a: '1', b: '2' } }],
    [
      'structs join',
      'core.v1.ConfigMap',
      '{"metadata":{"name":"a"},"metadata":{"namespace":"b"}}',
      { metadata: { name: 'a', namespace: 'b' } },
    ],
    ['scalars are replaced', 'core.v1.ConfigMap', '{"immutable":true,"immutable":false}', { immutable: false }],
    ['null removes pointers', 'core.v1.ConfigMap', '{"immutable":true,"immutable":null}', { metadata: {} }],
    ['null leaves text', 'core.v1.Secret', '{"type":"a","type":null}', { type: 'a' }],
    [
      'lists join element by element',
      'core.v1.Pod',
      '{"spec":{"containers":[{"name":"a"}],"containers":[{"image":"b"}]}}',
      { spec: { containers: [{ name: 'a', image: 'b' }] } },
    ],
  ])('%s', (_, name, text, expected) => {
    expect(decodeObject(api(name), parseJson(text)).object).toMatchObject(expected)
  })
})

describe('the normal form', () => {
  test.each([
    [
      'core.v1.Pod',
      '{"spec":{"hostname":"","hostPID":false,"volumes":[],"nodeSelector":{}}}',
      { metadata: {}, spec: {}, status: {} },
    ],
    ['core.v1.Pod', '{"spec":null,"metadata":null,"status":null}', { metadata: {}, spec: {}, status: {} }],
    ['core.v1.Pod', '{"spec":{"activeDeadlineSeconds":0}}', { spec: { activeDeadlineSeconds: 0 } }],
    ['core.v1.ConfigMap', '{"data":{"a":null},"binaryData":{"a":null}}', { data: { a: '' }, binaryData: { a: '' } }],
    ['core.v1.ConfigMap', '{"binaryData":{"a":"Y\\nQ=="}}', { binaryData: { a: 'YQ==' } }],
    ['core.v1.ConfigMap', '{"binaryData":{"a":[104,105]}}', { binaryData: { a: 'aGk=' } }],
    ['core.v1.Event', '{"lastTimestamp":"2001-06-01T02:00:00.5+02:00"}', { lastTimestamp: '2001-06-01T00:00:00Z' }],
    ['core.v1.Event', '{"lastTimestamp":"0001-01-01T00:00:00Z"}', { lastTimestamp: undefined }],
    [
      'core.v1.Pod',
      '{"spec":{"overhead":{"cpu":0.5,"memory":" 1024Mi ","x":null}}}',
      { spec: { overhead: { cpu: '500m', memory: '1Gi', x: '0' } } },
    ],
    ['rbac.v1.Role', '{"rules":[null]}', { rules: [{}] }],
  ])('of %s %s', (name, text, expected) => {
    const { object } = decodeObject(api(name), parseJson(text))
    expect(object).toMatchObject(
      Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
    )
    for (const [key, value] of Object.entries(expected)) if (value === undefined) expect(object).not.toHaveProperty(key)
  })

  it('takes null among bytes for 0', () => {
    const { object } = decodeObject(api('core.v1.ConfigMap'), parseJson('{"binaryData":{"a":[null,5]}}'))
    expect(object).toMatchObject({ binaryData: { a: 'AAU=' } })
  })

  it('keeps whole numbers beyond 2^53', () => {
    const { object } = decodeObject(
      api('core.v1.Pod'),
      parseJson('{"spec":{"activeDeadlineSeconds":9007199254740993}}'),
    )
    expect(object).toMatchObject({ spec: { activeDeadlineSeconds: 9007199254740993n } })
  })

  it('takes __proto__ for a name like any other', () => {
    const { object } = decodeObject(api('core.v1.ConfigMap'), parseJson('{"data":{"__proto__":"x"}}'))
    expect(encodeJson(api('core.v1.ConfigMap'), object)).toBe('{"metadata":{},"data":{"__proto__":"x"}}')
  })
})

describe('writing', () => {
  test.each([
    ['core.v1.Pod', {}, '{"metadata":{},"spec":{"containers":null},"status":{}}'],
    [
      'core.v1.Service',
      { spec: { ports: [{ name: 'a' }] } },
      '{"metadata":{},"spec":{"ports":[{"name":"a","port":0,"targetPort":0}]},"status":{"loadBalancer":{}}}',
    ],
    ['rbac.v1.Role', { rules: [] }, '{"metadata":{},"rules":null}'],
    [
      'core.v1.Event',
      {},
      '{"metadata":{},"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}',
    ],
    [
      'core.v1.ConfigMap',
      { apiVersion: 'v1', data: { b: '<', 10: '', 9: 'é' }, kind: 'ConfigMap' },
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"10":"","9":"é","b":"\\u003c"}}',
    ],
  ])('%s %j', (name, object, text) => {
    const type = api(name)
    expect(encodeJson(type, object)).toBe(text)
    expect(encodeJson(type, canonical(type, object))).toBe(text)
  })

  it('keeps empty lists of kinds that are never stored', () => {
    const type = builtInType('io.k8s.api.authorization.v1.SubjectRulesReviewStatus')
    const status = { resourceRules: [], nonResourceRules: [], incomplete: false }
    expect(encodeJson(type, status, { keepEmpty: true })).toBe(
      '{"resourceRules":[],"nonResourceRules":[],"incomplete":false}',
    )
    expect(encodeJson(type, status)).toBe('{"resourceRules":null,"nonResourceRules":null,"incomplete":false}')
  })
})

describe('kind and apiVersion', () => {
  test.each([
    ['{"apiVersion":"v1","kind":"Pod"}', { apiVersion: 'v1', kind: 'Pod' }],
    ['{"apiversion":"v1","KIND":"Pod"}', { apiVersion: 'v1', kind: 'Pod' }],
    ['{"kind":null}', { apiVersion: '', kind: '' }],
    ['null', { apiVersion: '', kind: '' }],
  ])('of %s', (text, expected) => {
    expect(findKind(parseJson(text))).toEqual(expected)
  })

  test.each([
    [
      '5',
      'json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
    ['{"kind":5}', 'json: cannot unmarshal number into Go struct field .kind of type string'],
  ])('%s has none', (text, message) => {
    expect(() => findKind(parseJson(text))).toThrow(expect.objectContaining({ message }))
  })
})

describe('objects without a type', () => {
  it('have the last of repeated members, and tell', () => {
    const { object, strict } = decodeUnstructured(parseJson('{"spec":{"a":1,"b":[{"c":1,"c":3.0}],"a":2}}'))
    expect(object).toEqual({ spec: { a: 2, b: [{ c: 3 }] } })
    expect(strict).toEqual(['duplicate field "spec.b[0].c"', 'duplicate field "spec.a"'])
  })

  it('have numbers that a float can hold', () => {
    expect(() => decodeUnstructured(parseJson('{"a":[1e400]}'))).toThrow(
      'json: cannot unmarshal number 1e400 into Go value of type float64',
    )
  })

  it('are objects', () => {
    expect(() => decodeUnstructured(parseJson('[]'))).toThrow(
      'json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
  })
})
