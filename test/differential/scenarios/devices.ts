/** Pods that claim devices of drivers which the scenario stands for: each has a driver, a class and slices of its own. */
import { deployment, pod } from '../manifests.ts'
import type { PodOptions } from '../manifests.ts'
import { device } from '../nodes.ts'
import type { Action, Manifest, Scenario } from '../scenario.ts'

type Fields = Readonly<Record<string, unknown>>

const API = 'resource.k8s.io/v1'
const deviceClass = (driver: string, more: Fields = {}): Manifest => ({
  apiVersion: API,
  kind: 'DeviceClass',
  metadata: { name: driver },
  spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }], ...more },
})
/** Of one node, which is a pool; of node-0: reached from all. */
const slice = (driver: string, node: number, devices: readonly Fields[], more: Fields = {}): Manifest => ({
  apiVersion: API,
  kind: 'ResourceSlice',
  metadata: { name: `${driver}-${node}` },
  spec: {
    driver,
    pool: { name: `pool-${node}`, generation: 1, resourceSliceCount: 1 },
    ...(node === 0 ? { allNodes: true } : { nodeName: `node-${node}` }),
    devices,
    ...more,
  },
})
const supply = (driver: string, ...slices: Manifest[]): Action => ({ createGlobal: [deviceClass(driver), ...slices] })

const asks = (driver: string, more: Fields = {}, name = 'a') => ({
  name,
  exactly: { deviceClassName: driver, ...more },
})
const part = (amount: string) => ({ capacity: { requests: { memory: amount } } })
const cel = (expression: string) => ({ selectors: [{ cel: { expression } }] })
const claim = (name: string, requests: readonly Fields[], more: Fields = {}): Manifest => ({
  apiVersion: API,
  kind: 'ResourceClaim',
  metadata: { name },
  spec: { devices: { requests, ...more } },
})
const template = (name: string, requests: readonly Fields[]): Manifest => ({
  apiVersion: API,
  kind: 'ResourceClaimTemplate',
  metadata: { name },
  spec: { spec: { devices: { requests } } },
})
const uses = (...claims: string[]): PodOptions => ({
  spec: { resourceClaims: claims.map((name) => ({ name, resourceClaimName: name })) },
})
const usesTemplate = (name: string): PodOptions => ({
  spec: { resourceClaims: [{ name: 'a', resourceClaimTemplateName: name }] },
  container: { resources: { claims: [{ name: 'a' }] } },
})
const make = (...objects: Manifest[]): Action => ({ create: objects })
const remove = (name: string): Action => ({ delete: `v1/pods/${name}`, graceSeconds: 0 })
const memory = (value: string, requestPolicy?: Fields) => ({
  capacity: { memory: { value, ...(requestPolicy && { requestPolicy }) } },
})
const shared = (name: string, value: string, requestPolicy?: Fields) => ({
  name,
  allowMultipleAllocations: true,
  ...memory(value, requestPolicy),
})

