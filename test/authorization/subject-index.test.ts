import { expect, test } from 'vitest'
import fc from '../chance.ts'
import type { RoleBinding, Subject } from '../../src/api/rbac/v1.ts'
import { bindingsFor } from '../../src/authorization/subject-index.ts'

const name = fc.constantFrom('a', 'b', 'system:serviceaccount:n:a', 'system:serviceaccount::a', '__proto__')
const subject: fc.Arbitrary<Subject> = fc.record(
  {
    kind: fc.constantFrom('User', 'Group', 'ServiceAccount', 'Other'),
    name,
    namespace: fc.constantFrom('', 'n', 'm'),
  },
  { requiredKeys: ['kind'] },
)
const bindings: fc.Arbitrary<RoleBinding[]> = fc.array(
  fc.record(
    { metadata: fc.constant({}), subjects: fc.array(subject, { maxLength: 3 }) },
    { requiredKeys: ['metadata'] },
  ),
  { minLength: 0, maxLength: 40 },
)

/** Whether a subject names the user, as in rbac.ts. */
const applies = ({ kind, name = '', namespace }: Subject, user: string, groups: string[], within: string): boolean => {
  if (kind === 'User') return user === name
  if (kind === 'Group') return groups.includes(name)
  const of = namespace || within
  return kind === 'ServiceAccount' && of !== '' && user === `system:serviceaccount:${of}:${name}`
}

test('no binding is left out, and the order stays', () => {
  fc.assert(
    fc.property(bindings, name, fc.array(name), fc.constantFrom('', 'n'), (all, user, groups, within) => {
      const found = bindingsFor(all, { name: user, uid: '', groups, extra: {} }, within)
      const needed = all.filter(({ subjects = [] }) => subjects.some((one) => applies(one, user, groups, within)))
      expect(found.filter((one) => needed.includes(one))).toEqual(needed)
      expect(found).toEqual(all.filter((one) => found.includes(one)))
    }),
  )
})

test('of a thousand bindings those of one user are looked at', () => {
  const all = Array.from({ length: 1000 }, (_, n): RoleBinding => ({
    metadata: {},
    subjects: [{ kind: 'User', name: `u${n}` }],
  }))
  expect(bindingsFor(all, { name: 'u700', uid: '', groups: ['g'], extra: {} }, '')).toEqual([all[700]])
})
