import { expect, test } from 'vitest'
import fc from '../chance.ts'
import type { PolicyRule } from '../../src/api/rbac/v1.ts'
import { ruleAllows } from '../../src/authorization/policy-rule.ts'
import { atOnce, inTurns } from '../../src/base/slices.ts'
import { missingRules as stepsToMissing } from '../../src/authorization/rule-coverage.ts'

const missingRules = (...rules: Parameters<typeof stepsToMissing>) => atOnce(stepsToMissing(...rules))

const rule = (resources: string[], verbs: string[], rest: PolicyRule = {}): PolicyRule => ({
  apiGroups: [''],
  resources,
  verbs,
  ...rest,
})

test.each<[string, PolicyRule[], PolicyRule[], string[]]>([
  [
    'nothing held',
    [],
    [rule(['pods'], ['get', 'list'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'],
  ],
  [
    'one verb of two',
    [rule(['pods'], ['get'])],
    [rule(['pods'], ['get', 'list'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ],
  ['all verbs', [rule(['pods'], ['*'])], [rule(['pods'], ['get', 'x'])], []],
  [
    'every verb is not all verbs',
    [rule(['pods'], ['get', 'list'])],
    [rule(['pods'], ['*'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    'a resource is not its subresources',
    [rule(['pods'], ['*'])],
    [rule(['pods/log'], ['get'])],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  ['subresources of all', [rule(['*/log'], ['get'])], [rule(['pods/log'], ['get'])], []],
  [
    'names of names',
    [rule(['pods'], ['get'], { resourceNames: ['a', 'b'] })],
    [rule(['pods'], ['get'], { resourceNames: ['b'] })],
    [],
  ],
  [
    'all names of names',
    [rule(['pods'], ['get'], { resourceNames: ['a'] })],
    [rule(['pods'], ['get'])],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'paths',
    [{ nonResourceURLs: ['/a/*'], verbs: ['get'] }],
    [{ nonResourceURLs: ['/a/b', '/c'], verbs: ['get'] }],
    ['{NonResourceURLs:["/c"], Verbs:["get"]}'],
  ],
  [
    'resources apart, in order',
    [],
    [rule(['pods', 'deployments'], ['get'], { apiGroups: ['', 'apps'] })],
    [
      '{APIGroups:[""], Resources:["deployments"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["pods"], Verbs:["get"]}',
    ],
  ],
])('%s', (_, held, granted, missing) => {
  expect(missingRules(held, granted)).toEqual(missing)
})

const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 })
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', '*'),
    verbs: some('get', 'list', '*'),
    resourceNames: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
  }),
  fc.record({ nonResourceURLs: some('/a', '/a/b', '/a/*', '*'), verbs: some('get', '*') }),
)
const anyRequest = fc.oneof(
  fc.record({
    isResourceRequest: fc.constant(true),
    verb: fc.constantFrom('get', 'list', 'watch'),
    apiGroup: fc.constantFrom('', 'apps', 'batch'),
    resource: fc.constantFrom('pods', 'nodes'),
    subresource: fc.constantFrom('', 'log', 'status'),
    name: fc.constantFrom('', 'a', 'c'),
    path: fc.constant(''),
  }),
  fc.record({
    isResourceRequest: fc.constant(false),
    verb: fc.constantFrom('get', 'post'),
    apiGroup: fc.constant(''),
    resource: fc.constant(''),
    subresource: fc.constant(''),
    name: fc.constant(''),
    path: fc.constantFrom('/a', '/a/b', '/c'),
  }),
)

test('granting only held rights gives nobody more', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, anyRequest, (held, granted, request) => {
      const asked = { ...request, apiVersion: 'v1', namespace: '', fields: [], labelSelector: '' }
      fc.pre(missingRules(held, [granted]).length === 0 && ruleAllows(granted, asked))
      return held.some((one) => ruleAllows(one, asked))
    }),
    { numRuns: 300, maxSkipsPerRun: 10_000 },
  )
})

test('a Role with more combinations than can be compared is refused, not taken', () => {
  const many = (letter: string) => Array.from({ length: 1_000 }, (_, at) => `${letter}${at}`)
  const granted = [{ apiGroups: [''], resources: many('r'), verbs: many('v') }]
  expect(() => missingRules([], granted)).toThrow(/too many combinations of verbs and resources/)
  expect(missingRules([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], granted)).toEqual([])
})

test('a comparison of thousands of rules lets others have their turn, and finds the same', async () => {
  const rules = Array.from({ length: 1_000 }, (_, at) => rule([`things${at}`], ['get', 'list']))
  const held = rules.slice(500)
  let turns = 0
  const missing = await inTurns(stepsToMissing(held, rules), async () => void turns++)
  expect(turns).toBeGreaterThan(20)
  expect(missing).toEqual(missingRules(held, rules))
  expect(missing).toHaveLength(500)
})

test('a few rules are compared at once', async () => {
  let turns = 0
  await inTurns(stepsToMissing([rule(['pods'], ['*'])], [rule(['pods'], ['get'])]), async () => void turns++)
  expect(turns).toBe(0)
})
