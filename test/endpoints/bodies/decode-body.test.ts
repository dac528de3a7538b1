import { describe, expect, it } from 'vitest'
import { decodeBody, readBody } from '../../../src/endpoints/bodies/decode-body.ts'
import { loadYaml } from '../../../src/codec/yaml/reader.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { memoryServer } from '../../request-in-memory.ts'

const NAME = 'things.example.com'

/** Bodies at a custom resource, or at a subresource of it. */
async function endpointOf(subresource = '') {
  const server = memoryServer()
  const others = [
    {
      name: 'v3',
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: 'object', properties: { nope: { type: 'integer' } } } },
    },
  ]
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object' } },
    subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
  }
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
  await server.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    metadata: { name: NAME },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version, ...others] },
    status: {
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
    },
  })
  const request = server.request('/apis/example.com/v1/namespaces/default/things', { method: 'POST' })
  const entry = (await servedResources(request)).find('example.com', 'v1', 'things')!
  const scope = resourceScope(request, entry, {
    name: subresource === '' ? '' : 'a',
    subresource,
    namespace: 'default',
  })
  return (body: object | string, format: 'json' | 'yaml' = 'json', fieldValidation: 'Strict' | 'Ignore' = 'Strict') =>
    decodeBody(
      scope,
      format,
      new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
      fieldValidation,
    )
}

describe('the body of a custom resource', () => {
  it.each([
    [{ apiVersion: 'example.com/v1' }, `Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}'`],
    [{ kind: 'Thing' }, 'the API version in the data () does not match the expected API version (example.com/v1)'],
    [
      { apiVersion: null, kind: 'Thing' },
      'Thing in version "" cannot be handled as a Thing: .apiVersion accessor error',
    ],
    [{ apiVersion: 'example.com/v1', Kind: 'Thing' }, "Object 'Kind' is missing in"],
    [{ ApiVersion: 'example.com/v1', kind: 'Thing' }, 'the API version in the data () does not match'],
    [
      { apiVersion: 'example.com/v2', kind: 'Thing', nope: 1 },
      'Thing in version "v2" cannot be handled as a Thing: strict decoding error: unknown field "nope"',
    ],
    [
      { apiVersion: 'example.com/v2', kind: 'Thing', a: 1, metadata: { b: 1 }, status: {} },
      'strict decoding error: unknown field "metadata.b", unknown field "a", unknown field "status"',
    ],
    [{ apiVersion: 'example.com/v3', kind: 'Thing', nope: 1 }, 'the API version in the data (example.com/v3) does not'],
    [
      { apiVersion: 'example.com/v3', kind: 'Thing', a: 1 },
      'Thing in version "v3" cannot be handled as a Thing: strict decoding error: unknown field "a"',
    ],
    [
      { apiVersion: 'example.com/v1', kind: 'Other', metadata: { b: 1 } },
      'Other in version "v1" cannot be handled as a Other: strict decoding error: unknown field "metadata.b"',
    ],
    [{ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
  ])('says of what kind it is: %j', async (body, message) => {
    const decode = await endpointOf()
    await expect(decode(body)).rejects.toThrow(message)
  })

  it.each([
    ['json', 'Strict', ' {"a":1}', `must be of type Thing): Object 'Kind' is missing in ' {"a":1}' (`],
    ['yaml', 'Strict', 'a: 1\n', `must be of type Thing): Object 'Kind' is missing in 'a: 1\n' (`],
    ['yaml', 'Strict', '# a', `must be of type Thing): Object 'Kind' is missing in '# a' (`],
    [
      'json',
      'Ignore',
      ' {"a":1}',
      `Thing in version "v1" cannot be handled as a Thing: Object 'Kind' is missing in ' {"a":1}'`,
    ],
    [
      'yaml',
      'Ignore',
      'a: 1\n',
      `Thing in version "v1" cannot be handled as a Thing: Object 'Kind' is missing in '{"a":1}'`,
    ],
  ] as const)('has a kind: %s, %s, %j', async (format, fieldValidation, body, message) => {
    const decode = await endpointOf()
    await loadYaml()
    await expect(decode(body, format, fieldValidation)).rejects.toThrow(message)
  })

  it.each([{ kind: 1 }, { apiVersion: 'autoscaling/v1', kind: 'Scale', nope: 1 }])(
    'that is no Scale is told the same whatever it is: %j',
    async (body) => {
      const decode = await endpointOf('scale')
      await expect(decode(body)).rejects.toThrow('no kind is registered for the type v1.Scale in scheme')
    },
  )

  it('of another kind is not known well enough to miss its fields', async () => {
    const decode = await endpointOf()
    expect(await decode({ apiVersion: 'example.com/v1', kind: 'Other', nope: 1 })).toMatchObject({ kind: 'Other' })
  })
})

describe('the body of a built-in resource', () => {
  const statefulSet = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'a' },
    spec: { selector: {}, serviceName: 's', template: { spec: { containers: [{ name: 'c' }] } } },
  }

  async function decode(body: object) {
    const request = memoryServer().request('/apis/apps/v1/namespaces/default/statefulsets', { method: 'POST' })
    const entry = (await servedResources(request)).find('apps', 'v1', 'statefulsets')!
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'default' })
    return decodeBody(scope, 'json', new TextEncoder().encode(JSON.stringify(body)), 'Strict')
  }

  it.each(['', '/', 'apps/', 'apps/v1'])('is of the version of the endpoint where it says %j', async (apiVersion) => {
    expect(await decode({ ...statefulSet, apiVersion })).toMatchObject({ apiVersion: 'apps/v1' })
  })

  it.each([
    [
      'x/',
      'StatefulSet',
      `StatefulSet in version "" cannot be handled as a StatefulSet: Object 'apiVersion' is missing in '{"apiVersion":"x/","kind":"StatefulSet"}'`,
    ],
    [
      'a"',
      'StatefulSet',
      'StatefulSet in version "a\\"" cannot be handled as a StatefulSet: no kind "StatefulSet" is registered for version "a\\"" in scheme',
    ],
    [
      'apps/v1',
      'x\n',
      'x\n in version "v1" cannot be handled as a StatefulSet: no kind "x\\n" is registered for version "apps/v1" in scheme',
    ],
  ])('of version %j and kind %j is refused', async (apiVersion, kind, message) => {
    await expect(decode({ apiVersion, kind })).rejects.toThrow(message)
  })

  it.each([
    ['', undefined],
    ['MaxUnavailableStatefulSet=true', 1],
  ])('gets the defaults of the feature gates %j', async (gates, maxUnavailable) => {
    const server = memoryServer({ KEDGE_FEATURE_GATES: gates })
    const request = server.request('/apis/apps/v1/namespaces/default/statefulsets', { method: 'POST' })
    const entry = (await servedResources(request)).find('apps', 'v1', 'statefulsets')!
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'default' })
    const decoded = await decodeBody(scope, 'json', new TextEncoder().encode(JSON.stringify(statefulSet)), 'Strict')
    const rollingUpdate = { partition: 0, ...(maxUnavailable === undefined ? {} : { maxUnavailable }) }
    expect(decoded).toHaveProperty('spec.updateStrategy', { type: 'RollingUpdate', rollingUpdate })
  })

  it('gets the time of the request where a default is a time', async () => {
    const server = memoryServer({
      KEDGE_RUNTIME_CONFIG: 'api/all=true',
      KEDGE_FEATURE_GATES: 'DRADeviceTaintRules=true',
    })
    server.now = new Date('2026-01-02T03:04:05Z')
    const request = server.request('/apis/resource.k8s.io/v1beta2/devicetaintrules', { method: 'POST' })
    const entry = (await servedResources(request)).find('resource.k8s.io', 'v1beta2', 'devicetaintrules')!
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: '' })
    const rule = {
      apiVersion: 'resource.k8s.io/v1beta2',
      kind: 'DeviceTaintRule',
      metadata: { name: 'a' },
      spec: { taint: { key: 'k', effect: 'NoSchedule' } },
    }
    const decoded = await decodeBody(scope, 'json', new TextEncoder().encode(JSON.stringify(rule)), 'Strict')
    expect(decoded).toHaveProperty('spec.taint.timeAdded', '2026-01-02T03:04:05Z')
  })
})

