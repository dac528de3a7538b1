import { describe, expect, test } from 'vitest'
import { deviceTaintRules } from '../../../src/registry/resource/device-taint-rules.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'

const context = { now: new Date('2026-01-02T03:04:05.678Z') } as StrategyContext // the strategy reads only the time
const LONG_AGO = '2020-01-01T00:00:00Z'
const rule = (taint: object, deviceSelector?: object) => ({
  metadata: { name: 'r' },
  spec: { taint: { key: 'k', effect: 'NoSchedule', timeAdded: LONG_AGO, ...taint }, deviceSelector },
})

describe('since when a taint is there, after an update', () => {
  test.each([
    ['that changes the value', { value: 'v' }, LONG_AGO],
    ['that changes the effect', { effect: 'NoExecute' }, '2026-01-02T03:04:05Z'],
    [
      'that changes effect and time',
      { effect: 'NoExecute', timeAdded: '2021-01-01T00:00:00Z' },
      '2021-01-01T00:00:00Z',
    ],
  ])('%s', async (_, taint, expected) => {
    const changed = rule(taint)
    await deviceTaintRules.prepareForUpdate!(changed, rule({}), context)
    expect(changed.spec.taint.timeAdded).toBe(expected)
  })
})

test.each<[what: string, object: ReturnType<typeof rule>, errors: string[]]>([
  ['a taint', rule({}), []],
  ['a selector of everything', rule({}, {}), []],
  ['a selector of one device', rule({}, { driver: 'd.example.com', pool: 'p/q', device: 'gpu-0' }), []],
  ['no effect', rule({ effect: '' }), ['spec.taint.effect: Required value']],
  [
    'another effect',
    rule({ effect: 'Explode' }),
    ['spec.taint.effect: Unsupported value: "Explode": supported values: "NoExecute", "NoSchedule", "None"'],
  ],
  ['an empty pool', rule({}, { pool: '' }), ['spec.deviceSelector.pool: Required value']],
])('a rule with %s', async (_, object, expected) => {
  const errors = await deviceTaintRules.validate!(object, context)
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(expected)
})

test('an effect of old is not asked about again', async () => {
  const old = rule({ effect: 'FromTheFuture' })
  expect(await deviceTaintRules.validateUpdate!(rule({ effect: 'FromTheFuture', value: 'v' }), old, context)).toEqual(
    [],
  )
})
