import { expect, test } from 'vitest'
import { copiedListsIn } from './copied-lists.ts'

test.each<[text: string, lines: number[]]>([
  ['lists.set(key, [item])', []],
  ['lists.set(key, [...items])', []],
  ['lists.set(key, [...others.get(key)])', []],
  ['addTo(lists, key, item)', []],
  ['lists.set(key, [...lists.get(key), item])', [1]],
  ['lists.set(key, [...(lists.get(key) ?? []), item])', [1]],
  ['const a = 1\nthis.lists.set(\n  nameOf(item),\n  [...(this.lists.get(nameOf(item)) ?? []), item],\n)', [2]],
])('%s', (text, lines) => {
  expect(copiedListsIn(text)).toEqual(lines)
})
