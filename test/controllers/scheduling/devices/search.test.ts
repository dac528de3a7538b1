import { describe, expect, test } from 'vitest'
import type { Node } from '../../../../src/api/core/v1.ts'
import type {
  Device,
  DeviceClaim,
  DeviceClass,
  DeviceRequest,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../../../src/api/resource/v1.ts'
import { allocationOf } from '../../../../src/controllers/scheduling/devices/allocation.ts'
import { capacityOf } from '../../../../src/controllers/scheduling/devices/capacity.ts'
import { Pools } from '../../../../src/controllers/scheduling/devices/pools.ts'
import { wishOf } from '../../../../src/controllers/scheduling/devices/requests.ts'
import { search, SearchBudget } from '../../../../src/controllers/scheduling/devices/search.ts'
import { Selectors } from '../../../../src/controllers/scheduling/devices/selectors.ts'
import * as engine from '../../../../src/expressions/device-matches.ts'

const NODE: Node = { metadata: { name: 'node-1', labels: { zone: 'a' } } }

const gpu = (name: string, memory: string, numa = 0, more: Partial<Device> = {}): Device => ({
  name,
  attributes: { numa: { int: numa }, model: { string: name }, 'shared.example/even': { bool: numa % 2 === 0 } },
  capacity: { memory: { value: memory } },
  ...more,
})

const slice = (devices: readonly Device[], spec: Partial<ResourceSliceSpec> = {}, name = 'slice'): ResourceSlice => ({
  metadata: { name },
  spec: {
    driver: 'gpu.example',
    nodeName: 'node-1',
    pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
    devices: [...devices],
    ...spec,
  },
})

/** Attributes that are lists, and one that is a single value. */
const LISTS = slice([
  gpu('gpu-0', '1Gi', 0, { attributes: { links: { ints: [1, 2] } } }),
  gpu('gpu-1', '1Gi', 0, { attributes: { links: { ints: [3] } } }),
  gpu('gpu-2', '1Gi', 0, { attributes: { links: { int: 2 } } }),
])

const CLASSES: Record<string, DeviceClass> = {
  gpus: {
    metadata: { name: 'gpus' },
    spec: {
      selectors: [{ cel: { expression: 'device.driver == "gpu.example"' } }],
      config: [{ opaque: { driver: 'gpu.example', parameters: { of: 'class' } } }],
    },
  },
  any: { metadata: { name: 'any' } },
  broken: { metadata: { name: 'broken' }, spec: { selectors: [{ cel: { expression: 'device.attributes["a"].b' } }] } },
}

const ask = (name: string, exactly: DeviceRequest['exactly'] = {}): DeviceRequest => ({
  name,
  exactly: { deviceClassName: 'gpus', ...exactly },
})
const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })

interface Given {
  readonly slices: readonly ResourceSlice[]
  readonly claims: readonly DeviceClaim[]
  readonly allocated?: readonly string[]
  /** What shares took of devices, by id. */
  readonly used?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly node?: Node
}

/** What each claim gets, or why there is nothing. */
function allocate({ slices, claims, allocated = [], used, node = NODE }: Given) {
  const find = (name: string) => CLASSES[name]
  const wishes = claims.map((devices, at) =>
    wishOf({ metadata: { namespace: 'default', name: `claim-${at}` }, spec: { devices } }, find),
  )
  const found = search(wishes, {
    node,
    pools: new Pools(slices).on(node),
    isAllocated: (id) => allocated.includes(id),
    usedOf: (id) => (used?.[id] === undefined ? undefined : capacityOf(used[id])),
    selectors: new Selectors(engine),
    budget: new SearchBudget(),
  })
  return typeof found === 'string' ? found : wishes.map((wish, at) => allocationOf(wish, found[at]!, node))
}

/** `REQUEST=DEVICE` of each claim. */
function chosen(given: Given) {
  const found = allocate(given)
  if (typeof found === 'string') return found
  return found.map(({ devices }) => devices?.results?.map(({ request, device }) => `${request}=${device}`).join(' '))
}

