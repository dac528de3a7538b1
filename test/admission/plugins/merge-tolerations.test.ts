// A RuntimeClass adds tolerations to a pod; those that tolerate no more than another one are left out.
import { expect, test } from 'vitest'
import fc from '../../chance.ts'
import { coverageBy, mergeTolerations } from '../../../src/admission/plugins/tolerations.ts'
import type { Toleration } from '../../../src/api/core/v1.ts'
import { valuesEqual } from '../../../src/json/value-order.ts'

const same = (a: Toleration, b: Toleration): boolean => valuesEqual({ ...blank, ...a }, { ...blank, ...b })

/** Whether one toleration covers the other, by the rules of kube-apiserver. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (same(wide, narrow)) return true
  const { key = '', effect = '', operator = '', value = '', tolerationSeconds: longest } = wide
  if (key !== (narrow.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrow.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && longest !== undefined && !((narrow.tolerationSeconds ?? Infinity) <= longest))
    return false
  if (operator === 'Exists') return true
  return (operator === 'Equal' || operator === '') && narrow.operator === 'Equal' && value === (narrow.value ?? '')
}

/** The merge that compares each toleration with each other one. */
function eachWithEach(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = []
  for (const [index, one] of all.entries()) {
    if (merged.some((other) => covers(other, one))) continue
    if (all.slice(index + 1).some((other) => !same(other, one) && covers(other, one))) continue
    merged.push(one)
  }
  return merged
}

const blank = { key: '', effect: '', operator: '', value: '', tolerationSeconds: null }

/** Valid tolerations: an empty key or no value requires Exists, tolerationSeconds require NoExecute. */
const toleration: fc.Arbitrary<Toleration> = fc.oneof(
  fc.record({ operator: fc.constant('Exists') }),
  fc
    .record(
      {
        key: fc.constantFrom('a', 'b'),
        operator: fc.constantFrom('', 'Equal'),
        value: fc.constantFrom('', 'x', 'y'),
        effect: fc.constantFrom('', 'NoExecute', 'NoSchedule'),
        tolerationSeconds: fc.constantFrom(1, 2, 3),
      },
      { requiredKeys: ['key'] },
    )
    .map(secondsOfNoExecute),
  fc
    .record(
      {
        key: fc.constantFrom('', 'a', 'b'),
        operator: fc.constant('Exists'),
        effect: fc.constantFrom('', 'NoExecute', 'NoSchedule'),
        tolerationSeconds: fc.constantFrom(1, 2, 3),
      },
      { requiredKeys: ['operator'] },
    )
    .map(secondsOfNoExecute),
)

function secondsOfNoExecute({ tolerationSeconds, ...rest }: Toleration): Toleration {
  return rest.effect === 'NoExecute' && tolerationSeconds !== undefined ? { ...rest, tolerationSeconds } : rest
}

test('the merge equals comparing each toleration with each', () => {
  fc.assert(
    fc.property(fc.array(toleration, { maxLength: 8 }), fc.array(toleration, { maxLength: 8 }), (first, second) => {
      expect(mergeTolerations(first, second)).toEqual(eachWithEach([...first, ...second]))
    }),
    { numRuns: 1_000 },
  )
})

/** Any tolerations: the server does not validate the annotations of namespaces. */
const any: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.constantFrom('', 'a', 'b'),
    operator: fc.constantFrom('', 'Equal', 'Exists', 'Other'),
    value: fc.constantFrom('', 'x'),
    effect: fc.constantFrom('', 'NoExecute', 'NoSchedule'),
    tolerationSeconds: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
)

test('a list covers a toleration if one of its tolerations does', () => {
  fc.assert(
    fc.property(fc.array(any, { maxLength: 6 }), toleration, (list, narrow) => {
      expect(coverageBy(list)(narrow)).toBe(list.some((wide) => covers(wide, narrow)))
    }),
    { numRuns: 2_000 },
  )
})
