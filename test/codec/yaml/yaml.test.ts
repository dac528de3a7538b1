import { describe, expect, it, test } from 'vitest'
import fc from '../../chance.ts'
import type { Json } from '../../../src/api/object.ts'
import { parseYaml, parseYamlBytes, YamlError } from '../../../src/codec/yaml/yaml.ts'
import { goFloat } from '../../../src/go/float.ts'
import { yamlText } from '../../../src/codec/yaml/text.ts'

const read = (text: string) => parseYaml(text).tree

describe('scalars', () => {
  test.each<[string, Json]>([
    ['yes', true],
    ['Off', false],
    ['n', false],
    ['~', null],
    ['', null],
    ['010', 8],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b101', 5],
    ['1_000', 1000],
    ['+5', 5],
    ['09', 9],
    ['1e3', 1000],
    ['1e18', 1000000000000000000n],
    ['1e19', 1e19],
    ['-2.0', -2],
    ['1.50', 1.5],
    ['.5', 0.5],
    ['9007199254740993', 9007199254740993n],
    ['2001-06-01', '2001-06-01'],
    ['1:30', '1:30'],
    ['"yes"', 'yes'],
    ["'5'", '5'],
    ['!!str 5', '5'],
    ['!!float 5', 5],
    ['!mine 5', '5'],
    ['!!binary aGVsbG8=', 'hello'],
    ['|\n  a\n  b\n', 'a\nb\n'],
    ['>\n  a\n  b\n', 'a b\n'],
    ['a\n  b', 'a b'],
  ])('%j is %j', (text, value) => {
    expect(read(`k: ${text}`)).toEqual({ k: value })
  })
})

describe('documents', () => {
  it('reads the first and nothing after it', () => {
    expect(read('a: 1\n---\nb: [\n')).toEqual({ a: 1 })
    expect(read('---\na: 1\n...\n}')).toEqual({ a: 1 })
    expect(read('---\n---\na: 1')).toBeNull()
    expect(read('# nothing\n')).toBeNull()
    expect(read('')).toBeNull()
  })

  it('sorts names and makes text of them', () => {
    expect(JSON.stringify(read('b: 1\ntrue: 2\n1.5: 3\nA: 4'))).toBe('{"1.5":3,"A":4,"b":1,"true":2}')
  })

  it('merges, later members over earlier ones', () => {
    expect(read('x: &x {a: 1, b: 2}\nz:\n  b: 3\n  <<: *x\n  a: 4')).toEqual({ x: { a: 1, b: 2 }, z: { a: 4, b: 2 } })
    expect(read('z:\n  <<: [{a: 1}, {a: 2, b: 2}]')).toEqual({ z: { a: 1, b: 2 } })
  })

  it('copies what an alias names', () => {
    const { a, b } = read('a: &x {k: [1]}\nb: *x') as { a: object; b: object }
    expect(b).toEqual(a)
    expect(b).not.toBe(a)
  })

  it('reads UTF-16 and drops a byte order mark', () => {
    expect(parseYamlBytes(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).tree).toBe('a')
    expect(parseYamlBytes(new Uint8Array([0xff, 0xfe, 0x61, 0x00])).tree).toBe('a')
    expect(() => parseYamlBytes(new Uint8Array([0x61, 0xff]))).toThrow('yaml: invalid leading UTF-8 octet')
  })
})

test('a repeated key is reported with the line of its value', () => {
  const { tree, duplicates } = parseYaml('a: 1\nb:\n  x: 1\n  x:\n    z: 2\na: 2\ny: 1\ny: 2\n1: a\n1: b\n')
  expect(tree).toEqual({ '1': 'b', a: 2, b: { x: { z: 2 } }, true: 2 })
  expect(duplicates).toEqual([
    'line 5: key "x" already set in map',
    'line 6: key "a" already set in map',
    'line 8: key true already set in map',
    'line 10: key 1 already set in map',
  ])
})

