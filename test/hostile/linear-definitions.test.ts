// The work of a request grows linearly with what a definition, a configuration or an object has many of, whatever that
// is. The cases are those of `npm run bench:wide`, which measures the longest step of each at its largest size.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryTarget } from '../bench/memory-target.ts'
import { wideCases } from '../bench/wide-cases.ts'
import type { WideCase } from '../bench/wide-cases.ts'
import { CountedWork } from './counted-work.ts'

let work: CountedWork
beforeAll(async () => {
  work = await CountedWork.start()
})
afterAll(() => work.stop())

async function serve({ definitions = () => [], stored = () => [], calls }: WideCase, n: number): Promise<void> {
  const to = await memoryTarget({}, definitions(n))
  for (const [group, resource, object] of stored(n)) await to.put(group, resource, object as never)
  for (const call of calls(n)) await to(call)
}

const SIZE = 150
/** The work of these cases is the square of their size. A budget pays for it. */
const PAID: Readonly<Record<string, string>> = {
  ' dear ': 'the cost limits of CEL',
  'a pattern of many states': 'the steps of a search (src/validation/go-pattern.ts)',
  'many rules of a role, handed on': 'the rules that are compared (src/authorization/rule-coverage.ts)',
  'many rules of a role, bound': 'the same',
}
const paid = Object.keys(PAID)
const cases = wideCases.filter(({ what }) => !paid.some((part) => what.includes(part)))

test('each budget has a case', () => {
  for (const part of paid)
    expect(
      wideCases.some(({ what }) => what.includes(part)),
      part,
    ).toBe(true)
})

/** The work of twice the size, divided by that of the size: at most 2 where it is linear, and up to 4 for a square. */
async function growth(one: WideCase): Promise<number> {
  const of = (n: number): Promise<number> => work.of(() => serve(one, n))
  await of(SIZE) // the first call fills the caches
  const once = await of(SIZE)
  return (await of(2 * SIZE)) / once
}

test.each(cases.map((one) => [one.what, one] as const))('%s', { timeout: 60_000 }, async (_, one) => {
  expect(await growth(one)).toBeLessThan(2.3)
})
