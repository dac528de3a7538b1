import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import { FieldSet } from '../../src/patch/field-set.ts'
import { elementText, keyElement, pathText, sortedPathElements, valueElement } from '../../src/schema/path-element.ts'

const element = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'metadata', 'é', '😀').map((name) => `f:${name}`),
  fc.constantFrom('x', 'y', '<&>').map((name) => keyElement([['name', name]])),
  fc.constantFrom<(string | number | boolean)[]>('x', 1, 2.5, true).map((value) => valueElement(value as string)),
  fc.nat(3).map((index) => `i:${index}`),
)
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
const sets = paths.map((list) => FieldSet.of(...list))
function texts(set: FieldSet): string[] {
  const all: string[] = []
  set.eachPath(
    (path) => all.push(path.join('\n')),
    () => false,
  )
  expect(set.size).toBe(all.length)
  return all
}

describe('sets of fields', () => {
  test('are what FieldsV1 says, and say it again', () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(FieldSet.fromFieldsV1(set.toFieldsV1()).equals(set)).toBe(true)
      }),
    )
  })

  test('union, intersection and difference are those of their paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [ours, theirs] = [new Set(texts(a)), new Set(texts(b))]
        expect(new Set(texts(a.union(b)))).toEqual(ours.union(theirs))
        expect(new Set(texts(a.intersection(b)))).toEqual(ours.intersection(theirs))
        expect(new Set(texts(a.difference(b)))).toEqual(ours.difference(theirs))
      }),
    )
  })

  test('a recursive difference takes what is below with it', () => {
    const set = FieldSet.of(['f:a'], ['f:a', 'f:b'], ['f:a', 'f:b', 'f:c'], ['f:d'])
    expect(texts(set.recursiveDifference(FieldSet.of(['f:a', 'f:b'])))).toEqual(['f:a', 'f:d'])
  })

  test('an element without anything below is a member; one with something says so itself', () => {
    const fields = { 'f:spec': { '.': {}, 'f:replicas': {} }, 'f:data': { 'f:a': {} } }
    const set = FieldSet.fromFieldsV1(fields)
    expect(texts(set)).toEqual(['f:spec', 'f:data\nf:a', 'f:spec\nf:replicas'])
    expect(JSON.stringify(set.toFieldsV1())).toBe('{"f:data":{"f:a":{}},"f:spec":{".":{},"f:replicas":{}}}')
  })

  test('keys are written in one way, whatever the order in which they came', () => {
    const set = FieldSet.fromFieldsV1({ 'k:{"protocol":"TCP","port":80}': {} })
    expect(JSON.stringify(set.toFieldsV1())).toBe('{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{}}')
  })

  test.each([
    ['an unknown kind of element is dropped', { 'x:a': {}, 'f:b': {} }, ['f:b']],
    ['one with nothing else below it is a member', { 'f:a': { 'x:b': {} } }, ['f:a']],
    ['null is a member', { 'f:a': null }, ['f:a']],
  ])('%s', (_, fields, expected) => {
    expect(texts(FieldSet.fromFieldsV1(fields))).toEqual(expected)
  })

  test.each([
    ['no prefix', { spec: {} }, 'missing colon: spec'],
    ['too short', { f: {} }, 'key must be 2 characters long:'],
    ['no object', { 'f:a': 5 }, 'expected { or n'],
    ['no index', { 'i:x': {} }, 'strconv.Atoi: parsing "x": invalid syntax'],
    ['an index beyond an int64', { 'i:9223372036854775808': {} }, 'value out of range'],
    [
      'an index of zeros and more than an int64',
      { [`i:${'0'.repeat(400)}9223372036854775808`]: {} },
      'value out of range',
    ],
    ['an index of many digits', { [`i:-${'9'.repeat(400)}`]: {} }, 'value out of range'],
    ['a value beyond a float64', { 'v:1e400': {} }, 'value out of range'],
    ['a value of many digits', { [`v:[${'9'.repeat(400)}]`]: {} }, 'value out of range'],
    ['a key beyond a float64', { 'k:{"a":-1E999}': {} }, 'value out of range'],
  ])('what can not be read is an error: %s', (_, fields, message) => {
    expect(() => FieldSet.fromFieldsV1(fields)).toThrow(message)
  })
})

describe('path elements', () => {
  test('fields come before keys, values and indices, each in its order', () => {
    const sorted = [
      'f:a',
      'f:b',
      'f:é',
      'f:\uffff',
      'f:😀',
      keyElement([['n', 1]]),
      keyElement([['n', 'a']]),
      'v:2',
      'v:10',
      'v:"a"',
      'v:true',
      'i:2',
      'i:10',
    ]
    expect(sortedPathElements(() => sorted.toReversed())).toEqual(sorted)
  })

  test('are named in messages as kube-apiserver names them', () => {
    expect(
      pathText([
        'f:spec',
        keyElement([
          ['port', 53],
          ['protocol', 'UDP'],
        ]),
        'f:name',
      ]),
    ).toBe('.spec[port=53,protocol="UDP"].name')
    expect(elementText('v:"a\\nb"')).toBe('[="a\\nb"]')
    expect(elementText('i:3')).toBe('[3]')
  })
})
