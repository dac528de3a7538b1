import { expect, test } from 'vitest'
import { NodeUse, PodUse } from '../../../src/controllers/simulation/node-use.ts'
import { victimsFor } from '../../../src/controllers/simulation/preemption.ts'

const podUse = (cpu: string, priority = 0): PodUse =>
  new PodUse({
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { priority, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
    status: { qosClass: 'Burstable' },
  })

test('all pods of a node with thousands are ended without comparing each with each', () => {
  const others = new NodeUse()
  let looked = 0
  for (let pod = 0; pod < 3_000; pod++) {
    const use = podUse('1m')
    const { needs } = use
    Object.assign(use, {
      needs: { get: (name: string) => (looked++, needs.get(name)), [Symbol.iterator]: () => needs[Symbol.iterator]() },
    })
    others.put(`default/p-${pod}`, use)
  }
  looked = 0
  const victims = victimsFor(podUse('3', 2_000_000_000), [{ resource: 'cpu', missing: 3_000 }], others)
  expect(victims).toHaveLength(3_000)
  expect(new Set(victims).size).toBe(3_000)
  expect(looked).toBeLessThan(2_000_000)
})
