// An evaluation in steps gives the same value and cost as one without steps, wherever it stops.
import { describe, expect, test } from 'vitest'
import { compile } from '../../src/cel/compile.ts'
import { CostExceeded, STOP } from '../../src/cel/evaluation/frame.ts'
import { asDouble, valueOfJson } from '../../src/cel/values/json-value.ts'
import type { Program, Result } from '../../src/cel/evaluation/program.ts'
import { programOf } from '../../src/cel/evaluation/program.ts'
import { DYN, INT, listOf, mapOf, STRING } from '../../src/cel/checker/type.ts'
import type { Value } from '../../src/cel/values/value.ts'
import { CelError, ListValue, MapValue, Optional } from '../../src/cel/values/value.ts'
import { baseEnvironment } from '../../src/expressions/environments.ts'
import recorded from '../fixtures/cel-cases.json' with { type: 'json' }

const environment = baseEnvironment().extend({
  variables: [
    { name: 'words', type: listOf(STRING) },
    { name: 'numbers', type: listOf(INT) },
    { name: 'labels', type: mapOf(STRING, STRING) },
    { name: 'late', type: DYN },
  ],
})
const values: Readonly<Record<string, Value>> = {
  words: valueOfJson(['a', 'bb', 'ccc', 'bb']),
  numbers: valueOfJson(Array.from({ length: 30 }, (_, n) => n)),
  labels: valueOfJson({ a: '1', b: '2', c: '3' }, asDouble),
}

function programFor(text: string, of = environment): Program {
  const { expression, issues } = compile(text, of)
  if (expression === undefined) throw new Error(issues)
  return programOf(expression, of)
}

/** The value in a form that tests can compare. */
function plain(value: Value): unknown {
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, at) => plain(value.at(at)))
  if (value instanceof MapValue) return [...value.keys()].map((key) => [plain(key), plain(value.get(key)!)])
  if (value instanceof Optional) return { optional: value.value === undefined ? undefined : plain(value.value) }
  if (value instanceof CelError) return { error: value.message }
  return value
}

const shown = ({ value, cost }: Result): unknown => ({ value: plain(value), cost })

function atOnce(program: Program, variables: (name: string) => Value | undefined, limit: number): unknown {
  try {
    return shown(program.run(variables, limit))
  } catch (error) {
    expect(error).toBeInstanceOf(CostExceeded)
    return 'cost exceeded'
  }
}

/** @param units of a step; 0: each item of a fold ends one */
function inSteps(
  program: Program,
  variables: (name: string) => Value | undefined,
  limit: number,
  units = 0,
): { result: unknown; steps: number } {
  const started = program.start(variables, limit)
  for (let steps = 1; ; steps++) {
    if (steps > 100_000) throw new Error('it never ends')
    try {
      const result = started.goOn(units)
      if (result !== undefined) return { result: shown(result), steps }
    } catch (error) {
      expect(error).toBeInstanceOf(CostExceeded)
      return { result: 'cost exceeded', steps }
    }
  }
}

const named = (name: string): Value | undefined => values[name]

const EXPRESSIONS = [
  'words.all(w, w.size() < 4)',
  'words.exists_one(w, w == "a") && numbers.exists(n, n == 20)',
  'numbers.all(n, words.exists(w, w.size() == n % 3 + 1)) ? words.map(w, w + w) : []',
  'numbers.map(n, n % 3 == 0, numbers.filter(m, m < n).size()).sum() + numbers.filter(n, n > 3).size()',
  'labels.all(k, v, k + v != "") && labels.transformMap(k, v, v + k).size() == 3',
  'labels.transformList(k, v, words.map(w, w + k + v))',
  'words.sortBy(w, -w.size())',
  'words.map(w, numbers.filter(n, n < w.size()).map(n, words[n]))',
  'optional.of(words).optMap(v, v.map(w, w + "x")).orValue([])',
  'numbers.all(n, words[n] != "")',
  'words.map(w, words.filter(v, v != w)).map(l, l.size())',
  '[words.map(w, w), words.map(w, [w])[0]].exists(x, x.size() == 4)',
  'lists.range(50).map(i, lists.range(i).map(j, i * j).sum()).filter(s, s > 10).size()',
]

