import { describe, expect, it } from 'vitest'
import { parseLabelSelector } from '../../../src/storage/selectors/label-selector.ts'
import { matchesLabels } from '../../../src/storage/selectors/selection.ts'

const objects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { a: 'b' },
  b: { a: 'c', n: '5' },
  c: { 'e.com/n': 'x' },
  d: {},
}

const selected: readonly (readonly [selector: string, names: string])[] = [
  ['', 'a b c d'],
  [' ', 'a b c d'],
  ['a=b', 'a'],
  ['a==b', 'a'],
  [' a = b ', 'a'],
  ['a!=b', 'b c d'],
  ['a in (b, c)', 'a b'],
  [' a  in  ( b , c ) ', 'a b'],
  ['a notin (b,c)', 'c d'],
  ['!a', 'c d'],
  ['! a', 'c d'],
  ['a,n', 'b'],
  ['a,!n', 'a'],
  ['a=', ''],
  ['a!=', 'a b c d'],
  ['a=,x', ''],
  ['a in ()', ''],
  ['a in (,)', ''],
  ['a in (,b)', 'a'],
  ['a in (b,,c)', 'a b'],
  ['n>4', 'b'],
  ['n > 4', 'b'],
  ['n>5', ''],
  ['n<5', ''],
  ['e.com/n', 'c'],
  ['in', ''],
  ['in in (in)', ''],
  ['a=notin', ''],
  ['notin notin (notin)', 'a b c d'],
  ['a=b,a=c', ''],
  ['a!=b,a!=c', 'c d'],
]

const refused: readonly (readonly [selector: string, message: string])[] = [
  ['=b', "found '=', expected: !, identifier, or 'end of string'"],
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['(a)', "found '(', expected: !, identifier, or 'end of string'"],
  ['a=b,', "found '', expected: identifier after ','"],
  ['a=b)', "found ')', expected: ',' or 'end of string'"],
  ['a=value with space', "found 'with', expected: ',' or 'end of string'"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  ['a in (,', "unable to parse requirement: found '', expected: ',', or identifier"],
  ['n gt 4', "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"],
  ['a!b', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ['n>=4', "unable to parse requirement: found '=', expected: identifier"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['!!a', "unable to parse requirement: found '!', expected: identifier"],
  ['!,a', "unable to parse requirement: found ',', expected: identifier"],
  [
    'a<b',
    `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  [
    'a=-',
    `unable to parse requirement: values[0][a]: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
  ],
  [
    'a-',
    `unable to parse requirement: <nil>: Invalid value: "a-": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
  ],
  [
    'E.com/n',
    `unable to parse requirement: <nil>: Invalid value: "E.com/n": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ],
  [
    'k'.repeat(64),
    `unable to parse requirement: <nil>: Invalid value: "${'k'.repeat(64)}": name part must be no more than 63 bytes`,
  ],
]

describe('label selectors', () => {
  it.each(selected)('%j selects %s', (selector, names) => {
    const requirements = parseLabelSelector(selector)
    const found = Object.keys(objects).filter((name) => matchesLabels(requirements, objects[name]!))
    expect(found.join(' ')).toBe(names)
  })

  it.each(refused)('%j is refused', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('takes values in the order of their text, each once', () => {
    expect(parseLabelSelector('z, a in (c,b,c)')).toEqual([
      { key: 'a', operator: 'In', values: ['b', 'c'] },
      { key: 'z', operator: 'Exists', values: [] },
    ])
  })
})
