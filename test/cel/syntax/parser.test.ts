import { describe, expect, test } from 'vitest'
import { issuesText } from '../../../src/cel/syntax/issues.ts'
import { standardMacros } from '../../../src/cel/syntax/macros.ts'
import { parse, parseInSteps } from '../../../src/cel/syntax/parse.ts'
import fc from '../../chance.ts'
import recorded from '../../fixtures/cel-cases.json' with { type: 'json' }

const parsed = (text: string) => parse(text, { macros: standardMacros, optionalSyntax: true })
const START =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** As cel-go 0.26 words them: place, message. */
const wrong: Readonly<Record<string, readonly string[]>> = {
  '"a" \'b\'': ["1:5: Syntax error: extraneous input ''b'' expecting <EOF>"],
  'a b': ["1:3: Syntax error: extraneous input 'b' expecting <EOF>"],
  '0xg == 1': ["1:2: Syntax error: mismatched input 'xg' expecting <EOF>"],
  '[1, 2': ["1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  '(((((true': ["1:10: Syntax error: mismatched input '<EOF>' expecting ')'"],
  'true ? false ? 1 : 2 : 3': ["1:14: Syntax error: mismatched input '?' expecting ':'"],
  'self.': ["1:6: Syntax error: no viable alternative at input '.'"],
  '..': ["1:2: Syntax error: no viable alternative at input '..'"],
  'a +': [`1:4: Syntax error: mismatched input '<EOF>' expecting ${START}`],
  'Object{': ["1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"],
  $x: ["1:1: Syntax error: token recognition error at: '$'"],
  "a = 'x'": [
    "1:3: Syntax error: token recognition error at: '= '",
    "1:5: Syntax error: extraneous input ''x'' expecting <EOF>",
  ],
  "'abc": [
    "1:1: Syntax error: token recognition error at: ''abc'",
    `1:5: Syntax error: mismatched input '<EOF>' expecting ${START}`,
  ],
  '9223372036854775808': ['1:1: invalid int literal'],
  '18446744073709551616u': ['1:1: invalid uint literal'],
  'for == 1': ['1:1: reserved identifier: for'],
  'a.`b`': ["1:3: unsupported syntax: '`'"],
  'has(a.`b`)': ["1:7: unsupported syntax: '`'"],
  "a.?'b'": [
    "1:4: Syntax error: mismatched input ''b'' expecting {IDENTIFIER, ESC_IDENTIFIER}",
    '1:4: unsupported ident kind',
  ],
  'has(a)': ['1:5: invalid argument to has() macro'],
  '[1].all(1, true)': ['1:9: argument must be a simple name'],
  '[1].map(x.y, 1)': ['1:10: argument is not an identifier'],
}

describe('what cannot be parsed', () => {
  test.each(Object.entries(wrong))('%s', (text, messages) => {
    const { tree, issues } = parsed(text)
    expect(tree).toBeUndefined()
    const lines = issuesText(text, issues).split('\n')
    expect(lines.filter((line) => line.startsWith('ERROR: '))).toEqual(
      messages.map((message) => `ERROR: <input>:${message}`),
    )
  })

  test('the mark stands under the place, and is wide under wide characters', () => {
    expect(issuesText('é', parsed('é').issues).split('\n').slice(0, 3)).toEqual([
      "ERROR: <input>:1:1: Syntax error: token recognition error at: 'é'",
      ' | é',
      ' | ＾',
    ])
  })

  test('nesting and size are bounded', () => {
    const deep = `${'('.repeat(300)}1${')'.repeat(300)}`
    expect(issuesText(deep, parsed(deep).issues)).toBe('ERROR: <input>:-1:0: expression recursion limit exceeded: 250')
    const long = 'a'.repeat(100_001)
    expect(issuesText(long, parsed(long).issues)).toBe(
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    )
  })
})

test('chains of && and || become trees of least depth', () => {
  const depth = (node: unknown): number =>
    typeof node === 'object' && node !== null && 'args' in node && Array.isArray(node.args) // a call node
      ? 1 + Math.max(...node.args.map(depth))
      : 0
  const { tree } = parsed(Array.from({ length: 64 }, (_, index) => `a${index}`).join(' && '))
  expect(depth(tree?.root)).toBe(6)
})

describe('a parse that yields', () => {
  const options = { macros: standardMacros, optionalSyntax: true }
  const texts = [
    ...Object.values(recorded).flatMap((cases) => cases.map(([text]) => text as string)),
    ...Object.keys(wrong),
  ]

  /** Yields after each part of the text. */
  function inSteps(text: string): { outcome: unknown; runs: number } {
    const steps = parseInSteps(text, options, 0)
    for (let runs = 1; ; runs++) {
      const { done, value } = steps.next(true)
      if (done === true) return { outcome: value, runs }
    }
  }

  test('comes to the tree and the messages of one that does not', () => {
    for (const text of texts) expect(inSteps(text).outcome, text).toEqual(parsed(text))
  })

  test('does so with mistakes in any place', () => {
    const pieces = [
      'a',
      '1',
      "'x'",
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '?',
      '.',
      '||',
      '&&',
      '==',
      '+',
      '-',
      '!',
      '$',
    ]
    const more = ['[1].map(x, x)', 'has(a.b)', 'a.?b.optMap(v, v)', '{1: 2}', 'f(1, 2)', 'for', 'a.b.c', 'A{b: 1}', ' ']
    const text = fc.array(fc.constantFrom(...pieces, ...more, ...texts), { maxLength: 40 })
    fc.assert(
      fc.property(text, (parts) => {
        expect(inSteps(parts.join(' ')).outcome).toEqual(parsed(parts.join(' ')))
      }),
    )
  })

  test('yields more often, the longer the text is', () => {
    const { runs } = inSteps(`[${Array(200).fill('[1, 2]').join(', ')}]`)
    expect(runs).toBeGreaterThan(200)
  })
})
