import { describe, expect, test } from 'vitest'
import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '../../../../src/api/autoscaling/v2.ts'
import { normalized } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/behavior.ts'
import type { AutoscalerHistory } from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/history.ts'
import {
  begun,
  paused,
  readHistory,
  recommendationsAfter,
  recommended,
  scaled,
  untilForgotten,
} from '../../../../src/controllers/workloads/horizontal-pod-autoscaler/history.ts'

const NOW = 10_000_000
const nothing: AutoscalerHistory = { uid: 'a', recommendations: [], ups: [], downs: [] }
const before = (seconds: number) => NOW - seconds * 1000
const over = (replicas: number, seconds: number) => ({ replicas, since: before(seconds + 60), until: before(seconds) })

const rules = (more: HPAScalingRules = {}): HPAScalingRules => ({
  selectPolicy: 'Max',
  stabilizationWindowSeconds: 0,
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  ...more,
})
const pods = (value: number, periodSeconds: number) => ({ type: 'Pods', value, periodSeconds })
const percent = (value: number, periodSeconds: number) => ({ type: 'Percent', value, periodSeconds })

type Case = readonly [
  current: number,
  desired: number,
  behavior: HorizontalPodAutoscalerBehavior | undefined,
  history: Partial<AutoscalerHistory>,
  expected: string,
]

describe('an autoscaler between 2 and 20', () => {
  test.each<Case>([
    [4, 6, undefined, {}, '6 ReadyForNewScale DesiredWithinRange'],
    [4, 15, undefined, {}, '8 ReadyForNewScale ScaleUpLimit'],
    [1, 15, undefined, {}, '4 ReadyForNewScale ScaleUpLimit'],
    [15, 25, undefined, {}, '20 ReadyForNewScale TooManyReplicas'],
    [4, 1, undefined, {}, '2 ReadyForNewScale TooFewReplicas'],
    [4, 2, undefined, { recommendations: [over(4, 200)] }, '4 ScaleDownStabilized DesiredWithinRange'],
    [4, 2, undefined, { recommendations: [over(4, 301)] }, '2 ReadyForNewScale DesiredWithinRange'],
    [4, 2, undefined, { recommendations: [{ replicas: 3, since: 0 }] }, '3 ScaleDownStabilized DesiredWithinRange'],
    // what it may add and take away
    [4, 15, { scaleUp: rules(), scaleDown: rules() }, {}, '8 ReadyForNewScale ScaleUpLimit'],
    [4, 15, { scaleUp: rules({ policies: [pods(2, 60)] }), scaleDown: rules() }, {}, '6 ReadyForNewScale ScaleUpLimit'],
    [
      4,
      15,
      { scaleUp: rules({ policies: [pods(2, 60), percent(10, 60)], selectPolicy: 'Min' }), scaleDown: rules() },
      {},
      '5 ReadyForNewScale ScaleUpLimit',
    ],
    [
      4,
      15,
      { scaleUp: rules({ selectPolicy: 'Disabled' }), scaleDown: rules() },
      {},
      '4 ReadyForNewScale ScaleUpLimit',
    ],
    [15, 25, { scaleUp: rules(), scaleDown: rules() }, {}, '20 ReadyForNewScale TooManyReplicas'],
    [
      10,
      2,
      { scaleUp: rules(), scaleDown: rules({ policies: [pods(3, 60)] }) },
      {},
      '7 ReadyForNewScale ScaleDownLimit',
    ],
    [
      10,
      2,
      { scaleUp: rules(), scaleDown: rules({ policies: [percent(25, 60)] }) },
      {},
      '7 ReadyForNewScale ScaleDownLimit',
    ],
    [
      10,
      2,
      { scaleUp: rules(), scaleDown: rules({ policies: [pods(1, 60), percent(50, 60)], selectPolicy: 'Min' }) },
      {},
      '9 ReadyForNewScale ScaleDownLimit',
    ],
    [10, 1, { scaleUp: rules(), scaleDown: rules() }, {}, '2 ReadyForNewScale TooFewReplicas'],
    // what it did within the period counts
    [
      6,
      15,
      { scaleUp: rules({ policies: [pods(4, 60)] }), scaleDown: rules() },
      {
        ups: [
          { change: 2, time: before(30) },
          { change: 9, time: before(61) },
        ],
      },
      '8 ReadyForNewScale ScaleUpLimit',
    ],
    [
      6,
      15,
      { scaleUp: rules({ policies: [pods(4, 60)] }), scaleDown: rules() },
      { ups: [{ change: 4, time: before(30) }] },
      '6 ReadyForNewScale ScaleUpLimit',
    ],
    [
      6,
      15,
      { scaleUp: rules({ policies: [pods(2, 60)] }), scaleDown: rules() },
      { downs: [{ change: 3, time: before(30) }] },
      '11 ReadyForNewScale ScaleUpLimit',
    ],
    // windows
    [
      4,
      9,
      { scaleUp: rules({ stabilizationWindowSeconds: 60 }), scaleDown: rules() },
      { recommendations: [over(5, 30)] },
      '5 ScaleUpStabilized DesiredWithinRange',
    ],
    [
      4,
      9,
      { scaleUp: rules({ stabilizationWindowSeconds: 60 }), scaleDown: rules() },
      { recommendations: [over(5, 61)] },
      '8 ReadyForNewScale ScaleUpLimit',
    ],
    [
      9,
      4,
      { scaleUp: rules(), scaleDown: rules({ stabilizationWindowSeconds: 120 }) },
      { recommendations: [over(7, 90)] },
      '7 ScaleDownStabilized DesiredWithinRange',
    ],
    [
      9,
      4,
      { scaleUp: rules(), scaleDown: rules() },
      { recommendations: [over(7, 1)] },
      '4 ReadyForNewScale DesiredWithinRange',
    ],
  ])('of %i wants %i with %j after %j', (current, desired, behavior, history, expected) => {
    const wish = { current, desired, min: 2, max: 20, now: NOW }
    const { replicas, able, limit } = normalized(wish, behavior, { ...nothing, ...history })
    expect(`${replicas} ${able.reason} ${limit.reason}`).toBe(expected)
    expect(limit.isLimited).toBe(limit.reason !== 'DesiredWithinRange')
  })
})

