/**
 * Makes test/fixtures/cel-cases.json: node test/cel/generate-cases.mjs ORACLE. Expressions are combined from operands and operators along
 * the sections of cel-spec's conformance suite; ORACLE is a program that reads lines of {"expr"} and answers each with
 * what cel-go says in kube-apiserver's environment: {"compile"} or {"type", "string", "cost", "error"}.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const product = (...lists) =>
  lists.reduce((rows, list) => rows.flatMap((row) => list.map((one) => [...row, one])), [[]])
const shown = (value) => `'%s'.format([${value}])`

const ints = ['0', '1', '-1', '7', '-3', '9223372036854775807', '-9223372036854775808']
const uints = ['0u', '1u', '7u', '18446744073709551615u']
const doubles = ['0.0', '-1.5', '2.5', '1e300', '9007199254740993.0', 'double("NaN")', 'double("-Infinity")']
const texts = ['""', '"a"', '"abc"', '"Ünï☃𝛼"', "'x\\ny'"]
const bytes = ['b""', 'b"abc"', "b'\\xff'"]
const times = ['timestamp("2024-02-29T12:34:56.789Z")', 'timestamp("1969-12-31T23:59:59-08:00")', 'timestamp(0)']
const durations = ['duration("1h30m")', 'duration("-1.5s")', 'duration("0")']
const lists = ['[]', '[1, 2, 3]', '["a", "b"]', '[[1], []]']
const maps = ['{}', '{"a": 1, "b": 2}', '{1: "x"}', '{true: [1]}']
const types = ['int', 'string', 'list', 'type', 'null_type', 'google.protobuf.Timestamp']
const all = [
  ...ints,
  ...uints,
  ...doubles,
  ...texts,
  ...bytes,
  'true',
  'false',
  'null',
  ...times,
  ...durations,
  ...lists,
  ...maps,
  ...types,
]
const few = ['1', '2u', '2.0', '"a"', 'b"a"', 'true', 'null', times[0], durations[0], '[1]', '{"a": 1}', 'int']
const zones = ['', '"UTC"', '"America/New_York"', '"-03:30"', '"Asia/Kathmandu"', '"Nowhere"', '"5"']
const parts = [
  'FullYear',
  'Month',
  'Date',
  'DayOfMonth',
  'DayOfWeek',
  'DayOfYear',
  'Hours',
  'Minutes',
  'Seconds',
  'Milliseconds',
]
const outcomes = ['true', 'false', '(1 / 0 > 0)', '({}["a"] == 1)']

const groups = {
  'literals evaluate to themselves': [...all.map(shown), ...all.map((one) => `type(${one}) == ${one}`)],
  'arithmetic of numbers': [ints, uints, doubles].flatMap((pool) =>
    product(pool, ['+', '-', '*', '/', '%'], pool).map(([a, op, b]) => `${a} ${op} ${b}`),
  ),
  'arithmetic of others': product(few, ['+', '-', '*'], few).map(([a, op, b]) => `${a} ${op} ${b}`),
  negation: [...ints, ...uints, ...doubles, ...few].flatMap((one) => [`-(${one})`, `!(${one})`, `!!${one}`]),
  'equality across types': product(few, ['==', '!='], few).map(([a, op, b]) => `dyn(${a}) ${op} dyn(${b})`),
  'equality within types': [ints, uints, doubles, texts, bytes, times, durations, lists, maps, types].flatMap((pool) =>
    product(pool, pool).map(([a, b]) => `${a} == ${b}`),
  ),
  'order of numbers': product(
    ['1', '2u', '2.5', '-1', '18446744073709551615u', '9223372036854775807', 'double("NaN")'],
    ['<', '<=', '>', '>='],
    ['1', '2u', '2.5', '9223372036854775807', '1e300'],
  ).map(([a, op, b]) => `${a} ${op} ${b}`),
  'order of others': [texts, bytes, times, durations, ['true', 'false']].flatMap((pool) =>
    product(pool, ['<', '>='], pool).map(([a, op, b]) => `${a} ${op} ${b}`),
  ),
  'order of what has none': product(few, few).map(([a, b]) => `dyn(${a}) < dyn(${b})`),
  membership: product(['1', '1.0', '1u', '"a"', 'null', 'dyn([1])'], [...lists, ...maps, '"abc"']).map(
    ([a, b]) => `dyn(${a}) in dyn(${b})`,
  ),
  conversions: product(
    ['int', 'uint', 'double', 'string', 'bytes', 'bool', 'duration', 'timestamp', 'type', 'dyn'],
    [
      ...all,
      '"12"',
      '"-7"',
      '"1e3"',
      '"true"',
      '"T"',
      '"0x1"',
      '"1h"',
      '"2020-01-01T00:00:00Z"',
      '1e19',
      '-1e19',
      '1.9',
      '-1.9',
    ],
  ).map(([to, from]) => shown(`${to}(${from})`)),
  logic: [
    ...product(outcomes, ['&&', '||'], outcomes).map(([a, op, b]) => `${a} ${op} ${b}`),
    ...product(outcomes, outcomes, outcomes).map(([a, b, c]) => `${a} ? ${b} : ${c}`),
    ...product(outcomes, outcomes, outcomes).map(([a, b, c]) => `${a} && ${b} || ${c}`),
    ...product(['1', '"a"', 'null', 'dyn(1)'], ['&&', '||']).map(([a, op]) => `${a} ${op} true`),
  ],
  'size and indexes': [
    ...all.map((one) => `size(${one})`),
    ...all.map((one) => `${one}.size()`),
    ...product([...lists, ...maps, '"abc"'], ['0', '3', '-1', '1u', '1.0', '0.5', '"a"', 'true', 'null']).map(
      ([of, at]) => shown(`dyn(${of})[dyn(${at})]`),
    ),
  ],
  fields: product(
    ['{"a": {"b": 1}}', '{"a": null}', '{}', 'dyn(1)', '{"a": [1]}'],
    ['.a', '.a.b', '.b', '.?a.?b.orValue(7)', '.a[?0].orValue(7)'],
  ).flatMap(([of, path]) => [
    shown(of + path),
    ...(path.includes('?') || path.includes('[') ? [] : [`has(${of}${path})`]),
  ]),
  macros: product(
    ['[]', '[1, 2, 3]', '[0, 1]', '{"a": 1}', 'dyn([1, 2])', '"abc"'],
    [
      'all(x, x > 0)',
      'exists(x, x > 1)',
      'exists_one(x, x == 1)',
      'all(x, 1 / x > 0)',
      'exists(x, 1 / x > 0)',
      'map(x, x)',
      'map(x, x > 0, x * 2)',
      'filter(x, x != 1)',
      'filter(x, 10 / x > 1)',
      'all(x, y)',
      'all(x.y, true)',
      'map(x, x, x, x)',
    ],
  ).map(([of, macro]) => shown(`${of}.${macro}`)),
  'macros of two variables': product(
    ['[]', '[5, 6]', '{"a": 1}', 'dyn(1)'],
    [
      'all(i, v, v > 0)',
      'exists(i, v, v > 5)',
      'existsOne(i, v, v == 5)',
      'transformList(i, v, v)',
      'transformList(i, v, v > 5, i)',
      'transformMap(i, v, v)',
      'transformMap(i, v, v == 1, v)',
      'transformMapEntry(i, v, {v: i})',
      'transformMapEntry(i, v, {1: i})',
      'all(i, i, true)',
    ],
  ).map(([of, macro]) => shown(`${of}.${macro}`)),
  'strings by themselves': product(texts, [
    'lowerAscii()',
    'upperAscii()',
    'trim()',
    'size()',
    'charAt(0)',
    'charAt(9)',
    'split("")',
    'split("b")',
    'split("b", 1)',
    'substring(1)',
    'substring(1, 2)',
    'substring(2, 1)',
    'replace("a", "")',
    'replace("", "-")',
    'replace("", "-", 2)',
    'indexOf("b")',
    'indexOf("", 2)',
    'lastIndexOf("c")',
    'lastIndexOf("", 1)',
    'startsWith("a")',
    'endsWith("c")',
    'contains("b")',
    'find("[b-c]+")',
    'findAll("[a-z]")',
    'findAll("[a-z]", 1)',
  ]).map(([of, call]) => shown(`${of}.${call}`)),
  'strings and others': [
    'join',
    'sum',
    'min',
    'max',
    'isSorted',
    'reverse',
    'distinct',
    'sort',
    'flatten',
    'first',
    'last',
  ].flatMap((call) =>
    [...lists, '[3, 1, 2]', '["b", "a"]', '[1.5, 0.5]', '[[1, [2]], [3]]', '[duration("1s"), duration("2s")]'].map(
      (of) => shown(`${of}.${call}()`),
    ),
  ),
  'quotation marks': [
    `strings.quote("a\\"b\\n")`,
    `strings.quote("☃\\u0007")`,
    '"a" + \'b\'',
    `"""a"b\n"""`,
    `r"\\n"`,
    `b"\\u00ff"`,
    `"\\u00ff\\U0001f600\\x41\\101"`,
    `"\\q"`,
    `"\\ud800"`,
    `b"\\400"`,
    `'a`,
    `"\\8"`,
  ],
  patterns: product(
    ['"abc"', '"ÄÖ"', '"a\\nb"', '""'],
    [
      '"^a"',
      '"b$"',
      '"(?i)ÄÖ"',
      '"a.b"',
      '"(?s)a.b"',
      '"\\\\pL+"',
      '"("',
      '"a{1001}"',
      '"(?=a)"',
      '"[[:alpha:]]+"',
      '"\\\\C"',
    ],
  ).map(([of, pattern]) => `${of}.matches(${pattern})`),
  'parts of times': product(times, parts, zones).map(([of, part, zone]) => `${of}.get${part}(${zone})`),
  'parts of durations': product(durations, ['Hours', 'Minutes', 'Seconds', 'Milliseconds']).map(
    ([of, part]) => `${of}.get${part}()`,
  ),
  'times and durations': product(
    [...times, 'timestamp("9999-12-31T23:59:59Z")', 'timestamp("0001-01-01T00:00:00Z")'],
    ['+', '-'],
    [...durations, 'duration("1ns")', 'duration("-1s")', times[0]],
  ).map(([a, op, b]) => shown(`${a} ${op} ${b}`)),
  'texts of times': [
    '2024-02-30T00:00:00Z',
    '2024-02-29T24:00:00Z',
    '2024-02-29t00:00:00z',
    '2024-02-29T00:00:00',
    '2024-02-29T00:00:00.1234567891Z',
    '2024-02-29T00:00:00+23:59',
    '0000-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
    '2024-2-9T00:00:00Z',
  ].map((text) => `string(timestamp(dyn('${text}')))`),
  'texts of durations': [
    '1',
    '1h1h',
    '-1h-1m',
    '.5s',
    '1.s',
    '1us1µs',
    '9223372036s',
    '9223372037s',
    '1d',
    '+5m',
    ' 1s',
    '1e3s',
  ].map((text) => `string(duration(dyn('${text}')))`),
  optionals: product(
    [
      'optional.none()',
      'optional.of(1)',
      'optional.ofNonZeroValue(0)',
      'optional.ofNonZeroValue("a")',
      '{"a": 1}.?a',
      '{}.?a',
      '[1][?0]',
      '[1][?5]',
      'optional.of(optional.none())',
    ],
    [
      '.hasValue()',
      '.value()',
      '.orValue(dyn(7))',
      '.or(optional.of(dyn(9))).value()',
      '.optMap(x, [x]).hasValue()',
      '.optFlatMap(x, optional.of([x])).hasValue()',
      ' == optional.none()',
      ' == optional.of(1)',
    ],
  ).map(([of, call]) =>
    shown(`dyn(${of})${call}`).replace('dyn(opt', '(opt').replace('dyn({', '({').replace('dyn([', '(['),
  ),
  'optional entries': [
    '[?optional.none(), 1]',
    '[?optional.of(2), 1]',
    '{?"a": optional.none(), "b": 1}',
    '{?"a": optional.of(2)}',
    '[?1]',
    '{?"a": 1}',
    '[optional.of(1)].unwrapOpt()',
    '[].first()',
    '[1].last().value()',
    'type(optional.of(1)) == optional_type',
  ].map(shown),
  'forms of numbers': [
    '0x1F',
    '-0x8000000000000000',
    '0x8000000000000000',
    '9223372036854775808',
    '1e3',
    '1.',
    '.5',
    '1e',
    '0b1',
    '1_000',
    '0xFFu',
    '1uL',
    '18446744073709551616u',
    '1e400',
    '00',
    '-0.0',
    '1.e5',
  ],
  'what is no expression': [
    '',
    ' ',
    '1 +',
    '(1',
    '1)',
    '[1,',
    '{1}',
    '{1:}',
    'a b',
    '1 ? 2',
    '1 = 1',
    'a.1',
    '.a',
    'a.',
    'in',
    'true false',
    '1 // c',
    '// c',
    '1 /* c */',
    'a[',
    '!',
    '--1',
    '1 in',
    'for',
    'a.for',
    '@a',
    'a`b`',
    '#',
    'has(1)',
    'has(a)',
    'x.all(1, true)',
    '[1].all()',
    'if(1)',
    'dyn()',
    'size()',
    'nope(1)',
    '1.nope()',
    'int(1, 2)',
    '[1, "a"]',
    '{"a": 1, 2: 2}',
    '[1, null]',
    'Nope{}',
  ],
  precedence: [
    '1 + 2 * 3 - 4 / 2 % 3',
    '-2 * -3',
    '!true || true',
    '1 < 2 == true',
    '1 + 1 == 2 && 2 > 1 || false',
    'true ? false ? 1 : 2 : 3',
    '(1 + 2) * 3',
    '[1, 2][0] + {"a": 3}.a',
    '-[1][0]',
    '"a" + "b" in ["ab"]',
    '1 - 1 - 1',
    '2 - -2',
    '8 / 4 / 2',
    'true || 1 / 0 > 1',
    'false && (1 / 0 > 1)',
    '1 > 0 ? "y" : 1 / 0 > 0 ? "z" : "w"',
  ],
}

const asked = Object.values(groups).flat()
const output = execFileSync(process.argv[2], {
  input: asked.map((expr) => JSON.stringify({ expr })).join('\n'),
  maxBuffer: 2 ** 28,
})
const answers = new Map(
  output
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((one) => [one.expr, one]),
)

const answerOf = (expr) => {
  const { compile, program, error, string, type, cost, panic } = answers.get(expr)
  if (panic !== undefined) return undefined
  if (compile !== undefined) return [expr, { refused: compile }]
  if (program !== undefined) return [expr, { program }]
  return [
    expr,
    error === undefined ? { type, ...(string === undefined ? {} : { text: string }), cost } : { type, error, cost },
  ]
}
const lines = Object.entries(groups).map(([group, exprs]) => {
  const cases = [...new Set(exprs)].map(answerOf).filter((one) => one !== undefined)
  return `${JSON.stringify(group)}: [\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]`
})
writeFileSync(new URL('../fixtures/cel-cases.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