test.each([
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['a: [1', "yaml: line 1: did not find expected ',' or ']'"],
  ['{a: 1', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: 1\n b: [x\n', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['a: 1\nb: x: y', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: @x', 'yaml: found character that cannot start any token'],
  ['a:\n\t- b', 'yaml: line 2: found character that cannot start any token'],
  ['a: 1\n- b', 'yaml: line 1: did not find expected key'],
  ['- a\nb: c', "yaml: line 1: did not find expected '-' indicator"],
  ['a: 1\nb: "x', 'yaml: line 2: found unexpected end of stream'],
  ['a: *x', "yaml: unknown anchor 'x' referenced"],
  ['a: &x [*x]', "yaml: anchor 'x' value contains itself"],
  ['%YAML 1.2\n---\na: 1', 'yaml: found incompatible YAML document'],
  ['a: !!int x', 'yaml: cannot decode !!str `x` as a !!int'],
  ['a: !!binary "*"', 'yaml: !!binary value contains invalid base64 data'],
  ['<<: 5', 'yaml: map merge requires map or sequence of maps as the value'],
  ['[a]: 5', 'yaml: invalid map key'],
  ['a: .inf', 'json: unsupported value: +Inf'],
  ['a: "\u0000"', 'yaml: control characters are not allowed'],
  ['a: 1\nb: "\u0001"', 'yaml: control characters are not allowed'],
])('%j is refused', (text, message) => {
  expect(() => parseYaml(text)).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }))
  expect(() => parseYaml(text)).toThrow(YamlError)
})

describe('bombs', () => {
  test('of aliases', () => {
    const levels = ['a: &a [x,x,x,x,x,x,x,x,x,x]']
    for (let i = 1; i < 9; i++) {
      const before = `*${String.fromCharCode(96 + i)}`
      levels.push(
        `${String.fromCharCode(97 + i)}: &${String.fromCharCode(97 + i)} [${Array(10).fill(before).join(',')}]`,
      )
    }
    expect(() => parseYaml(levels.join('\n'))).toThrow('yaml: document contains excessive aliasing')
  })

  test.each([
    ['a long text', `a: &a ${'x'.repeat(1_000)}\nb: [${'*a,'.repeat(70)}]`],
    ['a list', `a: &a [${'x,'.repeat(1_000)}]\nb: [${'*a,'.repeat(25)}]`],
    [
      'a map of its members',
      `a: &a {${Array.from({ length: 1_000 }, (_, n) => `k${n}: `)}}\nb: [${'{<<: *a},'.repeat(25)}]`,
    ],
    ['a name', `? &a ${'x'.repeat(1_000)}\n: [${'{*a : 1},'.repeat(70)}]`],
  ])('of aliases of %s', (_, text) => {
    expect(() => parseYaml(text)).toThrow('yaml: aliases add more than 65536 characters')
  })

  test('a long document may have as many characters again by its aliases', () => {
    const text = (times: number) => `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(times)}]`
    expect(parseYaml(text(1)).tree).toMatchObject({ b: ['x'.repeat(100_000)] })
    expect(() => parseYaml(text(2))).toThrow(/^yaml: aliases add more than 10\d{4} characters$/)
  })

  test('of depth', () => {
    expect(() => parseYaml('['.repeat(5000))).toThrow('yaml: exceeded max depth of 10000')
    expect(() => parseYaml('- '.repeat(5000) + 'a')).toThrow('yaml: exceeded max depth of 10000')
  })
})

