import { expect, test } from 'vitest'
import { forEachAnyway } from '../../../src/controllers/work/each-anyway.ts'

/** @param seconds that each failure takes */
async function run(items: readonly string[], failing: readonly string[], seconds = 0, at = 0) {
  let now = at
  const tried: string[] = []
  const failure = await forEachAnyway(
    items,
    () => new Date(now),
    async (item) => {
      tried.push(item)
      if (!failing.includes(item)) return
      now += seconds * 1000
      throw new Error(item)
    },
  ).catch(({ message }: Error) => message)
  return { tried: tried.join(''), failure }
}

const abcd = ['a', 'b', 'c', 'd']

test.each<[string, Parameters<typeof run>, { tried: string; failure?: string }]>([
  ['nothing', [[], []], { tried: '', failure: undefined }],
  ['all that succeeds', [abcd, []], { tried: 'abcd', failure: undefined }],
  ['what comes after a failure', [abcd, ['a', 'c']], { tried: 'abcd', failure: 'a' }],
  ['no more once failures took half a minute', [abcd, ['a', 'b', 'c'], 15], { tried: 'ab', failure: 'a' }],
  ['beginning elsewhere the next second', [abcd, ['a', 'b', 'c'], 15, 2_000], { tried: 'cda', failure: 'c' }],
])('does %s', async (_, args, expected) => {
  expect(await run(...args)).toEqual(expected)
})