describe('what it recommended', () => {
  test('is remembered as times of one number', () => {
    let history = begun(nothing, 3, 0)
    for (let now = 0; now < 300_000; now += 15_000) history = recommended(history, 3, now, 300_000)
    expect(history.recommendations).toEqual([{ replicas: 3, since: 0 }])
    history = recommended(history, 5, 300_000, 300_000)
    expect(history.recommendations).toEqual([
      { replicas: 3, since: 0, until: 285_000 },
      { replicas: 5, since: 300_000 },
    ])
    expect(recommendationsAfter(history, 284_999, 300_000)).toEqual([3, 5])
    expect(recommendationsAfter(history, 285_000, 300_000)).toEqual([5])
    expect(untilForgotten(history, 300_000, 300_000)).toBe(285_000)
    expect(untilForgotten(history, 300_000, 585_000)).toBeUndefined()
  })

  test('is the same value while it goes on, so that nothing is written', () => {
    const history = recommended(nothing, 3, 0, 300_000)
    expect(recommended(history, 3, 15_000, 300_000)).toBe(history)
  })

  test('ends where it recommends nothing', () => {
    const history = paused(recommended(nothing, 3, 0, 300_000), 60_000)
    expect(recommendationsAfter(history, 0, 10_000_000)).toEqual([3])
    expect(recommendationsAfter(history, 45_000, 10_000_000)).toEqual([])
    expect(paused(history, 90_000)).toBe(history)
  })

  test('is bounded by the longest window, and what it did by the longest period', () => {
    let history = nothing
    for (let look = 0; look < 1000; look++) {
      const now = look * 15_000
      history = recommended(history, look % 7, now, 3_600_000)
      history = scaled(history, look % 7, (look + 1) % 7, now, [{ periodSeconds: 1800 }])
    }
    expect(history.recommendations.length).toBeLessThanOrEqual(3600 / 15 + 2)
    expect(history.ups.length + history.downs.length).toBeLessThanOrEqual(2 * (1800 / 15 + 2))
  })

  test.each([undefined, '{}', '{"uid":"b","recommendations":[{"replicas":3,"since":0}],"ups":[],"downs":[]}'])(
    'is nothing for another one of its name: %s',
    (text) => expect(readHistory(text, 'a')).toEqual(nothing),
  )
})
