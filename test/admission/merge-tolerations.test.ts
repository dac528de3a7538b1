// A RuntimeClass adds tolerations to a pod; those that tolerate no more than another one are left out.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeTolerations } from '../../src/admission/runtime-class.ts'
import type { Toleration } from '../../src/api/core/v1.ts'

/** As kube-apiserver says it: each with each. */
function eachWithEach(all: readonly Toleration[]): Toleration[] {
  const covers = (wide: Toleration, narrow: Toleration): boolean => {
    const { key = '', effect = '', operator = '', value = '', tolerationSeconds: longest } = wide
    if (key !== '' && key !== (narrow.key ?? '')) return false
    if (effect !== '' && effect !== (narrow.effect ?? '')) return false
    if (effect === 'NoExecute' && longest !== undefined && !((narrow.tolerationSeconds ?? Infinity) <= longest))
      return false
    return operator === 'Exists' || (narrow.operator !== 'Exists' && value === (narrow.value ?? ''))
  }
  return all.filter((one, index) =>
    all.every((other, place) => {
      if (place === index || !covers(other, one)) return true
      return covers(one, other) && index < place
    }),
  )
}

const toleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.constantFrom('', 'a', 'b'),
    operator: fc.constantFrom('', 'Exists', 'Equal'),
    value: fc.constantFrom('', 'x', 'y'),
    effect: fc.constantFrom('', 'NoExecute', 'NoSchedule'),
    tolerationSeconds: fc.constantFrom(1, 2, 3),
  },
  { requiredKeys: [] },
)

test('what is left is what comparing each with each leaves', () => {
  fc.assert(
    fc.property(fc.array(toleration, { maxLength: 8 }), fc.array(toleration, { maxLength: 8 }), (first, second) => {
      expect(mergeTolerations(first, second)).toEqual(eachWithEach([...first, ...second]))
    }),
    { numRuns: 1_000 },
  )
})