const MANY = { allowMultipleAllocations: true }
const takes = (memory: string) => ({ capacity: { requests: { memory } } })
const FOUR = slice([gpu('gpu-0', '10Gi', 0), gpu('gpu-1', '20Gi', 0), gpu('gpu-2', '20Gi', 1), gpu('gpu-3', '40Gi', 1)])
const SHARED = { nodeName: undefined, allNodes: true } as const
const partitions = [
  ...[0, 1].map((at) =>
    gpu(`half-${at}`, '5Gi', 0, { consumesCounters: [{ counterSet: 'card', counters: { m: { value: '5' } } }] }),
  ),
  gpu('whole', '10Gi', 0, { consumesCounters: [{ counterSet: 'card', counters: { m: { value: '10' } } }] }),
]
const WHOLE = cel('device.capacity["gpu.example"].memory == quantity("10Gi")')
const ofTwo = { name: 'pool', generation: 1, resourceSliceCount: 2 }
const card = slice(
  [],
  { devices: undefined, pool: ofTwo, sharedCounters: [{ name: 'card', counters: { m: { value: '10' } } }] },
  'card',
)

/** Goes through a list within a list, and so on: ten times the cost with each. */
const nested = (depth: number): string =>
  depth === 0 ? 'device.driver != ""' : `[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(x${depth}, ${nested(depth - 1)})`

