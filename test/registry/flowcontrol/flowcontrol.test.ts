import { expect, test } from 'vitest'
import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from '../../../src/api/flowcontrol/v1.ts'
import type { FieldError } from '../../../src/api/field.ts'
import { parseFeatureGates } from '../../../src/api/feature-gates.ts'
import { policyObjects } from '../../../src/bootstrap/policy-objects.ts'
import { revised } from '../../../src/controllers/server/flow-defaults.ts'
import { flowSchemas } from '../../../src/registry/flowcontrol/flow-schemas.ts'
import { priorityLevels } from '../../../src/registry/flowcontrol/priority-levels.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const context = {} as StrategyContext
const textOf = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
const ofSchema = (name: string, spec: FlowSchemaSpec) =>
  textOf(flowSchemas.validate!({ metadata: { name }, spec }, context) as FieldError[])
const ofLevel = (name: string, spec: PriorityLevelConfigurationSpec) =>
  textOf(priorityLevels.validate!({ metadata: { name }, spec }, context) as FieldError[])

const level = { name: 'some' }
const rule = (url: string) => ({
  priorityLevelConfiguration: level,
  matchingPrecedence: 10,
  rules: [
    {
      subjects: [{ kind: 'User', user: { name: 'u' } }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }],
    },
  ],
})

test.each([
  ['/', undefined],
  ['/healthz', undefined],
  ['/metrics/*', undefined],
  ['/*', undefined],
  ['', 'must not be empty'],
  ['healthz', 'must start with slash'],
  ['/a b', 'must not contain white-space'],
  ['/a//b', 'must not contain double slash'],
  ['/a*', 'wildcard can only do suffix matching'],
  ['/*/a', 'wildcard can only do suffix matching'],
  ['/*/*', 'wildcard can only do suffix matching'],
])('a path of a flow schema: %j', (url, problem) => {
  const expected = `spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "${url}": ${problem}`
  expect(ofSchema('a', rule(url))).toEqual(problem === undefined ? [] : [expected])
})

test('names of members that every object has are kinds and names like others', () => {
  const spec = { ...rule('/'), rules: [{ ...rule('/').rules[0], subjects: [{ kind: 'constructor' }] }] }
  expect(ofSchema('constructor', spec)).toEqual([
    'spec.rules[0].subjects[0].kind: Unsupported value: "constructor": supported values: "Group", "ServiceAccount", "User"',
  ])
})

test.each([
  [{ queues: 128, handSize: 8, queueLengthLimit: 1 }, []],
  [
    { queues: 128, handSize: 9, queueLengthLimit: 1 },
    ['9: required entropy bits of deckSize 128 and handSize 9 should not be greater than 60'],
  ],
  [{ queues: 4, handSize: 5, queueLengthLimit: 1 }, ['5: should not be greater than queues (4)']],
])('hands that are dealt from queues: %j', (queuing, problems) => {
  const spec = { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } }
  expect(ofLevel('a', spec)).toEqual(
    problems.map((text) => `spec.limited.limitResponse.queuing.handSize: Invalid value: ${text}`),
  )
})

test('the objects of a fresh control plane are valid, and need no revision', async () => {
  for (const { object } of await policyObjects('2026-01-01T00:00:00Z', parseFeatureGates(undefined))) {
    const validate = { FlowSchema: flowSchemas, PriorityLevelConfiguration: priorityLevels }[object.kind ?? '']
      ?.validate
    if (validate === undefined) continue
    expect(validate(object, context), object.metadata.name).toEqual([])
    expect(revised(object, object)).toBeUndefined()
  }
})

test('the mandatory ones stay as they are, except for the shares of the exempt level', () => {
  expect(ofSchema('exempt', { ...rule('/'), matchingPrecedence: 1 })).toHaveLength(1)
  expect(ofLevel('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 7 } })).toEqual([])
})

const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec'
const wanted = {
  kind: 'FlowSchema',
  metadata: { name: 'probes', annotations: { [AUTOUPDATE]: 'true' } },
  spec: { matchingPrecedence: 2 },
}
const other = { matchingPrecedence: 3 }
const live = (generation: number, value?: string) => ({
  kind: 'FlowSchema',
  metadata: { name: 'probes', generation, ...(value === undefined ? {} : { annotations: { [AUTOUPDATE]: value } }) },
  spec: other,
})

test('a suggested object is put right as its annotation says, or while nobody changed it', () => {
  expect(revised(live(2, 'true'), wanted)).toEqual({ spec: wanted.spec })
  expect(revised(live(2, 'false'), wanted)).toBeUndefined()
  const withAnnotation = (value: string) => expect.objectContaining({ annotations: { [AUTOUPDATE]: value } }) as unknown
  expect(revised(live(2), wanted)).toEqual({ metadata: withAnnotation('false') })
  expect(revised(live(2, 'perhaps'), wanted)).toEqual({ metadata: withAnnotation('false') })
  expect(revised(live(1), wanted)).toEqual({ metadata: withAnnotation('true'), spec: wanted.spec })
})
