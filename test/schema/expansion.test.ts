import { expect, test } from 'vitest'
import { builtInType, builtInTypeNames, isBuiltInType, structuralOf, typeOfKind } from '../../src/schema/built-in.ts'

test('a type is the same one however it is reached', () => {
  const pod = builtInType('io.k8s.api.core.v1.Pod')
  expect(typeOfKind({ group: '', version: 'v1', kind: 'Pod' })).toBe(pod)
  expect(pod.field('spec')?.type).toBe(structuralOf('io.k8s.api.core.v1.PodSpec'))
})

test('fields, lookups and messages tell of the same field objects', () => {
  for (const name of builtInTypeNames()) {
    const type = structuralOf(name)
    if (type.shape !== 'struct') continue
    for (const field of type.fields) expect(type.field(field.name)).toBe(field)
    const own = (type.message ?? []).flatMap((member) => ('field' in member ? [member.field] : []))
    expect(type.fields).toEqual(expect.arrayContaining(own))
    const inline = (type.message ?? []).flatMap((member) => ('inline' in member ? member.inline.fields : []))
    if (type.message !== undefined) expect(type.fields).toHaveLength(own.length + inline.length)
  }
})

test.each(['io.k8s.api.core.v1.Nope', 'io.k8s.api.core.v1.', 'io.k8s.api.core.v1.constructor', 'Pod', ''])(
  'there is no type %o',
  (name) => {
    expect(isBuiltInType(name)).toBe(false)
    expect(() => builtInType(name)).toThrow(`no built-in type ${name}`)
  },
)
