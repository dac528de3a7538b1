// What the library behind kube-apiserver reads, and other libraries refuse; and the other way round.
import { describe, expect, it, test } from 'vitest'
import fc from '../../chance.ts'
import type { Json } from '../../../src/api/object.ts'
import { parseYaml, YamlError } from '../../../src/codec/yaml/yaml.ts'

const read = (text: string) => parseYaml(text).tree

test.each<[string, Json]>([
  ['k: [\n  a\n]\n', { k: ['a'] }],
  ['k: {\n  a: 1\n}\n', { k: { a: 1 } }],
  ['a:\n  k: [\n    x,\n    z\n  ]\n  l: 1\n', { a: { k: ['x', 'z'], l: 1 } }],
  ['a:\n  k: [\nx,\nz\n]\n  l: 1\n', { a: { k: ['x', 'z'], l: 1 } }],
  ['a:\n- k: {\n  x: 1\n  }\n  l: 2\n', { a: [{ k: { x: 1 }, l: 2 }] }],
  ['a:\n  k: "x\n  y"\n  l: 1\n', { a: { k: 'x y', l: 1 } }],
  ["a:\n- k: 'it''s\n\ny'\n- l\n", { a: [{ k: "it's\ny" }, 'l'] }],
  ['a:\n  k: "x\\\n  y \\"z\n \\\\"\n', { a: { k: 'xy "z \\' } }],
  ['a:\n- - "x\n- y"\n  - z\n', { a: [['x - y', 'z']] }],
  ['"k": [\n] # [\nl: [it\'s,\n"x\ny"]\n', { k: [], l: ["it's", 'x y'] }],
  ['k: !!str "x\ny"\nl: &b [\n1\n]\nm: *b\n', { k: 'x y', l: [1], m: [1] }],
  ['k: {"a":"b\nc","d":[\n{}\n]\n}\n', { k: { a: 'b c', d: [{}] } }],
  ['k: [http://x/a:b,\nc: "d\ne"]\n', { k: ['http://x/a:b', { c: 'd e' }] }],
  ['k: "a\r\nb"\r\nl: |\r\n  c\r\n', { k: 'a b', l: 'c\n' }],
  ['k: [a, b\nc\n# ]\n]\n', { k: ['a', 'b c'] }],
  ['k: "it\\\'s\n\\\\ \\\'x"\n', { k: "it's \\ 'x" }],
  ['{"k": ["\\\'", \'\\\', "\\\'"]}', { k: ["'", '\\', "'"] }],
  // what looks like them in other scalars is text
  ['k: |\n  "x\n  y\nl: "x\ny"\n', { k: '"x\ny\n', l: 'x y' }],
  ['k: it\'s\n  "so\n  [\nl: [\n]\n', { k: 'it\'s "so [', l: [] }],
  ['- |\n "x\n- >-\n  {\n\n  [\n- [\n]\n', ['"x\n', '{\n[', []]],
])('%j is %j', (text, value) => {
  expect(read(text)).toEqual(value)
})

test.each([
  ['a: "\\/"', 'yaml: found unknown escape character'],
  ['a: "\\\\/"', undefined],
  ['{"a": "\\\\\\/"}', 'yaml: found unknown escape character'],
  ['a:\n  "x\n  y\n  \\/"', 'yaml: line 4: found unknown escape character'],
  ['"a\\/": b', 'yaml: found unknown escape character'],
  ['b: "\\U0001F600"', undefined],
  ['b: "\\uD83D\\uDE00"', 'yaml: found invalid Unicode character escape code'],
  ['a: 1\nb: "\\U00110000"', 'yaml: line 2: found invalid Unicode character escape code'],
])('the escapes of %j', (text, error) => {
  if (error === undefined) expect(() => read(text)).not.toThrow()
  else expect(() => read(text)).toThrow(error)
})

it('names the line of a fault behind them', () => {
  expect(() => read('a: [\n]\nb: "x\ny"\nc: }\n')).toThrow('yaml: line 4: did not find expected node content')
})

it.each(['k: "x\ny', 'k: [\na\n', 'k: [\n}\n', 'k: "x\ny" z\n'])('%j is refused', (text) => {
  expect(() => read(text)).toThrow(YamlError)
})

it('needs no more blanks than the document has characters', () => {
  const lines = (depth: number, count: number) => `${' '.repeat(depth)}- [${'\n1,'.repeat(count)}]`
  expect(read(lines(10, 1_000))).toHaveLength(1)
  expect(() => read(lines(100_000, 100_000))).toThrow(YamlError)
})

describe('any value', () => {
  const words = fc.string({ unit: fc.constantFrom(...'ab:-#\'"[]{},|> é'), maxLength: 8 })
  const leaf = fc.oneof(fc.integer({ min: -9, max: 99 }), fc.boolean(), words)
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ unit: fc.constantFrom(...'abc'), minLength: 1, maxLength: 2 }), tie('value'), {
        maxKeys: 3,
      }),
    ),
  }))

  /** Writes the value in block style; some parts are quoted over several lines, or in brackets, at random columns. */
  function written(node: Json, next: (below: number) => number, indent: number): string {
    const brk = () => `\n${' '.repeat(next(5))}`
    const isFlow = next(3) === 0
    if (typeof node === 'string') return quotedOver(node, next, brk)
    if (node === null || typeof node !== 'object') return String(node)
    if (isFlow || Object.keys(node).length === 0) return flow(node, next, brk)
    const pad = ' '.repeat(indent)
    const parts = Array.isArray(node)
      ? node.map((one) => `${pad}- ${nested(one, next, indent + 2)}`)
      : Object.entries(node).map(([name, one]) => `${pad}"${name}": ${nested(one!, next, indent + 2)}`)
    return `\n${parts.join('\n')}`
  }
  const nested = (node: Json, next: (below: number) => number, indent: number): string => {
    if (typeof node === 'string' && next(3) === 0) return `|-${indent > 0 ? '2' : ''}\n${' '.repeat(indent)}${node}`
    return written(node, next, indent)
  }
  function quotedOver(text: string, next: (below: number) => number, brk: () => string): string {
    // a break stands for one blank between two other characters
    const over = (one: string): string => one.replace(/(?<=[^ ]) (?=[^ #])/g, () => (next(2) === 0 ? brk() : ' '))
    return next(2) === 0 ? `'${over(text.replaceAll("'", "''"))}'` : `"${over(text.replaceAll('"', '\\"'))}"`
  }
  function flow(node: Json, next: (below: number) => number, brk: () => string): string {
    if (typeof node === 'string') return quotedOver(node, next, brk)
    if (node === null || typeof node !== 'object') return String(node)
    const gap = () => (next(2) === 0 ? brk() : '')
    if (Array.isArray(node)) return `[${gap()}${node.map((one) => flow(one, next, brk) + gap()).join(',')}]`
    const members = Object.entries(node).map(([name, one]) => `"${name}": ${flow(one!, next, brk)}${gap()}`)
    return `{${gap()}${members.join(`,${gap()}`)}}`
  }

  it('is read from lines at any column', () => {
    fc.assert(
      fc.property(value, fc.infiniteStream(fc.nat({ max: 1_000 })), (node, chances) => {
        const next = (below: number): number => Number(chances.next().value) % below
        const text = `root: ${written(node, next, 2)}\nlast: 1\n`
        expect(read(text), text).toEqual({ root: node, last: 1 })
      }),
      { numRuns: 2_000 },
    )
  })
})
