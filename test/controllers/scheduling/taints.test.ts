// Whether the tolerations of a pod tolerate the taints of a node.
import { expect, test } from 'vitest'
import type { Taint, Toleration } from '../../../src/api/core/v1.ts'
import { tolerates, Tolerations } from '../../../src/controllers/scheduling/taints.ts'

const maybe = <One>(values: readonly One[]): readonly (One | undefined)[] => [undefined, ...values]
const known = <One extends object>(fields: One): One => JSON.parse(JSON.stringify(fields)) as One // the same without fields that are undefined

const every: readonly Toleration[] = maybe(['a', 'b']).flatMap((key) =>
  maybe(['Equal', 'Exists', 'Lt', 'Gt', 'Unknown']).flatMap((operator) =>
    maybe(['1', '5', 'x']).flatMap((value) =>
      maybe(['NoSchedule']).map((effect) => known({ key, operator, value, effect })),
    ),
  ),
)
const taints: readonly Taint[] = ['a', 'c'].flatMap((key) =>
  maybe(['0', '1', '3', '9', 'x']).flatMap((value) =>
    ['NoSchedule', 'NoExecute'].map((effect) => known({ key, value, effect })),
  ),
)

test('together they tolerate what one of them tolerates', () => {
  for (const first of every)
    for (const second of every) {
      const both = new Tolerations([first, second])
      const ours = taints.filter((taint) => both.tolerate(taint))
      const expected = taints.filter((taint) => tolerates(first, taint) || tolerates(second, taint))
      expect(ours, JSON.stringify([first, second])).toEqual(expected)
    }
})

test('each toleration is read once, however many taints there are', () => {
  let reads = 0
  const tolerations = Array.from({ length: 1_000 }, (_, at) => ({
    get key() {
      reads++
      return `key-${at}`
    },
  }))
  const many = Array.from({ length: 500 }, (_, at) => ({ key: `other-${at}`, effect: 'NoSchedule' }))
  expect(new Tolerations(tolerations).untolerated(many, ['NoSchedule'])).toHaveLength(500)
  expect(reads).toBe(1_000)
})
