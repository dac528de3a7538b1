// Our searches find the same matches as re2js's own, in one run and in steps.
import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { PatternProgram } from '../../src/go/pattern-program.ts'
import { allMatches, firstMatch, MatchSearch } from '../../src/go/pattern-search.ts'
import chance from '../chance.ts'

const programOf = (pattern: string): PatternProgram => new PatternProgram(RE2JS.compile(pattern))

function isFound(program: PatternProgram, text: string, units = Infinity): boolean {
  const search = new MatchSearch(program, text)
  for (;;) {
    const found = search.goOn(units)
    if (found !== undefined) return found
  }
}

function firstOf(pattern: string, text: string): readonly [number, number] | undefined {
  const matcher = RE2JS.compile(pattern).matcher(text)
  return matcher.find() ? [matcher.start(), matcher.end()] : undefined
}

/** The test tries each atom alone, and nested in each other. */
const atoms = ['a', 'b', 'ab', '.', '[ab]', '[^a]', String.raw`\b`, String.raw`\B`, '^', '$', String.raw`\n`, '(?m:^)', '(?m:$)', String.raw`\w`, String.raw`\d`, '(?i:k)', 'é', String.raw`\pL`, '😀', String.raw`\z`, String.raw`\A`, '(?s:.)'] // prettier-ignore
const repetitions = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?']
const { pattern: patterns } = chance.letrec<{ pattern: string }>((tie) => ({
  pattern: chance.oneof(
    { depthSize: 'small' },
    chance.constantFrom(...atoms),
    chance.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    chance.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    chance.tuple(tie('pattern'), chance.constantFrom(...repetitions)).map(([a, times]) => `(?:${a})${times}`),
    tie('pattern').map((a) => `(${a})`),
  ),
}))
const texts = chance
  .array(chance.constantFrom('a', 'b', 'c', '\n', ' ', 'k', 'K', '\u212a', 'é', '😀', '\ud83d', '1', '_', '\ude00'), {
    maxLength: 14,
  })
  .map((characters) => characters.join(''))

test('finds the same matches as re2js', () =>
  chance.assert(
    chance.property(patterns, chance.array(texts, { minLength: 1, maxLength: 5 }), (pattern, several) => {
      const program = programOf(pattern)
      for (const text of several) {
        const first = firstOf(pattern, text)
        expect(isFound(program, text)).toBe(first !== undefined)
        expect(isFound(program, text, 1)).toBe(first !== undefined)
        expect(firstMatch(program, text, 0, () => {})).toEqual(first)
      }
    }),
    { numRuns: 1500 },
  ))

const TEXT = Array.from({ length: 3000 }, (_, at) => ((at * 7919) % 101 < 50 ? 'a' : 'b')).join('')

// these automata have more states than the cache keeps, so the search falls back to running the instructions
test.each(['(?:a|b)*a(?:a|b){300}c', '[ab]{400}c', '(?:[ab]?){300}c', 'a[ab]{300}a', String.raw`\b[ab]{900}$`])(
  '%s in a long text',
  (pattern) => {
    const program = programOf(pattern)
    for (const text of [TEXT, `${TEXT}c`, `x${TEXT}`]) {
      const wanted = firstOf(pattern, text) !== undefined
      expect(isFound(program, text)).toBe(wanted)
      expect(isFound(program, text, 100)).toBe(wanted)
    }
  },
)

describe('the cost of a search', () => {
  const unitsOf = (pattern: string, text: string): number => {
    const search = new MatchSearch(programOf(pattern), text)
    expect(search.goOn(1e9)).toBe(false)
    return search.spent
  }

  test.each(['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', String.raw`(?i)host\.(com|org)\b`, '[a-w]+x'])(
    'a look for each character: %s',
    (pattern) => expect(unitsOf(pattern, 'a'.repeat(20_000) + '.')).toBeLessThan(25_000),
  )

  test.each(['[ab]{1000}c', '(?:a|b)*a(?:a|b){300}c'])(
    'no more than each instruction at each character: %s',
    (pattern) => expect(unitsOf(pattern, TEXT)).toBeLessThan(TEXT.length * (programOf(pattern).weight + 4) * 1.5),
  )

  test('it stops where its units end', () => {
    const search = new MatchSearch(programOf('(?:[ab]?){300}c'), TEXT)
    let steps = 0
    for (let before = 0; search.goOn(10_000) === undefined; steps++) {
      expect(search.spent - before).toBeLessThan(12_000)
      before = search.spent
    }
    expect(steps).toBeGreaterThan(50)
  })
})

// expected matches are those of Go 1.25's FindAllString
test.each<[string, string, string[]]>([
  ['a*', 'baaac', ['', 'aaa', '']],
  ['a*?', 'baa', ['', '', '', '']],
  ['', 'abc', ['', '', '', '']],
  ['', 'é😀', ['', '', '']],
  ['a|', 'aab', ['a', 'a', '']],
  ['^a', 'aaa', ['a']],
  ['\\b', 'ab cd', ['', '', '', '']],
  ['a.*b|a', 'aab aa', ['aab', 'a', 'a']],
  ['$', 'ab', ['']],
  ['(?m)^', 'a\nb\n', ['', '', '']],
  ['(?m)$', 'a\n\nb', ['', '', '']],
  ['a{2}', 'aaaaa', ['aa', 'aa']],
  ['(a|ab)(c|bcd)', 'abcd abc', ['abcd', 'abc']],
  ['x*y*', 'xxyyxz', ['xxyy', 'x', '']],
])('all matches of %j in %j', (pattern, text, found) => {
  const matches = allMatches(programOf(pattern), text, Infinity, () => {})
  expect(matches.map(([begin, end]) => text.slice(begin, end))).toEqual(found)
  expect(allMatches(programOf(pattern), text, 1, () => {})).toEqual(matches.slice(0, 1))
})

test('the cost of all matches is counted during the search', () => {
  let left = 100_000
  const spend = (units: number): void => {
    if ((left -= units) < 0) throw new Error('too much')
  }
  expect(() => allMatches(programOf('a.*b|a'), 'a'.repeat(5_000), Infinity, spend)).toThrow('too much')
})