const table: readonly (Given & { readonly title: string; readonly want: unknown })[] = [
  { title: 'the first device', slices: [FOUR], claims: [{ requests: [ask('a')] }], want: ['a=gpu-0'] },
  {
    title: 'no device that is in use',
    slices: [FOUR],
    allocated: ['gpu.example/pool/gpu-0'],
    claims: [{ requests: [ask('a')] }],
    want: ['a=gpu-1'],
  },
  {
    title: 'as many as are asked for',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { count: 3 })] }],
    want: ['a=gpu-0 a=gpu-1 a=gpu-2'],
  },
  { title: 'not more than there are', slices: [FOUR], claims: [{ requests: [ask('a', { count: 5 })] }], want: 'none' },
  {
    title: 'what the request selects by capacity',
    slices: [FOUR],
    claims: [{ requests: [ask('a', cel('device.capacity["gpu.example"].memory.isGreaterThan(quantity("30Gi"))'))] }],
    want: ['a=gpu-3'],
  },
  {
    title: 'what the request selects by an attribute of another domain',
    slices: [FOUR],
    claims: [{ requests: [ask('a', cel('!device.attributes["shared.example"].even'))] }],
    want: ['a=gpu-2'],
  },
  {
    title: 'nothing where a domain is not there',
    slices: [FOUR],
    claims: [{ requests: [ask('a', cel('"x" in device.attributes["unknown.example"]'))] }],
    want: 'none',
  },
  {
    title: 'nothing of another driver than the class selects',
    slices: [slice([gpu('gpu-0', '1Gi')], { driver: 'other.example' })],
    claims: [{ requests: [ask('a')] }],
    want: 'none',
  },
  {
    title: 'goes back where a later request needs the device',
    slices: [FOUR],
    claims: [{ requests: [ask('any'), ask('first', cel('device.attributes["gpu.example"].model == "gpu-0"'))] }],
    want: ['any=gpu-1 first=gpu-0'],
  },
  {
    title: 'goes back over claims',
    slices: [FOUR],
    claims: [
      { requests: [ask('any')] },
      { requests: [ask('first', cel('device.attributes["gpu.example"].model == "gpu-0"'))] },
    ],
    want: ['any=gpu-1', 'first=gpu-0'],
  },
  {
    title: 'devices with the same attribute',
    slices: [FOUR],
    allocated: ['gpu.example/pool/gpu-1'],
    claims: [{ requests: [ask('a'), ask('b')], constraints: [{ matchAttribute: 'gpu.example/numa' }] }],
    want: ['a=gpu-2 b=gpu-3'],
  },
  {
    title: 'devices with different ones',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { count: 2 })], constraints: [{ distinctAttribute: 'gpu.example/numa' }] }],
    want: ['a=gpu-0 a=gpu-2'],
  },
  {
    title: 'a constraint of some requests alone',
    slices: [FOUR],
    claims: [
      {
        requests: [ask('a'), ask('b'), ask('c')],
        constraints: [{ requests: ['b', 'c'], matchAttribute: 'gpu.example/numa' }],
      },
    ],
    want: ['a=gpu-0 b=gpu-2 c=gpu-3'],
  },
  {
    title: 'devices whose lists of values have one in common',
    slices: [LISTS],
    claims: [{ requests: [ask('a', { count: 2 })], constraints: [{ matchAttribute: 'gpu.example/links' }] }],
    want: ['a=gpu-0 a=gpu-2'],
  },
  {
    title: 'devices whose lists of values have none in common',
    slices: [LISTS],
    claims: [{ requests: [ask('a', { count: 2 })], constraints: [{ distinctAttribute: 'gpu.example/links' }] }],
    want: ['a=gpu-0 a=gpu-1'],
  },
  {
    title: 'a device with a value in its list',
    slices: [LISTS],
    claims: [{ requests: [ask('a', cel('device.attributes["gpu.example"].links.includes(3)'))] }],
    want: ['a=gpu-1'],
  },
  {
    title: 'nothing where no device has the attribute',
    slices: [FOUR],
    claims: [{ requests: [ask('a')], constraints: [{ matchAttribute: 'gpu.example/none' }] }],
    want: 'none',
  },
  {
    title: 'all devices',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { allocationMode: 'All', ...cel('device.attributes["gpu.example"].numa == 1') })] }],
    want: ['a=gpu-2 a=gpu-3'],
  },
  {
    title: 'all devices means each of them',
    slices: [FOUR],
    allocated: ['gpu.example/pool/gpu-3'],
    claims: [{ requests: [ask('a', { allocationMode: 'All' })] }],
    want: 'none',
  },
  {
    title: 'all devices means some',
    slices: [],
    claims: [{ requests: [ask('a', { allocationMode: 'All' })] }],
    want: 'none',
  },
  {
    title: 'who administers devices gets those that are in use',
    slices: [FOUR],
    allocated: ['gpu.example/pool/gpu-0'],
    claims: [{ requests: [ask('a', { adminAccess: true })] }, { requests: [ask('b')] }],
    want: ['a=gpu-0', 'b=gpu-1'],
  },
  {
    title: 'the first that is available',
    slices: [FOUR],
    claims: [
      {
        requests: [
          {
            name: 'a',
            firstAvailable: [
              { name: 'many', deviceClassName: 'gpus', count: 9 },
              { name: 'two', deviceClassName: 'gpus', count: 2 },
            ],
          },
        ],
      },
    ],
    want: ['a/two=gpu-0 a/two=gpu-1'],
  },
  {
    title: 'another alternative where a later request would have nothing',
    slices: [FOUR],
    claims: [
      {
        requests: [
          {
            name: 'a',
            firstAvailable: [
              { name: 'four', deviceClassName: 'gpus', count: 4 },
              { name: 'three', deviceClassName: 'gpus', count: 3 },
            ],
          },
          ask('b'),
        ],
      },
    ],
    want: ['a/three=gpu-0 a/three=gpu-1 a/three=gpu-2 b=gpu-3'],
  },
  {
    title: 'devices of other nodes are left out',
    slices: [
      slice([gpu('gpu-0', '1Gi')], { nodeName: 'node-2' }),
      slice([gpu('gpu-1', '1Gi')], { pool: { ...ofTwo, resourceSliceCount: 1, name: 'other' } }),
    ],
    claims: [{ requests: [ask('a')] }],
    want: ['a=gpu-1'],
  },
  {
    title: 'nothing of a pool that is not complete',
    slices: [slice([gpu('gpu-0', '1Gi')], { pool: ofTwo })],
    claims: [{ requests: [ask('a')] }],
    want: 'none',
  },
  {
    title: 'a pool whose other slices are for other nodes is complete',
    slices: [slice([gpu('gpu-0', '1Gi')], { pool: ofTwo }), slice([], { pool: ofTwo, nodeName: 'node-2' }, 'b')],
    claims: [{ requests: [ask('a')] }],
    want: ['a=gpu-0'],
  },
  {
    title: 'the latest generation of a pool',
    slices: [
      slice([gpu('old', '1Gi')]),
      slice([gpu('new', '1Gi')], { pool: { name: 'pool', generation: 2, resourceSliceCount: 1 } }, 'b'),
    ],
    claims: [{ requests: [ask('a')] }],
    want: ['a=new'],
  },
  {
    title: 'nothing of a pool whose devices share a name',
    slices: [slice([gpu('x', '1Gi')], { pool: ofTwo }), slice([gpu('x', '1Gi')], { pool: ofTwo }, 'b')],
    claims: [{ requests: [ask('a')] }],
    want: 'invalid pools',
  },
  {
    title: 'devices that a node selector gives the node',
    slices: [
      slice([gpu('x', '1Gi')], {
        nodeName: undefined,
        nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] },
      }),
    ],
    claims: [{ requests: [ask('a')] }],
    want: ['a=x'],
  },
  {
    title: 'devices that say themselves for which node they are',
    slices: [
      slice([gpu('x', '1Gi', 0, { nodeName: 'node-2' }), gpu('y', '1Gi', 0, { nodeName: 'node-1' })], {
        nodeName: undefined,
        perDeviceNodeSelection: true,
      }),
    ],
    claims: [{ requests: [ask('a')] }],
    want: ['a=y'],
  },
  {
    title: 'no device with a taint that is not tolerated',
    slices: [slice([gpu('x', '1Gi', 0, { taints: [{ key: 'broken', effect: 'NoSchedule' }] }), gpu('y', '1Gi')])],
    claims: [{ requests: [ask('a')] }],
    want: ['a=y'],
  },
  {
    title: 'a device whose taint is tolerated',
    slices: [slice([gpu('x', '1Gi', 0, { taints: [{ key: 'broken', effect: 'NoExecute' }] })])],
    claims: [{ requests: [ask('a', { tolerations: [{ key: 'broken', operator: 'Exists' }] })] }],
    want: ['a=x'],
  },
  {
    title: 'partitions as far as the counters go',
    slices: [slice(partitions, { pool: ofTwo }), card],
    claims: [{ requests: [ask('a', { count: 3 })] }],
    want: 'none',
  },
  {
    title: 'two halves, or the whole',
    slices: [slice(partitions, { pool: ofTwo }), card],
    claims: [{ requests: [ask('a', { count: 2 })] }],
    want: ['a=half-0 a=half-1'],
  },
  {
    title: 'no whole where a half is in use',
    slices: [slice(partitions, { pool: ofTwo }), card],
    allocated: ['gpu.example/pool/half-0'],
    claims: [{ requests: [ask('a', WHOLE)] }],
    want: 'none',
  },
  {
    title: 'nothing of a pool whose devices take counters that are not there',
    slices: [slice(partitions)],
    claims: [{ requests: [ask('a')] }],
    want: 'invalid pools',
  },
  {
    title: 'devices that are to be waited for',
    slices: [slice([gpu('x', '1Gi', 0, { bindingConditions: ['attached'] })])],
    claims: [{ requests: [ask('a')] }],
    want: ['a=x'],
  },
  {
    title: 'devices of a pool with none that is to be waited for, before those of any other pool',
    slices: [
      slice([gpu('x', '1Gi'), gpu('y', '1Gi', 0, { bindingConditions: ['attached'] })]),
      slice([gpu('z', '1Gi')], { pool: { name: 'pool-2', generation: 1, resourceSliceCount: 1 } }, 'slice-2'),
    ],
    claims: [{ requests: [ask('a', { count: 3 })] }],
    want: ['a=z a=x a=y'],
  },
  {
    title: 'pools in the order of their drivers, whatever the names of these have in common',
    slices: [
      slice([gpu('x', '1Gi')], { driver: 'gpu.example.com' }, 'slice-1'),
      slice([gpu('y', '1Gi')], {}, 'slice-2'),
    ],
    claims: [{ requests: [ask('a', { deviceClassName: 'any' })] }],
    want: ['a=y'],
  },
  {
    title: 'another alternative where the counters of the first are used up, whatever the constraints say of it',
    slices: [slice(partitions, { pool: ofTwo }), card],
    allocated: ['gpu.example/pool/half-0', 'gpu.example/pool/half-1'],
    claims: [
      {
        requests: [
          {
            name: 'a',
            firstAvailable: [{ name: 'whole', deviceClassName: 'gpus', allocationMode: 'All', ...WHOLE }],
          },
        ],
        constraints: [{ matchAttribute: 'gpu.example/absent' }],
      },
    ],
    want: 'none',
  },
  {
    title: 'a share of what others leave of a device',
    slices: [slice([gpu('x', '4Gi', 0, MANY), gpu('y', '4Gi', 0, MANY)])],
    claims: [{ requests: [ask('a', takes('2Gi'))] }],
    used: { 'gpu.example/pool/x': { memory: '3Gi' } },
    want: ['a=y'],
  },
  {
    title: 'shares of one device for several claims, as long as there is some left',
    slices: [slice([gpu('x', '4Gi', 0, MANY), gpu('y', '4Gi', 0, MANY)])],
    claims: ['3Gi', '3Gi', '1Gi'].map((amount) => ({ requests: [ask('a', takes(amount))] })),
    want: ['a=x', 'a=y', 'a=x'],
  },
  {
    title: 'one share of a device for each device of a request',
    slices: [slice([gpu('x', '4Gi', 0, MANY)])],
    claims: [{ requests: [ask('a', { count: 2, ...takes('1Gi') })] }],
    want: 'none',
  },
  {
    title: 'a share given back where the rest does not work out',
    slices: [slice([gpu('x', '4Gi', 0, MANY), gpu('y', '8Gi', 1, MANY)])],
    claims: [
      {
        requests: [ask('a', takes('3Gi')), ask('b', takes('5Gi'))],
        constraints: [{ matchAttribute: 'gpu.example/numa' }],
      },
      { requests: [ask('c', takes('4Gi'))] },
    ],
    want: ['a=y b=y', 'c=x'],
  },
  {
    title: 'no share where less is left than is asked for',
    slices: [slice([gpu('x', '4Gi', 0, MANY)])],
    claims: [{ requests: [ask('a', takes('5Gi'))] }],
    want: 'none',
  },
  {
    title: 'an exclusive device that is large enough',
    slices: [FOUR],
    claims: [{ requests: [ask('a', takes('30Gi'))] }],
    want: ['a=gpu-3'],
  },
  {
    title: 'nothing that has not the capacity which is asked for',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { capacity: { requests: { cores: '1' } } })] }],
    want: 'none',
  },
]

