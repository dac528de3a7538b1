import { expect, test } from 'vitest'
import fc from '../chance.ts'
import type * as CoreV1 from '../../src/api/core/v1.ts'
import { aggregatedResources } from '../../src/schema/pod-resource-defaults.ts'

type Amounts = Record<string, number>

/**
 * KEP-753: an init container runs beside the sidecars that started before it; the containers run beside all sidecars.
 */
function needed(containers: readonly Amounts[], inits: readonly { amounts: Amounts; isSidecar: boolean }[]): Amounts {
  const sum = (all: readonly Amounts[], name: string) => all.reduce((total, one) => total + (one[name] ?? 0), 0)
  const names = new Set([...containers, ...inits.map(({ amounts }) => amounts)].flatMap((one) => Object.keys(one)))
  const sidecars = inits.filter(({ isSidecar }) => isSidecar).map(({ amounts }) => amounts)
  const most = (name: string) => {
    const starting = inits.map(({ amounts }, at) => {
      const before = inits.slice(0, at).filter(({ isSidecar }) => isSidecar)
      return sum([...before.map((one) => one.amounts), amounts], name)
    })
    return Math.max(sum([...containers, ...sidecars], name), ...starting)
  }
  return Object.fromEntries([...names].map((name) => [name, most(name)]))
}

const amounts = fc.dictionary(fc.constantFrom('cpu', 'memory', 'hugepages-2Mi'), fc.nat(9))

test('the most that the containers of a pod need together', () => {
  const inits = fc.array(fc.record({ amounts, isSidecar: fc.boolean() }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.array(amounts, { maxLength: 3 }), inits, (containers, inits) => {
      const container = (of: Amounts): CoreV1.Container => ({
        name: 'a',
        resources: { requests: Object.fromEntries(Object.entries(of).map(([name, amount]) => [name, String(amount)])) },
      })
      const spec: CoreV1.PodSpec = {
        containers: containers.map(container),
        initContainers: inits.map(({ amounts, isSidecar }) => ({
          ...container(amounts),
          ...(isSidecar ? { restartPolicy: 'Always' } : {}),
        })),
      }
      const found = [...aggregatedResources(spec, 'requests')].map(([name, total]) => [name, Number(total.toString())])
      expect(Object.fromEntries(found)).toEqual(needed(containers, inits))
    }),
  )
})