const exclusive: Scenario[] = [
  {
    name: 'a claim takes its pod to the device, and goes on without it',
    comparesNodes: true,
    steps: [
      [supply('plain.example', slice('plain.example', 2, [{ name: 'x' }])), make(claim('c', [asks('plain.example')]))],
      make(pod('a', uses('c'))),
      remove('a'),
    ],
  },
  {
    name: 'a pod waits for a class, a claim and a device',
    steps: [
      make(pod('a', uses('c'))),
      make(claim('c', [asks('late.example')])),
      { createGlobal: [deviceClass('late.example')] },
      { createGlobal: [slice('late.example', 1, [{ name: 'x' }])] },
    ],
  },
  {
    name: 'of a Deployment so many pods as there are devices',
    steps: [
      [
        supply('few.example', slice('few.example', 1, [{ name: 'x' }]), slice('few.example', 3, [{ name: 'x' }])),
        make(template('t', [asks('few.example')])),
      ],
      make(deployment('web', { replicas: 3 }, usesTemplate('t'))),
      { patch: 'apps/v1/deployments/web', with: { spec: { replicas: 0 } } },
    ],
  },
  {
    name: 'the first of several requests that can be had',
    comparesNodes: true,
    steps: [
      supply(
        'either.example',
        slice('either.example', 1, [{ name: 'x' }]),
        slice('either.example', 3, [{ name: 'y' }, { name: 'z' }]),
      ),
      make(
        claim('c', [
          {
            name: 'a',
            firstAvailable: [
              { name: 'three', deviceClassName: 'either.example', count: 3 },
              { name: 'two', deviceClassName: 'either.example', count: 2 },
              { name: 'one', deviceClassName: 'either.example' },
            ],
          },
        ]),
        pod('a', uses('c')),
      ),
    ],
  },
  {
    name: 'devices with the same attribute, and with different ones',
    comparesNodes: true,
    steps: [
      supply(
        'numa.example',
        slice(
          'numa.example',
          1,
          [0, 1, 0, 1].map((numa, at) => ({ name: `d${at}`, attributes: { numa: { int: numa } } })),
        ),
      ),
      make(
        claim('same', [asks('numa.example', { count: 2 })], { constraints: [{ matchAttribute: 'numa.example/numa' }] }),
        pod('a', uses('same')),
      ),
      make(
        claim('apart', [asks('numa.example', { count: 2 })], {
          constraints: [{ distinctAttribute: 'numa.example/numa' }],
        }),
        pod('b', uses('apart')),
      ),
      remove('a'),
      make(
        claim('now', [asks('numa.example', { count: 2 })], { constraints: [{ matchAttribute: 'numa.example/numa' }] }),
        pod('c', uses('now')),
      ),
    ],
  },
  {
    name: 'all devices of a node',
    comparesNodes: true,
    steps: [
      supply('all.example', slice('all.example', 2, [{ name: 'x' }, { name: 'y' }])),
      make(claim('c', [asks('all.example', { allocationMode: 'All' })]), pod('a', uses('c'))),
      make(claim('d', [asks('all.example')]), pod('b', uses('d'))),
    ],
  },
  {
    name: 'administrators use what others have',
    namespaceLabels: { 'resource.kubernetes.io/admin-access': 'true' },
    steps: [
      supply('admin.example', slice('admin.example', 1, [{ name: 'x' }])),
      make(claim('user', [asks('admin.example')]), pod('a', uses('user'))),
      make(claim('admin', [asks('admin.example', { adminAccess: true })]), pod('b', uses('admin'))),
    ],
  },
  {
    name: 'taints of devices, and who tolerates them',
    steps: [
      supply(
        'taint.example',
        slice('taint.example', 1, [{ name: 'x', taints: [{ key: 'sick', value: 'yes', effect: 'NoSchedule' }] }]),
      ),
      make(claim('c', [asks('taint.example')]), pod('a', uses('c'))),
      make(
        claim('d', [asks('taint.example', { tolerations: [{ key: 'sick', operator: 'Exists' }] })]),
        pod('b', uses('d')),
      ),
    ],
  },
  {
    name: 'partitions of one card',
    steps: [
      {
        createGlobal: [
          deviceClass('card.example'),
          slice('card.example', 0, [], {
            devices: undefined,
            pool: { name: 'pool', generation: 1, resourceSliceCount: 2 },
            sharedCounters: [{ name: 'card', counters: { m: { value: '10' } } }],
          }),
          slice(
            'card.example',
            1,
            [
              ['half-0', '5'],
              ['half-1', '5'],
              ['whole', '10'],
            ].map(([name, value]) => ({
              name,
              consumesCounters: [{ counterSet: 'card', counters: { m: { value } } }],
            })),
            { pool: { name: 'pool', generation: 1, resourceSliceCount: 2 } },
          ),
        ],
      },
      make(claim('c', [asks('card.example')]), pod('a', uses('c'))),
      make(claim('d', [asks('card.example', cel('device.driver != "" && !has(device.attributes["x"].y)'))])),
      make(claim('e', [asks('card.example', { count: 2 })]), pod('b', uses('e'))),
      make(claim('f', [asks('card.example')]), pod('c', uses('f'))),
    ],
  },
  {
    name: 'a selector that fails',
    steps: [
      supply('fails.example', slice('fails.example', 1, [{ name: 'x' }])),
      make(
        claim('c', [asks('fails.example', cel('device.attributes["fails.example"].none == 1'))]),
        pod('a', uses('c')),
      ),
    ],
  },
  {
    name: 'pods share a claim',
    comparesNodes: true,
    // where kube-scheduler decides on the second before it sees what it wrote for the first
    byChance: ['FailedScheduling'],
    steps: [
      supply('both.example', slice('both.example', 3, [{ name: 'x' }])),
      make(claim('c', [asks('both.example')]), pod('a', uses('c')), pod('b', uses('c'))),
      remove('a'),
      remove('b'),
    ],
  },
  {
    name: 'a pool of which slices are missing',
    // a request for all devices fails meanwhile
    isAlone: true,
    steps: [
      supply(
        'part.example',
        slice('part.example', 1, [{ name: 'x' }], { pool: { name: 'p', generation: 1, resourceSliceCount: 2 } }),
      ),
      make(claim('c', [asks('part.example')]), pod('a', uses('c'))),
      make(claim('d', [asks('part.example', { allocationMode: 'All' })]), pod('b', uses('d'))),
    ],
  },
]