it('a body whose client has gone is no fault of the server', async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new TypeError("Can't read: client disconnected.")),
  })
  const init = { method: 'POST', body, duplex: 'half' }
  const read = readBody(memoryServer().request('/api/v1/namespaces/a/configmaps', init))
  await expect(read).rejects.toMatchObject({ code: 400, message: expect.stringMatching(/client disconnected/) })
})

describe('a small body in protobuf', () => {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)])
  const field = (number: number, octets: readonly number[]) => [(number << 3) | 2, ...varint(octets.length), ...octets]
  const text = (of: string) => [...new TextEncoder().encode(of)]

  /** A Pod with so many empty containers, which defaults fill. */
  function pod(containers: number): Uint8Array {
    const spec = Array.from({ length: containers }, () => field(2, [])).flat()
    const raw = [...field(1, field(1, text('a'))), ...field(2, spec)]
    const kind = [...field(1, text('v1')), ...field(2, text('Pod'))]
    return Uint8Array.from([...text('k8s\0'), ...field(1, kind), ...field(2, raw)])
  }

  async function decoded(containers: number) {
    const server = memoryServer()
    const request = server.request('/api/v1/namespaces/default/pods', { method: 'POST' })
    const entry = (await servedResources(request)).find('', 'v1', 'pods')!
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'default' })
    const body = pod(containers)
    const object = await decodeBody(scope, 'protobuf', body, 'Ignore').catch((error: unknown) => error)
    return { object, isLarge: request.isLarge, length: body.length }
  }

  it('whose object is larger than any may be is refused before anything looks at it', async () => {
    const { object, length } = await decoded(31_000)
    expect(length).toBeLessThan(64 * 1024)
    expect(object).toMatchObject({ code: 413 })
  })

  it('that has many values takes turns', async () => {
    expect((await decoded(3_000)).isLarge).toBe(true)
    expect((await decoded(30)).isLarge).toBeUndefined()
  })
})
