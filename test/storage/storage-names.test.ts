import { expect, test } from 'vitest'
import { groupResourceText } from '../../src/api/group-version.ts'
import { groupResourceNamed } from '../../src/storage/collections.ts'
import { StorageNames } from '../../src/storage/storage-names.ts'

const LEASES = 'leases.coordination.k8s.io'
const ROCKETS = 'rockets.space.k8s.io'
const WIDGETS = 'widgets.example.com'
const names = new StorageNames(new Set([LEASES, 'pods']), new Set([ROCKETS]))

test.each([
  ['a built-in type of the first release', LEASES, LEASES],
  ['one without a group', 'pods', 'pods'],
  ['one that came later', ROCKETS, `built-in:${ROCKETS}`],
])('%s', (_, name, prefix) => {
  expect([names.isBuiltIn(name), names.prefixOf(name), names.ofPrefix(prefix)]).toEqual([true, prefix, name])
})

test.each([
  ['of the name of the former', LEASES, `custom:${LEASES}`, `custom:${LEASES}`],
  // where it was before Kubernetes built the type in
  ['of the name of the latter', ROCKETS, `custom:${ROCKETS}`, ROCKETS],
  ['of another name', WIDGETS, WIDGETS, WIDGETS],
])('a definition %s', (_, definition, name, prefix) => {
  expect(groupResourceText(names.ofCustom(groupResourceNamed(definition)))).toBe(name)
  expect([names.isBuiltIn(name), names.prefixOf(name), names.ofPrefix(prefix)]).toEqual([false, prefix, name])
})

test('no two names share a prefix', () => {
  const all = [LEASES, ROCKETS, 'pods', WIDGETS]
  const stored = [...names.builtIn, ...all.map((name) => groupResourceText(names.ofCustom(groupResourceNamed(name))))]
  expect(new Set(stored.map((name) => names.prefixOf(name))).size).toBe(stored.length)
})
