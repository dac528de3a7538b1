// Further requests that yield to others while they work on something large.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'

let server: CountedServer

beforeAll(async () => {
  server = await countedServer()
  await putPolicies()
}, 120_000)
afterAll(() => server.restore())

const times = <Of>(n: number, one: (at: number) => Of): Of[] => Array.from({ length: n }, (_, at) => one(at))
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Mutating policies, each about the objects whose label has its name. */
const mutations = {
  patching: {
    patchType: 'JSONPatch',
    jsonPatch: { expression: "[JSONPatch{op: 'add', path: '/metadata/labels/mutated', value: 'yes'}]" },
  },
  applying: {
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}" },
  },
}

async function putPolicies(): Promise<void> {
  const group = 'admissionregistration.k8s.io'
  for (const [name, mutation] of Object.entries(mutations)) {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
    await server.put(group, 'mutatingadmissionpolicies', {
      apiVersion: `${group}/v1`,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: { matchLabels: { by: name } },
          resourceRules: [rule],
        },
        mutations: [mutation],
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
      },
    })
    await server.put(group, 'mutatingadmissionpolicybindings', {
      apiVersion: `${group}/v1`,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name },
    })
  }
}

const mutatedBy = (policy: keyof typeof mutations): Case => ({
  what: `${policy} by a mutating policy`,
  call: (n, name) => ({
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { by: policy } },
      data: Object.fromEntries(times(n, (at) => [`k${at}`, 'v'.repeat(80)])),
    }),
  }),
})

interface Case {
  readonly what: string
  readonly prepare?: (n: number, name: string) => Promise<void>
  readonly call: (n: number, name: string) => Parameters<CountedServer['longestStep']>[0]
}

const cases: readonly Case[] = [
  mutatedBy('patching'),
  mutatedBy('applying'),
  {
    what: 'a delete that leaves an object with finalizers',
    prepare: async (n, name) =>
      server.put('', 'configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', uid: 'u', finalizers: ['example.com/a'] },
        data: Object.fromEntries(times(n, (at) => [`k${at}`, 'v'])),
      }),
    call: (_, name) => ({ method: 'DELETE', path: `/api/v1/namespaces/default/configmaps/${name}` }),
  },
  {
    what: 'a definition with a long default',
    call: (n, name) => ({
      method: 'POST',
      path: DEFINITIONS,
      body: JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${name}s.example.com` },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural: `${name}s`, singular: name, kind: name.toUpperCase() },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: {
                  type: 'object',
                  properties: { a: { type: 'array', items: { type: 'integer' }, default: times(n, (at) => at) } },
                },
              },
            },
          ],
        },
      }),
    }),
  },
]

const FEW = 1_000
/** The most work for each part of the longest step: a wide map is copied and counted by its members. */
const MOST = 20

let names = 0

test.each(cases)('$what', { timeout: 120_000 }, async ({ what, prepare, call }) => {
  const works: number[] = []
  // the first request fills caches and does not count
  for (const n of [FEW, FEW, 4 * FEW]) {
    const name = `c${++names}`
    await prepare?.(n, name)
    const step = await server.longestStep(call(n, name))
    expect(step.status, step.text).toBeOneOf([200, 201])
    if (what.includes('policy')) expect(step.text).toContain('"mutated":"yes"')
    expect(step.lost, 'made anew in each part').toEqual([])
    works.push(step.work)
  }
  const [, few, many] = works as [number, number, number] // one for each size
  expect((many - few) / (3 * FEW), 'for each part').toBeLessThan(MOST)
})
