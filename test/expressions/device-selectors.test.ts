/** What kube-apiserver 1.36.3 says of selectors in DeviceClasses: the answers were recorded, the expressions are ours. */
import { expect, test } from 'vitest'
import { withSelectors } from '../../src/registry/resource/device-selectors.ts'
import { path } from '../../src/api/field.ts'
import recorded from './device-selectors.json' with { type: 'json' }

const errorsOf = async (selectors: readonly { cel: { expression: string } }[], withLists: boolean) =>
  (
    await withSelectors(selectors, { enabled: () => withLists }, (selectorsErrors) =>
      selectorsErrors(selectors, path('selectors')),
    )
  ).map(({ message }) => message)

test.each(recorded.map(({ expression, message }) => [expression, message] as const))(
  '%s',
  async (expression, message) => {
    const selectors = [{ cel: { expression } }]
    const errors = await errorsOf(selectors, false)
    expect(errors).toEqual(message === undefined ? [] : [message])
  },
)

test.each([
  ['device.attributes["a.b"].list.includes("x")', []],
  ['device.driver.includes(1)', []],
  ['[1, 2].includes("a")', []],
  ['device.capacity["a"].m.includes(quantity("1"))', []],
  ['includes("a", "a")', ["found no matching overload for 'includes' applied to '(string, string)'"]],
  ['device.attributes["a"].l.includes()', ["found no matching overload for 'includes' applied to 'dyn.()'"]],
])('with attributes that may be lists: %s', async (expression, messages) => {
  const selectors = [{ cel: { expression } }]
  const errors = await errorsOf(selectors, true)
  expect(errors).toHaveLength(messages.length)
  for (const [index, message] of messages.entries()) expect(errors[index]).toContain(message)
  expect((await errorsOf(selectors, false))[0]).toContain("undeclared reference to 'includes'")
})
