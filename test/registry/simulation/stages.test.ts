import { expect, test } from 'vitest'
import { Budget } from '../../../src/base/budget.ts'
import type { Env } from '../../../src/env.ts'
import { withStageWarnings } from '../../../src/registry/simulation/stage-work.ts'
import { readStage, stageProblems } from '../../../src/registry/simulation/stages.ts'
import type { Strategy, StrategyContext } from '../../../src/registry/strategy.ts'

const OF_NODES = 'spec.resourceRef: only stages of Pods are played: a simulated node is ready, and needs no heartbeats'

const stage = (spec: object) =>
  ({
    kind: 'Stage',
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    metadata: { name: 's' },
    spec: { resourceRef: { apiGroup: 'v1', kind: 'Pod' }, selector: {}, ...spec },
  }) as never

test.each([
  ['another kind', { resourceRef: { kind: 'Service' } }, ['spec.resourceRef: only stages of Pods are played']],
  ['a Node', { resourceRef: { apiGroup: 'v1', kind: 'Node' } }, [OF_NODES]],
  [
    'a Node of another group',
    { resourceRef: { apiGroup: 'v2', kind: 'Node' } },
    ['spec.resourceRef: only stages of Pods are played'],
  ],
  ['no selector', { selector: undefined }, ['spec.selector: a Stage without one is for no object']],
  [
    'an expression of jq that is not there',
    { selector: { matchExpressions: [{ key: 'map(.a)', operator: 'Exists' }] } },
    ['spec.selector.matchExpressions[0].key: "map" is not supported (map(.a))'],
  ],
  [
    'an operator that is none',
    { selector: { matchExpressions: [{ key: '.a', operator: 'Like' }] } },
    ['spec.selector.matchExpressions[0].operator: "Like" is not supported'],
  ],
  [
    'values that are missing',
    { selector: { matchExpressions: [{ key: '.a', operator: 'In' }] } },
    ['spec.selector.matchExpressions[0].values: must not be empty'],
  ],
  [
    'CEL',
    { selector: { matchExpressions: [{ cel: { expression: 'true' } }] }, weightFrom: { cel: {} } },
    [
      'spec.selector.matchExpressions[0].cel: CEL is not supported in stages',
      'spec.selector.matchExpressions[0].operator: "" is not supported',
      'spec.weightFrom.cel: CEL is not supported in stages',
    ],
  ],
  [
    'a function that is not known',
    { next: { statusTemplate: '{{ genCA "x" 1 }}' } },
    ['spec.next.statusTemplate: function "genCA" is not known'],
  ],
  [
    'another user',
    { steps: [{ patch: { template: '', impersonation: { username: 'u' } } }, { apply: {} }] },
    ['spec.steps[0].impersonation: is not supported', 'spec.steps[1].apply: is not supported'],
  ],
  [
    'another subresource and type',
    { next: { patches: [{ subresource: 'scale', type: 'apply', template: '{{ end }}' }] } },
    [
      'spec.next.patches[0].subresource: only status and the pod itself are patched',
      'spec.next.patches[0].type: "apply" is not supported',
      'spec.next.patches[0].template: {{end}} or {{else}} without a beginning',
    ],
  ],
  ['nothing', { delay: { durationMilliseconds: 5 }, next: { delete: true } }, []],
])('a Stage with %s', (_, spec, problems) => {
  expect(stageProblems(stage(spec))).toEqual(problems)
})

const annotated = (text: string) => ({ metadata: { annotations: { at: text } } })
const from = { expressionFrom: '.metadata.annotations.at' }

// milliseconds since 1970
test.each([
  [{}, {}, [0, 0]],
  [{ durationMilliseconds: 5 }, {}, [5, 5]],
  [{ durationMilliseconds: 5, jitterDurationMilliseconds: 9 }, {}, [5, 9]],
  [{ durationMilliseconds: 5, jitterDurationMilliseconds: 2 }, {}, [2, 2]],
  [{ durationMilliseconds: 5, durationFrom: from }, annotated('1m1.5s'), [61_500, 61_500]],
  [{ durationMilliseconds: 5, durationFrom: from }, annotated('soon'), [5, 5]],
  [
    { durationMilliseconds: 5, durationFrom: { jq: { expression: from.expressionFrom } } },
    annotated('2h'),
    [7_200_000, 7_200_000],
  ],
  [{ durationMilliseconds: 1000, jitterDurationFrom: from }, annotated('1970-01-01T00:00:30Z'), [1000, 20_000]],
  [{ durationFrom: from }, annotated('-3s'), [0, 0]],
  [{ durationFrom: from }, annotated('99999h'), [604_800_000, 604_800_000]],
])('the delay of %j for %j', (delay, pod, wanted) => {
  const read = readStage(stage({ delay }))
  expect('stage' in read && read.stage.delay(pod, 10_000, new Budget())).toEqual(wanted)
})

test.each([
  [{}, {}, 0],
  [{ weight: 3 }, {}, 3],
  [{ weight: 3, weightFrom: from }, annotated('7'), 7],
  [{ weight: 3, weightFrom: from }, annotated('much'), undefined],
  [{ weight: 3, weightFrom: from }, {}, 3],
])('the weight of %j for %j', (weight, pod, wanted) => {
  const read = readStage(stage(weight))
  expect('stage' in read && read.stage.weight(pod, new Budget())).toBe(wanted)
})

test.each([
  ['simulated', [`simulated nodes do not play this Stage: ${OF_NODES}`]],
  ['off', []],
])('with workloads %s writers are told what is not played', async (workloads, wanted) => {
  const warnings: string[] = []
  const context = {
    env: { KEDGE_WORKLOADS: workloads } as Env,
    tenant: { uid: 'stages' },
    warn: (text: string) => void warnings.push(text),
  } as unknown as StrategyContext // the strategy reads nothing else
  const strategy = withStageWarnings({} as Strategy)
  expect(await strategy.validate!(stage({ resourceRef: { kind: 'Node' } }), context)).toEqual([])
  expect(await strategy.validateUpdate!(stage({}), stage({}), context)).toEqual([])
  expect(warnings).toEqual(wanted)
})
