// Measures what admission policies and CEL rules add to a create: matching policies, policies that do not match, and a
// custom resource with fifty rules.
import { pause, send, succeed } from './load.ts'
import type { Target } from './load.ts'
import type { Report } from './report.ts'
import { rates } from './requests.ts'
import type { ApiSide } from './side.ts'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const COUNTS = [0, 1, 10, 100]
const RULES = 50
/** Milliseconds after which every isolate knows a new policy, and a new definition is served. */
const SETTLE = 3_000

type Matching = 'that match' | 'that do not'

const meta = (name: string): object => ({ name: `bench-${name}` })

const policy = (n: number, matching: Matching): object => ({
  metadata: meta(String(n)),
  spec: {
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: [matching === 'that match' ? 'configmaps' : 'secrets'],
        },
      ],
    },
    validations: [{ expression: `!has(object.data) || object.data.all(key, key.size() < ${100 + n})` }],
  },
})

const binding = (n: number): object => ({
  metadata: meta(String(n)),
  spec: { policyName: `bench-${n}`, validationActions: ['Deny'] },
})

const policiesOf = (count: number, matching: Matching): { readonly path: string; readonly body: object }[] =>
  Array.from({ length: count }, (_, n) => [
    { path: `${GROUP}/validatingadmissionpolicies`, body: policy(n, matching) },
    { path: `${GROUP}/validatingadmissionpolicybindings`, body: binding(n) },
  ]).flat()

/** Policies with their bindings. Each matches every ConfigMap and allows it. */
export const matchingPolicies = (count: number): { readonly path: string; readonly body: object }[] =>
  policiesOf(count, 'that match')

/** Creates policies. @returns a function that deletes them */
export async function createPolicies(target: Target, count: number, matching: Matching): Promise<() => Promise<void>> {
  for (const { path, body } of policiesOf(count, matching))
    await succeed(target, { method: 'POST', path, body: JSON.stringify(body) })
  await pause(SETTLE)
  return async () => {
    for (let n = 0; n < count; n++)
      for (const resource of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'])
        await succeed(target, { method: 'DELETE', path: `${GROUP}/${resource}/bench-${n}` })
  }
}

async function withPolicies(target: Target, count: number, matching: Matching, work: () => Promise<void>) {
  const remove = await createPolicies(target, count, matching)
  await work()
  await remove()
}

const ruled = (rules: number): object => {
  const fields = Array.from({ length: RULES }, (_, n) => `field${n}`)
  const kind = `Ruled${rules}`
  const plural = kind.toLowerCase()
  return {
    metadata: { name: `${plural}.bench.example.com` },
    spec: {
      group: 'bench.example.com',
      scope: 'Namespaced',
      names: { plural, singular: plural, kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: Object.fromEntries(fields.map((name) => [name, { type: 'string', maxLength: 63 }])),
                  'x-kubernetes-validations': fields
                    .slice(0, rules)
                    .map((name) => ({ rule: `!has(self.${name}) || self.${name}.startsWith("v")` })),
                },
              },
            },
          },
        },
      ],
    },
  }
}

const ruledObject = (kind: string, n: number): string =>
  JSON.stringify({
    apiVersion: 'bench.example.com/v1',
    kind,
    metadata: { name: `r${n}` },
    spec: Object.fromEntries(Array.from({ length: RULES }, (_, field) => [`field${field}`, 'value'])),
  })

export async function measurePolicies(report: Report, sides: readonly ApiSide[], seconds: number): Promise<void> {
  const load = { clients: 16, seconds }
  for (const matching of ['that match', 'that do not'] as const)
    for (const count of matching === 'that match' ? COUNTS : COUNTS.slice(1))
      for (const side of sides)
        await withPolicies(side.target, count, matching, () =>
          rates(report, [side], `create 2 KB, ${count} policies ${matching}`, load, ({ create }, n) =>
            create(`v${count}-${matching.length}-${n}`),
          ),
        )
  for (const rules of [0, RULES]) {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    // it may exist from an earlier run
    for (const { target } of sides) await send(target, { method: 'POST', path, body: JSON.stringify(ruled(rules)) })
    await pause(SETTLE)
    await rates(report, sides, `create custom resource, ${rules} rules`, load, ({ namespace }, n) => ({
      method: 'POST',
      path: `${namespace.replace('/api/v1', '/apis/bench.example.com/v1')}/ruled${rules}`,
      body: ruledObject(`Ruled${rules}`, n),
    }))
  }
}
