import { expect, test } from 'vitest'
import { TaintedNodes } from '../../../src/controllers/nodes/tainted-nodes.ts'

const node = (effect?: 'NoExecute' | 'NoSchedule') => ({
  spec: { taints: effect === undefined ? [] : [{ key: 'k', effect }] },
})

/** @returns when the look before ended, by which changes were asked for */
async function look(nodes: TaintedNodes, changed: Record<string, ReturnType<typeof node> | undefined>, reset = false) {
  let asked: number | undefined
  await nodes.look(async function* (at) {
    asked = at
    yield { revision: (at ?? 0) + 1, reset, changed: Object.entries(changed).map(([key, object]) => ({ key, object })) }
  })
  return asked
}

test('a node is tainted from one change to the next', async () => {
  const nodes = new TaintedNodes(2)
  expect(await look(nodes, { a: node('NoExecute'), b: node('NoSchedule'), c: node() }, true)).toBeUndefined()
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a'])
  expect(await look(nodes, { a: node(), b: node('NoExecute') })).toBe(1)
  expect(['a', 'b'].filter((name) => nodes.mayBe(name))).toEqual(['b'])
  expect(await look(nodes, { b: undefined })).toBe(2)
  expect(nodes.mayBe('b')).toBe(false)
})

test('where more are tainted than are remembered, every node may be, and all are looked at anew', async () => {
  const nodes = new TaintedNodes(2)
  await look(nodes, { a: node('NoExecute'), b: node('NoExecute'), c: node('NoExecute') }, true)
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a', 'b', 'c', 'd'])
  expect(await look(nodes, { a: node('NoExecute') }, true)).toBeUndefined()
  expect(['a', 'b', 'c', 'd'].filter((name) => nodes.mayBe(name))).toEqual(['a'])
})
