import { describe, expect, test } from 'vitest'
import { lengthOfLongStrings } from '../../src/request/long-texts.ts'
import { eachPart, inParts, PART } from '../../src/base/parts.ts'
import { turnOfOthers } from '../../src/base/slices.ts'
import type { Steps } from '../../src/base/slices.ts'
import { finished, isLargeIn, noteManyValues, walked } from '../../src/request/turns.ts'

const json = (...strings: string[]): string => JSON.stringify({ strings })
const of = (length: number): string => 'x'.repeat(length)
const KI = 1024
const POLICIES = 'admissionregistration.k8s.io'
const DEFINITIONS = 'apiextensions.k8s.io'

test.each<[string, string, boolean]>([
  ['', json(of(60 * KI)), false],
  ['apps', json(of(65 * KI)), true],
  [POLICIES, json(of(60 * KI)), true],
  [POLICIES, json(...Array<string>(8).fill(of(2 * KI))), true],
  [POLICIES, json(of(7 * KI), of(900)), false],
  [DEFINITIONS, json(of(9 * KI)), true],
  [DEFINITIONS, json(...Array<string>(60).fill(of(900))), false],
  [DEFINITIONS, json(...Array<string>(70).fill(of(1_000))), true],
  ['resource.k8s.io', json(of(9 * KI)), true],
])('case %#: an object of the group "%s" takes turns if it is long, or its expressions are', (group, text, isLarge) => {
  expect(isLargeIn(group, text)).toBe(isLarge)
  expect(isLargeIn(group, new TextEncoder().encode(text))).toBe(isLarge)
})

test('a body that grows by defaults takes turns', () => {
  expect(isLargeIn('', json(of(KI)), 65 * KI)).toBe(true)
})

test.each([
  [Array(3_000).fill({}), true],
  [{ a: { b: Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`k${n}`, ''])) } }, true],
  [Array(1_000).fill('x'.repeat(50)), undefined],
])('case %#: an object of many values takes turns', (object, isLarge) => {
  const request: { isLarge?: boolean } = {}
  noteManyValues(request, object)
  expect(request.isLarge).toBe(isLarge)
})

describe('the length of long strings', () => {
  test.each<[string, string, number]>([
    ['counts from quote to quote', json(of(2_000)), 2_001],
    ['goes on behind escaped quotes', json('"'.repeat(2_000)), 4_001],
    ['goes on behind backslashes before escaped quotes', json('\\"'.repeat(1_000)), 4_001],
    ['ends at a quote behind escaped backslashes', json(of(500) + '\\', of(600)), 0],
    ['leaves out short strings', json(of(1_000), of(1_000)), 0],
    ['counts a string without an end', `{"a":"${of(2_000)}`, 2_001],
  ])('%s', (_, text, length) => {
    expect(lengthOfLongStrings(text)).toBe(length)
    expect(lengthOfLongStrings(new TextEncoder().encode(text))).toBe(length)
  })

  test('is all of a body that is no JSON', () => {
    expect(lengthOfLongStrings(new Uint8Array(9_000))).toBe(9_000)
  })
})

describe('large requests', () => {
  const callOf = (name: string) => ({
    isLarge: true,
    tenant: { uid: 'one' },
    user: { name, uid: '', groups: [], extra: {} },
  })
  /** Walks over three parts, and notes each. */
  const walk = (name: string, userName: string, order: string[]) => {
    const items = Array.from({ length: 3 }, () => ({}))
    return walked(callOf(userName), () => eachPart(items, (_, index) => void order.push(`${name}${index}`), PART))
  }
  function* manySteps(order: string[]): Steps<void> {
    for (let n = 0; n < 6; n++) yield* inParts(() => eachPart([{}], () => void order.push(`${n}`), PART / 8))
  }
  const noted = async (...walks: ((order: string[]) => void | Promise<void>)[]) => {
    const order: string[] = []
    let isOver = false
    const others = (async () => {
      for (; !isOver; await turnOfOthers()) order.push('-')
    })()
    await Promise.all(walks.map((one) => one(order)))
    isOver = true
    await others
    return order.join('').replace(/-+/g, '-')
  }

  test('have their parts one by one, and others have their turn between any two of them', async () => {
    const order = await noted(
      (order) => walk('a', 'eve', order),
      (order) => walk('b', 'eve', order),
    )
    expect(order).toMatch(/^-?a0-a1-a2-b0-b1-b2-?$/)
  })

  test('with many short walks do as many of them in one turn as it has room for', async () => {
    const order = await noted((seen) => finished(callOf('eve'), manySteps(seen)))
    expect(order).toMatch(/^-?012-345-?$/)
  })

  test('of several users take turns, whichever ServiceAccounts of a namespace they are', async () => {
    const order = await noted(
      (order) => walk('a', 'system:serviceaccount:team:one', order),
      (order) => walk('b', 'system:serviceaccount:team:two', order),
      (order) => walk('c', 'anna', order),
    )
    expect(order).toMatch(/^-?a0-c0-a1-c1-a2-c2-b0-b1-b2-?$/)
  })
})