test.each(table)('$title', ({ want, ...given }) => expect(chosen(given)).toEqual(want))

const failing: readonly (Given & { readonly title: string; readonly why: string })[] = [
  {
    title: 'a selector that fails for a device',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { deviceClassName: 'broken' })] }],
    why: 'class broken: selector #0: CEL runtime error: no such key: b',
  },
  {
    title: 'a selector that is no bool',
    slices: [FOUR],
    claims: [{ requests: [ask('a', cel('device.attributes["gpu.example"].model'))] }],
    why: "claim default/claim-0: selector #0: CEL runtime error: CEL result of type string could not be converted to bool: type conversion error from 'string' to 'bool'",
  },
  {
    title: 'more devices than a claim can have',
    slices: [FOUR],
    claims: [{ requests: [ask('a', { count: 33 })] }],
    why: 'claim default/claim-0: number of requested devices 33 exceeds the claim limit of 32',
  },
  {
    title: 'all devices of a pool that is not complete',
    slices: [slice([gpu('x', '1Gi')], { pool: ofTwo })],
    claims: [{ requests: [ask('a', { allocationMode: 'All' })] }],
    why: 'claim default/claim-0, request a: asks for all devices, but resource pool gpu.example/pool is currently being updated',
  },
  {
    title: 'all devices where a constraint keeps some out',
    slices: [FOUR],
    claims: [
      { requests: [ask('a', { allocationMode: 'All' })], constraints: [{ matchAttribute: 'gpu.example/numa' }] },
    ],
    why: 'claim default/claim-0, request a: cannot add device gpu.example/pool/gpu-2 because a claim constraint would not be satisfied',
  },
  {
    title: 'all devices in an alternative, which goes by its own name',
    slices: [slice([gpu('x', '1Gi')], { pool: ofTwo })],
    claims: [
      {
        requests: [{ name: 'a', firstAvailable: [{ name: 'most', deviceClassName: 'gpus', allocationMode: 'All' }] }],
      },
    ],
    why: 'claim default/claim-0, request most: asks for all devices, but resource pool gpu.example/pool is currently being updated',
  },
  {
    title: 'more combinations than are tried',
    slices: [slice(Array.from({ length: 60 }, (_, at) => gpu(`gpu-${at}`, '1Gi', at)))],
    claims: [
      {
        requests: [ask('a', { count: 15 }), ask('b', cel('device.attributes["gpu.example"].model == "none"'))],
      },
    ],
    why: 'gave up looking for devices: there are too many combinations to try',
  },
  {
    title: 'an expression that costs more than all of the search may',
    slices: [FOUR],
    claims: [{ requests: [ask('a', cel(nested(5)))] }],
    why: 'claim default/claim-0: selector #0: gave up looking for devices: their selectors cost too much',
  },
]

