import { expect, test } from 'vitest'
import { isNoExecute, TaintedPlaces } from '../../../src/controllers/nodes/tainted-places.ts'

const node = (place: string, effect?: 'NoExecute' | 'NoSchedule') => ({
  place,
  taints: effect === undefined ? [] : [{ key: 'k', effect }],
})
type Tainted = ReturnType<typeof node>
const places = () =>
  new TaintedPlaces<Tainted>(2, ({ place, taints }) => (taints.some(isNoExecute) ? place : undefined))

/** @returns when the look before ended, by which changes were asked for */
async function look(nodes: TaintedPlaces<Tainted>, changed: Record<string, Tainted | undefined>, reset = false) {
  let asked: number | undefined
  await nodes.look(async function* (at) {
    asked = at
    yield { revision: (at ?? 0) + 1, reset, changed: Object.entries(changed).map(([key, object]) => ({ key, object })) }
  })
  return asked
}

test('a node is tainted from one change to the next', async () => {
  const nodes = places()
  expect(
    await look(nodes, { a: node('a', 'NoExecute'), b: node('b', 'NoSchedule'), c: node('c') }, true),
  ).toBeUndefined()
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a'])
  expect(await look(nodes, { a: node('a'), b: node('b', 'NoExecute') })).toBe(1)
  expect(['a', 'b'].filter((name) => nodes.mayBe(name))).toEqual(['b'])
  expect(await look(nodes, { b: undefined })).toBe(2)
  expect([nodes.mayBe('b'), nodes.any]).toEqual([false, false])
})

test('a place is tainted as long as one of its objects is', async () => {
  const pools = places()
  await look(pools, { a: node('p', 'NoExecute'), b: node('p', 'NoExecute') }, true)
  await look(pools, { a: undefined })
  expect([pools.mayBe('p'), pools.any]).toEqual([true, true])
  await look(pools, { b: node('q', 'NoExecute') })
  expect(['p', 'q'].filter((name) => pools.mayBe(name))).toEqual(['q'])
})

test('where more are tainted than are remembered, every node may be, and all are looked at anew', async () => {
  const nodes = places()
  await look(nodes, { a: node('a', 'NoExecute'), b: node('b', 'NoExecute'), c: node('c', 'NoExecute') }, true)
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a', 'b', 'c', 'd'])
  expect(await look(nodes, { a: node('a', 'NoExecute') }, true)).toBeUndefined()
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a'])
})
