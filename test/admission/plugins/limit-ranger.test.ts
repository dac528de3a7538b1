import { describe, expect, test } from 'vitest'
import { limitRanger } from '../../../src/admission/plugins/limit-ranger.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const limits = (item: object) =>
  serverWith({ limitranges: [{ metadata: { name: 'l', namespace: 'blue' }, spec: { limits: [item] } } as never] })
const container = (resources: object) => ({ name: 'c', resources })
const pod = (...containers: object[]) => ({ metadata: { name: 'p' }, spec: { containers } }) as never
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`

describe('a container that asks for nothing', () => {
  test('gets what the namespace gives, and an annotation says so', async () => {
    const item = { type: 'Container', default: { cpu: '1', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }
    const object = pod(container({}), container({ limits: { cpu: '2' } }))
    expect(await outcomeOf(limitRanger, await limits(item), { at: 'pods', object })).toEqual({
      metadata: {
        name: 'p',
        annotations: {
          'kubernetes.io/limit-ranger':
            'LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; ' +
            'cpu request for container c; memory limit for container c',
        },
      },
      spec: {
        containers: [
          container({ requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } }),
          container({ requests: { cpu: '100m' }, limits: { cpu: '2', memory: '1Gi' } }),
        ],
      },
    })
  })

  test('gets nothing where limits are of another namespace, or of pods', async () => {
    const item = { type: 'Container', default: { cpu: '1' } }
    const asked = { at: 'pods', object: pod(container({})) }
    expect(await outcomeOf(limitRanger, await limits(item), { ...asked, namespace: 'red' })).toEqual(asked.object)
    expect(await outcomeOf(limitRanger, await limits({ ...item, type: 'Pod' }), asked)).toEqual(asked.object)
  })
})

describe('bounds', () => {
  const cpu = (requests?: string, most?: string) =>
    container({ ...(requests && { requests: { cpu: requests } }), ...(most && { limits: { cpu: most } }) })
  test.each<[string, object, object[], string]>([
    ['within', { type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } }, [cpu('100m', '1')], 'taken'],
    [
      'a request below the minimum',
      { type: 'Container', min: { cpu: '100m' } },
      [cpu('50m')],
      refused('minimum cpu usage per Container is 100m, but request is 50m'),
    ],
    [
      'no request',
      { type: 'Container', min: { cpu: '100m' } },
      [cpu()],
      refused('minimum cpu usage per Container is 100m.  No request is specified'),
    ],
    [
      'a limit above the maximum',
      { type: 'Container', max: { cpu: '1' } },
      [cpu('1', '1500m')],
      refused('maximum cpu usage per Container is 1, but limit is 1500m'),
    ],
    [
      'no limit',
      { type: 'Container', max: { cpu: '1' } },
      [cpu('1')],
      refused('maximum cpu usage per Container is 1.  No limit is specified'),
    ],
    [
      'too far between both',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      [cpu('100m', '300m')],
      refused('cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000'),
    ],
    [
      'all containers together, within',
      { type: 'Pod', max: { cpu: '1' } },
      [cpu('500m', '500m'), cpu('500m', '500m')],
      'taken',
    ],
    [
      'all containers together, above',
      { type: 'Pod', max: { cpu: '1' } },
      [cpu('500m', '500m'), cpu('600m', '600m')],
      refused('maximum cpu usage per Pod is 1, but limit is 1100m'),
    ],
    [
      'two problems',
      { type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } },
      [cpu('50m', '2')],
      refused(
        '[minimum cpu usage per Container is 100m, but request is 50m, maximum cpu usage per Container is 1, but limit is 2]',
      ),
    ],
  ])('%s', async (_what, item, containers, expected) => {
    const outcome = await outcomeOf(limitRanger, await limits(item), { at: 'pods', object: pod(...containers) })
    expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
  })

  test('a problem of several containers is told once', async () => {
    const item = { type: 'Container', max: { cpu: '1' } }
    const object = pod(cpu('1', '2'), cpu('1', '2'))
    expect(await outcomeOf(limitRanger, await limits(item), { at: 'pods', object })).toBe(
      refused('maximum cpu usage per Container is 1, but limit is 2'),
    )
  })

  const init = (requests: string) => ({ ...cpu(requests), name: 'i' })
  const sidecar = (requests: string) => ({ ...init(requests), restartPolicy: 'Always' })
  test.each<[string, object[], string]>([
    ['an init container before a sidecar', [init('500m'), sidecar('100m')], '500m'],
    ['a sidecar before an init container', [sidecar('100m'), init('500m')], '600m'],
    ['sidecars beside the containers', [sidecar('100m'), sidecar('100m')], '300m'],
    ['small init containers', [init('50m'), init('60m')], '100m'],
  ])('of a pod with %s', async (_what, initContainers, total) => {
    const spec = { containers: [cpu('100m')], initContainers }
    const object = { metadata: { name: 'p' }, spec } as never
    const server = await limits({ type: 'Pod', min: { cpu: '2' } })
    expect(await outcomeOf(limitRanger, server, { at: 'pods', object })).toBe(
      refused(`minimum cpu usage per Pod is 2, but request is ${total}`),
    )
  })

  test('of a pod that has resources of its own: of these only cpu and memory count', async () => {
    const huge = 'hugepages-2Mi'
    const resources = { requests: { cpu: '1', [huge]: '4Mi' } }
    const spec = { resources, containers: [container({ requests: { cpu: '3', [huge]: '2Mi' } })] }
    const object = { metadata: { name: 'p' }, spec } as never
    const server = await limits({ type: 'Pod', min: { cpu: '2', [huge]: '3Mi' } })
    expect(await outcomeOf(limitRanger, server, { at: 'pods', object })).toBe(
      refused(
        '[minimum cpu usage per Pod is 2, but request is 1, minimum hugepages-2Mi usage per Pod is 3Mi, but request is 2Mi]',
      ),
    )
  })

  test('of claims, also when they change', async () => {
    const server = await limits({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } })
    const write = (storage: string, operation: 'CREATE' | 'UPDATE') =>
      outcomeOf(limitRanger, server, {
        at: 'persistentvolumeclaims',
        operation,
        object: { metadata: { name: 'c' }, spec: { resources: { requests: { storage } } } },
      })
    const why =
      'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'
    for (const operation of ['CREATE', 'UPDATE'] as const) {
      expect(await write('3Gi', operation)).toBe(`403 ${why}`)
      expect(await write('1Gi', operation)).toHaveProperty('spec')
    }
  })
})

test('an object in deletion is not checked', async () => {
  const server = await limits({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' } })
  const oldObject = { metadata: { name: 'c', deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const asked = { at: 'persistentvolumeclaims', operation: 'UPDATE', object: { metadata: { name: 'c' } } } as const
  expect(await outcomeOf(limitRanger, server, { ...asked, oldObject })).toEqual(asked.object)
})

test.each([
  ['UPDATE', 'pods'],
  ['CREATE', 'pods/binding'],
  ['DELETE', 'persistentvolumeclaims'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(limitRanger, await serverWith({}), { operation, at, object: {} })).toBe('not asked')
})
