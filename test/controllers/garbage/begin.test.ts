import { describe, expect, test } from 'vitest'
import { CONFIG_MAPS, ControlPlaneInMemory, ownedBy } from '../control-plane.ts'
import { definition, DEFINITIONS, widget, WIDGETS } from './widgets.ts'

async function switchedOff() {
  const plane = new ControlPlaneInMemory({
    KEDGE_WORKLOADS: 'off',
    KEDGE_CONTROLLERS: '*,-garbage-collector-controller',
  })
  await plane.context() // its first use writes what a new control plane has
  await plane.settle()
  return plane
}

async function switchOn(plane: ControlPlaneInMemory) {
  Object.assign(plane.server, { env: { ...plane.server.env, KEDGE_CONTROLLERS: '*' } })
  plane.add('collection-begin', '', 0)
  await plane.settle()
}

type Story = (plane: ControlPlaneInMemory) => Promise<void>

const stories: readonly (readonly [what: string, story: Story, left: readonly string[], later: readonly string[]])[] = [
  [
    'the dependents of an owner that is deleted',
    async (plane) => {
      await plane.configMap('dependent', [ownedBy(await plane.configMap('owner'))])
      await plane.delete(CONFIG_MAPS, 'default', 'owner')
    },
    ['dependent'],
    [],
  ],
  [
    'an object whose owner never was',
    async (plane) => {
      await plane.configMap('dependent', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: 'u1' }])
    },
    ['dependent'],
    [],
  ],
  [
    'an owner in foreground deletion',
    async (plane) => {
      const owner = await plane.configMap('owner')
      await plane.configMap('dependent', [ownedBy(owner, { blockOwnerDeletion: true })])
      await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy: 'Foreground' })
    },
    ['dependent', 'owner'],
    [],
  ],
  [
    'an owner that orphans its dependents',
    async (plane) => {
      await plane.configMap('dependent', [ownedBy(await plane.configMap('owner'))])
      await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy: 'Orphan' })
    },
    ['dependent', 'owner'],
    ['dependent'],
  ],
  [
    'an object whose owner stays',
    async (plane) => {
      await plane.configMap('dependent', [ownedBy(await plane.configMap('owner'))])
    },
    ['dependent', 'owner'],
    ['dependent', 'owner'],
  ],
]

describe('while the garbage collector is switched off it touches nothing, and later it judges', () => {
  test.each(stories)('%s', async (_, story, left, later) => {
    const plane = await switchedOff()
    await story(plane)
    await plane.settle()
    expect([await plane.names(CONFIG_MAPS, 'default'), plane.waiting]).toEqual([left, []])
    await switchOn(plane)
    expect([await plane.names(CONFIG_MAPS, 'default'), plane.waiting]).toEqual([later, []])
  })
})

test('owners of a kind that came while the collector was off are known when it begins', async () => {
  const plane = await switchedOff()
  await plane.create(DEFINITIONS, definition())
  await plane.settle()
  const owner = await plane.configMap('owner')
  await plane.create(WIDGETS, widget('dependent', [ownedBy(owner)]))
  await plane.settle()
  const { forgetDependents } = await plane.context()
  forgetDependents(WIDGETS)
  await switchOn(plane)
  await plane.delete(CONFIG_MAPS, 'default', 'owner')
  await plane.settle()
  expect(await plane.names(WIDGETS, 'default')).toEqual([])
})
