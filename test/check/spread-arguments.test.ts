import { expect, test } from 'vitest'
import { spreadArgumentsIn } from './spread-arguments.ts'

test.each<[text: string, lines: number[]]>([
  ['list.push(one)', []],
  ['list.push([...others])', []],
  ['list.push({ ...other })', []],
  ['append(list, [...others])', []],
  ['list.push(...others)', [1]],
  ['list.push(one, ...others)', [1]],
  ['const a = 1\nlist\n  .unshift(\n    ...others,\n  )', [3]],
  ['list.push(f(...others))', []],
  ['Math.max(0, ...others)', [1]],
  ['Math.min(one, other)', []],
  ['mostOf([...others])', []],
])('%s', (text, lines) => {
  expect(spreadArgumentsIn(text)).toEqual(lines)
})
