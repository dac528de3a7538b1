import { describe, expect, it } from 'vitest'
import { path } from '../../src/api/field.ts'
import type { LabelSelector } from '../../src/api/meta/v1.ts'
import { isUsableSelector, selectorMatches, validateLabelSelector } from '../../src/validation/label-selectors.ts'

const labels = { app: 'web', tier: 'front' }
const requirement = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
})

const matches: readonly (readonly [selector: LabelSelector | undefined, matched: boolean])[] = [
  [undefined, false],
  [{}, true],
  [{ matchLabels: { app: 'web' } }, true],
  [{ matchLabels: { app: 'api' } }, false],
  [requirement('app', 'In', 'web', 'api'), true],
  [requirement('app', 'NotIn', 'web'), false],
  [requirement('gone', 'NotIn', 'x'), true],
  [requirement('tier', 'Exists'), true],
  [requirement('gone', 'DoesNotExist'), true],
]

describe('label selectors', () => {
  it.each(matches)('%j', (selector, matched) => expect(selectorMatches(selector, labels)).toBe(matched))

  it('tells of each fault where it is', () => {
    const errors = validateLabelSelector(path('spec', 'selector'), requirement('a b', 'Is', 'x'))
    expect(errors.map(({ field, type }) => [field, type])).toEqual([
      ['spec.selector.matchExpressions[0].operator', 'FieldValueInvalid'],
      ['spec.selector.matchExpressions[0].key', 'FieldValueInvalid'],
    ])
  })

  it('is of no use with an operator that needs values and has none', () => {
    expect(isUsableSelector(requirement('app', 'In'))).toBe(false)
    expect(isUsableSelector(requirement('app', 'In', 'web'))).toBe(true)
  })
})