test.each(failing)('the search fails: $title', ({ why, ...given }) => expect(() => chosen(given)).toThrow(why))

describe('what the status says', () => {
  test('results, configuration and node of devices that are local', () => {
    const config = [
      { opaque: { driver: 'gpu.example', parameters: { of: 'all' } } },
      { requests: ['b'], opaque: { driver: 'gpu.example', parameters: { of: 'b' } } },
    ]
    const tolerations = [{ key: 'x', operator: 'Exists' }]
    const requests = [ask('a', { adminAccess: true }), ask('b', { tolerations })]
    expect(allocate({ slices: [FOUR], claims: [{ requests, config }] })).toEqual([
      {
        devices: {
          results: [
            { request: 'a', driver: 'gpu.example', pool: 'pool', device: 'gpu-0', adminAccess: true },
            { request: 'b', driver: 'gpu.example', pool: 'pool', device: 'gpu-1', tolerations },
          ],
          config: [
            {
              source: 'FromClass',
              requests: ['a', 'b'],
              opaque: { driver: 'gpu.example', parameters: { of: 'class' } },
            },
            { source: 'FromClaim', ...config[0] },
            { source: 'FromClaim', ...config[1] },
          ],
        },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }],
        },
      },
    ])
  })

  const zone = { key: 'zone', operator: 'In', values: ['a'] }
  test.each([
    ['no node where devices are everywhere', { ...SHARED }, undefined],
    [
      'the nodes of the slice',
      { nodeName: undefined, nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } },
      { nodeSelectorTerms: [{ matchExpressions: [zone] }] },
    ],
  ])('%s', (_, spec, want) => {
    const [allocation] = allocate({
      slices: [slice([gpu('x', '1Gi'), gpu('y', '1Gi')], spec)],
      claims: [{ requests: [ask('a', { count: 2 })] }],
    })
    expect(allocation).toMatchObject({ devices: {} })
    expect((allocation as { nodeSelector?: unknown }).nodeSelector).toEqual(want)
  })
})