describe('text', () => {
  test.each<[Json, string]>([
    [{ b: 1, a: [] }, 'a: []\nb: 1\n'],
    [{ a: {} }, 'a: {}\n'],
    [{ a: [1, { b: 2, c: [3] }, [4, [5]]] }, 'a:\n- 1\n- b: 2\n  c:\n  - 3\n- - 4\n  - - 5\n'],
    [[], '[]\n'],
    ['x', 'x\n'],
    [null, 'null\n'],
    [
      { a: null, b: true, c: 1.5, d: 9007199254740993n, e: 1e21 },
      'a: null\nb: true\nc: 1.5\nd: 9007199254740993\ne: 1e+21\n',
    ],
    [
      { a: '', b: 'yes', c: '5', d: '1e3', e: '~', f: '2001-06-01', g: '1:30' },
      'a: ""\nb: "yes"\nc: "5"\nd: "1e3"\ne: "~"\nf: "2001-06-01"\ng: "1:30"\n',
    ],
    [{ a: 'b: c', d: 'x #y', e: "it's", f: '- x', g: '@x' }, "a: 'b: c'\nd: 'x #y'\ne: it's\nf: '- x'\ng: '@x'\n"],
    [{ a: ' x', b: 'x ', c: "' y" }, "a: ' x'\nb: 'x '\nc: ''' y'\n"],
    [{ a: 'x\ny', b: 'x\n', c: 'x\n\n', d: ' x\ny' }, 'a: |-\n  x\n  y\nb: |\n  x\nc: |+\n  x\n\nd: |2-\n   x\n  y\n'],
    [{ a: 'x\n\n  y\n' }, 'a: |\n  x\n\n    y\n'],
    [{ a: 'x \ny', b: '\t', c: '😀', d: '\u00e9' }, 'a: "x \\ny"\nb: "\\t"\nc: "\\U0001F600"\nd: é\n'],
    [{ a10: 1, a9: 2, a: 3, B: 4, 'a-b': 5, aB: 6 }, 'B: 4\na: 3\na-b: 5\na9: 2\na10: 1\naB: 6\n'],
    [{ ['k'.repeat(129)]: 1 }, `? ${'k'.repeat(129)}\n: 1\n`],
    [{ 'a\nb': 1 }, '? |-\n  a\n  b\n: 1\n'],
    [{ a: undefined, b: 1 } as unknown as Json, 'b: 1\n'],
  ])('%j', (value, text) => {
    expect(yamlText(value)).toBe(text)
  })

  it('folds after 80 columns', () => {
    const words = Array(30).fill('word').join(' ')
    expect(yamlText({ a: words })).toBe(`a: ${words.slice(0, 79)}\n  ${words.slice(80)}\n`)
  })

  test.each([
    [0.5, '0.5'],
    [1e-7, '1e-07'],
    [1234567.5, '1.2345675e+06'],
    [123456.5, '123456.5'],
    [1e21, '1e+21'],
  ])('%d', (value, text) => {
    expect(goFloat(value)).toBe(text)
  })
})

test('written YAML is read again as the same', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.stringMatching(/^[-a-z0-9:#'" \n\t?{}[\],&*!|>%@`~.+=<_]*$/),
  )
  const { value } = fc.letrec<{ value: Json; text: string }>((tie) => ({
    text,
    value: fc.oneof(
      { depthSize: 'small' },
      tie('text'),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(tie('text'), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ) as fc.Arbitrary<Json>,
  }))
  fc.assert(
    fc.property(value, (value) => {
      expect(read(yamlText({ value }))).toEqual({ value })
    }),
    { numRuns: 300 },
  )
})

test('any text is read or refused with a YamlError', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[-ab:#'" \n\t?{}[\],&*!|>%@~.<]{0,40}$/), (text) => {
      try {
        parseYaml(text)
      } catch (error) {
        expect(error).toBeInstanceOf(YamlError)
      }
    }),
    { numRuns: 500 },
  )
})

test('a document of more nodes than the parser can read in a moment is refused while it is read', () => {
  const nodes = (n: number) => `[${'a,'.repeat(n)}]`
  expect(parseYaml(nodes(100_000)).tree).toHaveLength(100_000)
  for (const document of [nodes(150_001), `a: ${nodes(150_001)}`, '- a\n'.repeat(150_001)])
    expect(() => parseYaml(document)).toThrow('yaml: more than 150000 nodes')
})