const consumable: Scenario[] = [
  {
    name: 'claims share a device until it is used up',
    comparesNodes: true,
    steps: [
      supply('shared.example', slice('shared.example', 2, [shared('x', '10Gi')])),
      make(claim('c', [asks('shared.example', part('4Gi'))]), pod('a', uses('c'))),
      make(claim('d', [asks('shared.example', part('6Gi'))]), pod('b', uses('d'))),
      make(claim('e', [asks('shared.example', part('1Gi'))]), pod('c', uses('e'))),
      remove('a'),
    ],
  },
  {
    name: 'a share of what is not asked for is all of it',
    steps: [
      supply('whole.example', slice('whole.example', 1, [shared('x', '10Gi')])),
      make(claim('c', [asks('whole.example')]), pod('a', uses('c'))),
      make(claim('d', [asks('whole.example', part('1'))]), pod('b', uses('d'))),
    ],
  },
  {
    name: 'shares are rounded up by the policy of the device',
    steps: [
      supply(
        'round.example',
        slice('round.example', 1, [
          shared('range', '10Gi', { default: '2Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } }),
        ]),
      ),
      make(claim('usual', [asks('round.example')]), pod('a', uses('usual'))),
      make(claim('least', [asks('round.example', part('1Mi'))]), pod('b', uses('least'))),
      make(claim('up', [asks('round.example', part('2500Mi'))]), pod('c', uses('up'))),
      make(claim('most', [asks('round.example', part('9Gi'))]), pod('d', uses('most'))),
      make(claim('left', [asks('round.example', part('4Gi'))]), pod('e', uses('left'))),
      make(claim('more', [asks('round.example', part('1Gi'))]), pod('f', uses('more'))),
    ],
  },
  {
    name: 'shares are one of the values of the policy',
    steps: [
      supply(
        'values.example',
        slice('values.example', 1, [shared('x', '10Gi', { default: '1Gi', validValues: ['1Gi', '2Gi', '4Gi'] })]),
      ),
      make(claim('up', [asks('values.example', part('3Gi'))]), pod('a', uses('up'))),
      make(claim('over', [asks('values.example', part('5Gi'))]), pod('b', uses('over'))),
      make(claim('exact', [asks('values.example', part('4Gi'))]), pod('c', uses('exact'))),
      make(claim('two', [asks('values.example', part('2Gi'))]), pod('d', uses('two'))),
    ],
  },
  {
    name: 'two requests of a claim may have one device, one request may not',
    steps: [
      supply('twice.example', slice('twice.example', 1, [shared('x', '10Gi')])),
      make(
        claim('two', [asks('twice.example', part('2Gi'), 'a'), asks('twice.example', part('3Gi'), 'b')]),
        pod('a', uses('two')),
      ),
      make(claim('both', [asks('twice.example', { count: 2, ...part('1Gi') })]), pod('b', uses('both'))),
      make(
        claim('apart', [asks('twice.example', part('1Gi'), 'a'), asks('twice.example', part('1Gi'), 'b')], {
          constraints: [{ distinctAttribute: 'twice.example/id' }],
        }),
        pod('c', uses('apart')),
      ),
    ],
  },
  {
    name: 'an exclusive device that is large enough',
    comparesNodes: true,
    steps: [
      supply(
        'size.example',
        slice('size.example', 1, [{ name: 'small', ...memory('4Gi') }]),
        slice('size.example', 3, [{ name: 'large', ...memory('16Gi') }]),
      ),
      make(claim('c', [asks('size.example', part('8Gi'))]), pod('a', uses('c'))),
      make(claim('d', [asks('size.example', part('5Gi'))]), pod('b', uses('d'))),
      make(claim('e', [asks('size.example', { capacity: { requests: { none: '1' } } })]), pod('c', uses('e'))),
    ],
  },
  {
    name: 'a shared device without any capacity, and its administrator',
    namespaceLabels: { 'resource.kubernetes.io/admin-access': 'true' },
    steps: [
      supply('free.example', slice('free.example', 1, [{ name: 'x', allowMultipleAllocations: true }])),
      make(claim('c', [asks('free.example')]), pod('a', uses('c'))),
      make(claim('d', [asks('free.example', { allocationMode: 'All' })]), pod('b', uses('d'))),
      make(claim('e', [asks('free.example', { adminAccess: true })]), pod('c', uses('e'))),
    ],
  },
  {
    name: 'a shared device takes its counters once',
    steps: [
      {
        createGlobal: [
          deviceClass('count.example'),
          slice('count.example', 0, [], {
            devices: undefined,
            pool: { name: 'pool', generation: 1, resourceSliceCount: 2 },
            sharedCounters: [{ name: 'card', counters: { m: { value: '5' } } }],
          }),
          slice(
            'count.example',
            1,
            ['x', 'y'].map((name) => ({
              ...shared(name, '4Gi'),
              consumesCounters: [{ counterSet: 'card', counters: { m: { value: '5' } } }],
            })),
            { pool: { name: 'pool', generation: 1, resourceSliceCount: 2 } },
          ),
        ],
      },
      make(claim('c', [asks('count.example', part('1Gi'))]), pod('a', uses('c'))),
      make(claim('d', [asks('count.example', part('2Gi'))]), pod('b', uses('d'))),
      make(claim('e', [asks('count.example', part('2Gi'))]), pod('c', uses('e'))),
      [remove('a'), remove('b')],
    ],
  },
  {
    name: 'a class for devices that are shared',
    comparesNodes: true,
    steps: [
      {
        createGlobal: [
          deviceClass('kind.example', {
            selectors: [
              { cel: { expression: 'device.driver == "kind.example" && device.allowMultipleAllocations == true' } },
            ],
          }),
          slice('kind.example', 1, [{ name: 'x', ...memory('10Gi') }]),
          slice('kind.example', 2, [shared('x', '10Gi')]),
        ],
      },
      make(claim('c', [asks('kind.example', part('4Gi'))]), pod('a', uses('c'))),
    ],
  },
]

const AWAITED = { bindsToNode: true, bindingConditions: ['attached'], bindingFailureConditions: ['broken'] }
const tells = (driver: string, type: string): Action => ({
  patch: 'resource.k8s.io/v1/resourceclaims/c/status',
  with: {
    status: {
      devices: [
        {
          driver,
          pool: 'pool-1',
          device: 'x',
          conditions: [
            { type, status: 'True', reason: 'Driver', message: 'so it is', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      ],
    },
  },
})
/** kube-scheduler looks at conditions each five seconds. */
const quietSeconds = 12
const conditional: Scenario[] = [
  {
    name: 'a device whose driver has to be waited for',
    quietSeconds,
    steps: [
      [
        supply('bind.example', slice('bind.example', 1, [{ name: 'x', ...AWAITED }])),
        make(claim('c', [asks('bind.example')]), pod('a', uses('c'))),
      ],
      tells('bind.example', 'attached'),
      remove('a'),
    ],
  },
  {
    name: 'a device that its driver cannot make ready',
    quietSeconds,
    steps: [
      [
        supply('broken.example', slice('broken.example', 1, [{ name: 'x', ...AWAITED }])),
        make(claim('c', [asks('broken.example')]), pod('a', uses('c'))),
      ],
      tells('broken.example', 'broken'),
      tells('broken.example', 'attached'),
    ],
  },
]

const limits = (resource: string, count: number) => ({ resources: { limits: { [resource]: String(count) } } })
const needs = (resource: string, count: number): PodOptions => ({ container: limits(resource, count) })
const extended: Scenario[] = [
  {
    name: 'an extended resource that a class stands for',
    comparesNodes: true,
    steps: [
      {
        createGlobal: [
          deviceClass('ext.example', { extendedResourceName: 'ext.example/gpu' }),
          slice('ext.example', 2, [{ name: 'x' }, { name: 'y' }]),
        ],
      },
      make(pod('a', needs('ext.example/gpu', 2))),
      make(pod('b', needs('ext.example/gpu', 1))),
      remove('a'),
    ],
  },
  {
    name: 'an extended resource whose containers run one after the other',
    comparesNodes: true,
    steps: [
      {
        createGlobal: [
          deviceClass('turns.example', { extendedResourceName: 'turns.example/gpu' }),
          slice(
            'turns.example',
            3,
            ['v', 'w', 'x', 'y', 'z'].map((name) => ({ name })),
          ),
        ],
      },
      make(
        pod('a', {
          container: limits('turns.example/gpu', 1),
          spec: {
            initContainers: [
              { name: 'first', image: 'busybox', command: ['true'], ...limits('turns.example/gpu', 2) },
              { name: 'beside', image: 'busybox', restartPolicy: 'Always', ...limits('turns.example/gpu', 1) },
              { name: 'second', image: 'busybox', command: ['true'], ...limits('turns.example/gpu', 3) },
            ],
          },
        }),
      ),
    ],
  },
  {
    name: 'an extended resource by the name of its class, which comes later',
    steps: [
      make(pod('a', needs('deviceclass.resource.kubernetes.io/named.example', 1))),
      { createGlobal: [deviceClass('named.example')] },
      { createGlobal: [slice('named.example', 2, [{ name: 'x' }])] },
    ],
  },
  {
    name: 'an extended resource of a pod that is over',
    steps: [
      {
        createGlobal: [
          deviceClass('over.example', { extendedResourceName: 'over.example/gpu' }),
          slice('over.example', 2, [{ name: 'x' }]),
        ],
      },
      make(
        pod('a', {
          container: { command: ['true'], ...limits('over.example/gpu', 1) },
          spec: { restartPolicy: 'Never' },
        }),
      ),
      make(pod('b', needs('over.example/gpu', 1))),
    ],
  },
  {
    name: 'an extended resource that nodes have themselves, and a class stands for',
    steps: [
      {
        createGlobal: [
          deviceClass('own.example', { extendedResourceName: device(39) }),
          slice('own.example', 2, [{ name: 'x' }]),
        ],
      },
      make(pod('a', needs(device(39), 3))),
    ],
  },
  {
    name: 'an extended resource beside a claim',
    comparesNodes: true,
    steps: [
      {
        createGlobal: [
          deviceClass('mixed.example', { extendedResourceName: 'mixed.example/gpu' }),
          slice('mixed.example', 3, [{ name: 'x' }, { name: 'y' }]),
        ],
      },
      make(claim('c', [asks('mixed.example')]), pod('a', { ...uses('c'), container: limits('mixed.example/gpu', 1) })),
    ],
  },
  {
    name: 'an extended resource that no node and no class has',
    steps: [make(pod('a', needs('nobody.example/gpu', 1)))],
  },
]

export const devices: readonly Scenario[] = [...exclusive, ...consumable, ...conditional, ...extended]