/** The same sequence each time. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

test('whatever is asked for: no device is given twice, counts and constraints hold, and a solution that exists is found', () => {
  const random = numbers(7)
  const upTo = (most: number) => Math.floor(random.next().value * most)
  let solved = 0
  for (let round = 0; round < 300; round++) {
    const devices = Array.from({ length: 1 + upTo(6) }, (_, at) => gpu(`gpu-${at}`, '1Gi', upTo(2)))
    const allocated = devices.flatMap(({ name }) => (upTo(4) === 0 ? [`gpu.example/pool/${name}`] : []))
    const claims = Array.from({ length: 1 + upTo(2) }, () => ({
      requests: Array.from({ length: 1 + upTo(2) }, (_, at) => ask(`r${at}`, { count: 1 + upTo(2) })),
      constraints: upTo(2) === 0 ? [] : [{ matchAttribute: 'gpu.example/numa' }],
    }))
    const found = allocate({ slices: [slice(devices)], claims, allocated })
    const free = devices.filter(({ name }) => !allocated.includes(`gpu.example/pool/${name}`))
    const numas = free.map(({ attributes }) => Number(attributes?.['numa']?.int))
    const wanted = claims.map(({ requests, constraints }) => ({
      count: requests.reduce((sum, { exactly }) => sum + Number(exactly?.count), 0),
      isSame: constraints.length > 0,
    }))
    expect(typeof found !== 'string').toBe(
      isPossible(wanted, [numas.filter((n) => n === 0).length, numas.filter((n) => n === 1).length]),
    )
    if (typeof found === 'string') continue
    solved++
    const given = found.map(({ devices }) => devices?.results?.map(({ device = '' }) => device) ?? [])
    expect(new Set(given.flat()).size).toBe(given.flat().length)
    for (const [at, names] of given.entries()) {
      expect(names).toHaveLength(wanted[at]!.count)
      for (const name of names) expect(allocated).not.toContain(`gpu.example/pool/${name}`)
      const sorts = names.map((name) => devices.find((device) => device.name === name)?.attributes?.['numa']?.int)
      if (wanted[at]!.isSame) expect(new Set(sorts).size).toBe(1)
    }
  }
  expect(solved).toBeGreaterThan(50)
})

/** Of two sorts of devices there are so many free ones. */
function isPossible(
  [first, ...rest]: readonly { readonly count: number; readonly isSame: boolean }[],
  [a, b]: readonly [number, number],
): boolean {
  if (a < 0 || b < 0) return false
  if (first === undefined) return true
  const shares = first.isSame ? [0, first.count] : Array.from({ length: first.count + 1 }, (_, share) => share)
  return shares.some((share) => isPossible(rest, [a - share, b - (first.count - share)]))
}
