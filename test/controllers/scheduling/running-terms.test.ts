// The affinity terms of pods on nodes, which replicas share.
import { expect, test, vi } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo, Term } from '../../../src/controllers/scheduling/pod-info.ts'
import { RunningTerms } from '../../../src/controllers/scheduling/running-terms.ts'
import { filtersFor } from './filters-for.ts'

const apart = (app: string) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } })
const replica = (app: string, at: number): Pod => ({
  metadata: { name: `${app}-${at}`, uid: `${app}-${at}`, namespace: 'default', labels: { app } },
  spec: {
    containers: [{ name: 'c' }],
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart(app)] } },
  },
})
const node = (name: string, terms?: RunningTerms) =>
  new NodeState({ metadata: { name, labels: { zone: name } }, status: { allocatable: { pods: '1000' } } }, 0, terms)

test('pods that come and go leave nothing behind', () => {
  const terms = new RunningTerms()
  const [a, b] = [node('a', terms), node('b', terms)]
  const pods = [0, 1, 2].map((at) => new PodInfo(replica('web', at)))
  a.add(pods[0]!)
  a.add(pods[1]!)
  b.add(pods[2]!)
  const known = () => [...terms.all('requiredAntiAffinity')].map(({ on }) => Object.fromEntries(on))
  expect(known()).toEqual([{ a: 2, b: 1 }])
  a.remove(pods[0]!)
  a.remove(pods[0]!)
  b.remove(pods[2]!)
  expect(known()).toEqual([{ a: 1 }])
  a.remove(pods[1]!)
  expect(known()).toEqual([])
})

test('a cycle compares the term of many replicas once, and heeds it for each of them', () => {
  const nodes = ['a', 'b'].map((name) => node(name))
  for (let at = 0; at < 300; at++) nodes[0]!.add(new PodInfo(replica('web', at)))
  const selects = vi.spyOn(Term.prototype, 'selects')
  const newcomer: Pod = {
    metadata: { name: 'p', uid: 'p', namespace: 'default', labels: { app: 'web' } },
    spec: { containers: [{ name: 'c' }] },
  }
  const filters = filtersFor(newcomer, nodes)
  expect(selects).toHaveBeenCalledTimes(1)
  expect(nodes.map((one) => filters.refusalOf(one)?.reasons)).toEqual([
    ["node(s) didn't satisfy existing pods anti-affinity rules"],
    undefined,
  ])
  const replicas = [...nodes[0]!.pods.values()]
  for (const one of replicas.slice(1)) filters.remove(one, nodes[0]!)
  expect(filters.refusalOf(nodes[0]!)).toBeDefined()
  filters.remove(replicas[0]!, nodes[0]!)
  expect(filters.refusalOf(nodes[0]!)).toBeUndefined()
})
