import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inParts } from '../../src/base/parts.ts'
import { inTurns } from '../../src/base/slices.ts'
import { differenceText } from '../../src/validation/difference-text.ts'
import { writtenLines } from '../../src/validation/written-lines.ts'

const numbered = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n]))

test('three lines around each change, and where they are in both', () => {
  const old = numbered(20)
  expect(differenceText(old, { ...old, n5: 55, n15: 155 })).toBe(
    [
      '@@ -4,7 +4,7 @@',
      ...[' "n2": 2,', ' "n3": 3,', ' "n4": 4,'].map((line) => ` ${line}`),
      '- "n5": 5,',
      '+ "n5": 55,',
      ...[' "n6": 6,', ' "n7": 7,', ' "n8": 8,'].map((line) => ` ${line}`),
      '@@ -14,7 +14,7 @@',
      ...[' "n12": 12,', ' "n13": 13,', ' "n14": 14,'].map((line) => ` ${line}`),
      '- "n15": 15,',
      '+ "n15": 155,',
      ...[' "n16": 16,', ' "n17": 17,', ' "n18": 18,'].map((line) => ` ${line}`),
      '',
    ].join('\n'),
  )
})

/** Texts of go-difflib. */
test.each<[string, unknown, unknown, string[]]>([
  [
    'an element before a like one',
    [{ n: 'a', x: null }],
    [
      { n: 'b', x: null },
      { n: 'a', x: null },
    ],
    ['@@ -1,4 +1,8 @@', ' [', '+ {', '+  "n": "b",', '+  "x": null', '+ },', '  {', '   "n": "a",', '   "x": null'],
  ],
  [
    'the longest block, not the most lines',
    ['a', 'b', 'c', 'd'],
    ['c', 'd', 'a', 'x', 'b', 'y'],
    ['@@ -1,6 +1,8 @@', ' [', '+ "c",', '+ "d",', '  "a",', '+ "x",', '  "b",', '- "c",', '- "d"', '+ "y"', ' ]'],
  ],
  ['one line by one', 1, 2, ['@@ -1 +1 @@', '-1', '+2']],
  ['one line by several', null, { a: 1 }, ['@@ -1 +1,3 @@', '-null', '+{', '+ "a": 1', '+}']],
])('%s', (_, old, wanted, lines) => {
  expect(differenceText(old as object, wanted as object)).toBe([...lines, ''].join('\n'))
})

test('in long texts, lines that come often begin no block', () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ [`n${at}`]: 0 }))
  // the lines `},` and `{` between the changed ones count as changed, too
  expect(differenceText(many, many.with(50, { p: 1 }).with(51, { q: 1 }))).toBe(
    [
      ...['@@ -150,10 +150,10 @@', '   "n49": 0', '  },', '  {'],
      ...['-  "n50": 0', '- },', '- {', '-  "n51": 0', '+  "p": 1', '+ },', '+ {', '+  "q": 1'],
      ...['  },', '  {', '   "n52": 0', ''],
    ].join('\n'),
  )
})

/** Applies a diff to the old lines. */
function applied(old: readonly string[], difference: string): string[] {
  const wanted = [...old]
  let shift = 0
  for (const hunk of difference.split(/^(?=@@)/m)) {
    const [, from = '', length = '1'] = /^@@ -(\d+)(?:,(\d+))?/.exec(hunk) ?? []
    const lines = hunk.split('\n').slice(1, -1)
    const kept = lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
    wanted.splice(Number(from) - 1 + shift, Number(length), ...kept)
    shift += kept.length - Number(length)
  }
  return wanted
}

test('the difference applied to the old text makes the new one', () => {
  const values = fc.dictionary(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), fc.nat(3))
  fc.assert(
    fc.property(values, values, (old, wanted) => {
      const difference = differenceText(old, wanted)
      const [before, after] = [old, wanted].map((value) => JSON.stringify(value, null, 1).split('\n'))
      if (difference === '') expect(before).toEqual(after)
      else expect(applied(before!, difference)).toEqual(after)
    }),
  )
})

test('a change of very many lines shows the first of them, and how many follow', () => {
  const [old, wanted] = [numbered(3), numbered(100_000)]
  const lines = differenceText(old, Object.fromEntries(Object.entries(wanted).map(([name]) => [name, 'x']))).split('\n')
  expect(lines.length).toBeLessThan(5_010)
  expect(lines.filter((line) => line.includes('more lines'))).toEqual(['+... 95000 more lines'])
})

test('lines are those of JSON.stringify, up to a limit', async () => {
  const value = { a: [], b: {}, c: [1, 'x\n', null, { d: true, e: undefined, 10: 2 }], f: { g: [[]] }, 'h\'"': '' }
  const lines = JSON.stringify(value, null, 1).split('\n')
  for (const part of [1, 3, 5000]) {
    const owner = {}
    const written = await inTurns(
      inParts(() => writtenLines(value, 1000, owner), part),
      async () => {},
    )
    expect(written).toEqual(lines)
  }
  expect(writtenLines(value, 7, {})).toEqual(lines.slice(0, 7))
  for (const one of [1, 'a', null, [], {}, [[]]])
    expect(writtenLines(one, 9, {})).toEqual(JSON.stringify(one, null, 1).split('\n'))
})

test('what differs behind many lines that are the same is not looked for', () => {
  const same = Array.from({ length: 200_000 }, (_, at) => at)
  expect(differenceText({ same, b: 1 }, { same, b: 2 })).toBe('... the first 150000 lines are the same\n')
})
