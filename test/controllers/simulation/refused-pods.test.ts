/** What the API refuses of one simulated pod holds no other pod back. */
import { beforeEach, expect, test, vi } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'

const PODS = { group: '', resource: 'pods' }
/** The most bytes of an object. */
const LARGEST = 1.5 * 1024 * 1024

let simulated: SimulatedPlane
let plane: ControlPlaneInMemory

beforeEach(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  simulated = await SimulatedPlane.start('n')
  ;({ plane } = simulated)
})

/** A pod that fits, but not with its status. */
async function largePod(name: string): Promise<void> {
  const containers = Array.from({ length: 40 }, (_, at) => ({ name: `c-${at}`, image: 'i' }))
  const make = (value: string) =>
    plane.create(PODS, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'A', value }] }, ...containers] },
    })
  for (let spare = 2_000; ; spare += 2_000)
    try {
      return void (await make('x'.repeat(LARGEST - spare)))
    } catch (error) {
      if (spare > 40_000) throw error
    }
}

const phase = async (name: string) =>
  ((await plane.get(PODS, 'default', name)) as Pod | undefined)?.status?.phase ?? 'Pending'

test('a pod whose status is too large is tried less and less often, and other pods start and end in time', async () => {
  await largePod('large')
  await plane.create(PODS, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'small', namespace: 'default', annotations: { 'kedge.dev/duration': '30s' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  })
  await plane.settle()
  expect([await phase('large'), await phase('small')]).toEqual(['Pending', 'Running'])
  await simulated.settled(31)
  expect([await phase('large'), await phase('small')]).toEqual(['Pending', 'Succeeded'])
  plane.tried.length = 0
  for (let minute = 0; minute < 60; minute++) await plane.pass(60_000)
  expect(plane.tried.filter((controller) => controller === 'simulated-pods').length).toBeLessThan(20)
  for (let minute = 0; minute < 120; minute++) await plane.pass(60_000)
  expect(plane.waiting.filter((work) => work.startsWith('simulated-pods'))).toEqual([])
})