describe('in steps', () => {
  test.each(EXPRESSIONS)('%s', (text) => {
    const program = programFor(text)
    for (const limit of [1_000_000, 20, 57]) {
      const { result, steps } = inSteps(program, named, limit)
      expect(result).toEqual(atOnce(program, named, limit))
      if (limit > 1000) expect(steps).toBeGreaterThan(3)
      expect(inSteps(program, named, limit, 25).result).toEqual(result)
    }
  })

  test('the expressions of cel-go come to their values and costs', () => {
    // expressions, each with what cel-go says of it
    const groups = recorded as unknown as Readonly<Record<string, [text: string][]>>
    let compared = 0
    for (const [text] of Object.values(groups).flat()) {
      const { expression } = compile(text, baseEnvironment())
      if (expression === undefined || !text.includes('.')) continue
      let program: Program
      try {
        program = programOf(expression, baseEnvironment())
      } catch {
        continue
      }
      expect(inSteps(program, named, 1_000_000).result, text).toEqual(atOnce(program, named, 1_000_000))
      compared++
    }
    expect(compared).toBeGreaterThan(500)
  })

  test('a value that a variable binds is paid once, though the step that made it is over', () => {
    const bound = (text: string) => programFor(text)
    const program = bound('numbers.map(n, optional.of(n).optMap(m, [m, m].map(x, x + 1)).orValue([]).size()).sum()')
    expect(inSteps(program, named, 1_000_000).result).toEqual(atOnce(program, named, 1_000_000))
  })

  test('a variable that has to wait ends a step, and is asked for again', () => {
    const program = programFor('words.map(w, [w].map(v, v + late)).size() + [1, 2].map(n, late)[0].size()')
    let asked = 0
    const slow = (name: string): Value | undefined => {
      if (name !== 'late') return values[name]
      if (asked++ % 3 !== 2) throw STOP
      return 'x'
    }
    const { result } = inSteps(program, slow, 1_000_000, 1_000)
    expect(result).toEqual(atOnce(program, (name) => (name === 'late' ? 'x' : values[name]), 1_000_000))
  })

  test('a step does no more than it may, whatever is left to do', () => {
    const program = programFor('lists.range(100).all(i, lists.range(100).all(j, i * j >= 0))')
    const { cost } = program.run(named, 1_000_000)
    const { steps } = inSteps(program, named, 1_000_000, 1_000)
    expect(steps).toBeGreaterThan(cost / 1_100)
    expect(steps).toBeLessThan(cost / 900)
  })
})

describe('calls that do much', () => {
  const wide = valueOfJson(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at])))
  const same = valueOfJson(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at])))
  const wideEnvironment = environment.extend({
    variables: [
      { name: 'wide', type: mapOf(STRING, INT) },
      { name: 'same', type: mapOf(STRING, INT) },
    ],
  })
  const lookUp = (name: string): Value | undefined => (name === 'wide' ? wide : name === 'same' ? same : named(name))
  const of = (call: string, times: number): string => Array.from({ length: times }, () => call).join(' && ')
  // a step's work is ten times its units
  const UNITS = 5_000

  test.each([
    of('wide.size() == 20000', 8),
    of('wide == same', 8),
    '[1, 2, 3, 4, 5, 6].all(n, wide.size() > n && same.size() > n)',
    'optional.of([wide, same]).optMap(both, both[0].size() == 20000 && both[0] == both[1] && both[1].size() + both.size() > 0)',
    'words.all(w, wide.size() > 1) && words.map(w, same.size())[3] + wide.size() > 1',
    'wide.all(k, k != "") && wide.size() == same.size() && same.exists(k, k == "k7")',
    'wide.size() / 0 == 1 || wide == same',
    'optional.of(wide).optMap(x, x.size() + x.size()).orValue(same.size()) == wide.size() + same.size()',
  ])('each ends a step: %s', (text) => {
    const { expression, issues } = compile(text, wideEnvironment)
    if (expression === undefined) throw new Error(issues)
    const program = programOf(expression, wideEnvironment)
    const { result, steps } = inSteps(program, lookUp, 10_000_000, UNITS)
    expect(result).toEqual(atOnce(program, lookUp, 10_000_000))
    expect(steps).toBeGreaterThan(2)
    for (const limit of [60_000, 100_000, 200_000])
      expect(inSteps(program, lookUp, limit, UNITS).result).toEqual(atOnce(program, lookUp, limit))
  })
})
