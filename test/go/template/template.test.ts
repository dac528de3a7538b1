import { describe, expect, test } from 'vitest'
import { runTemplate } from '../../../src/go/template/execute.ts'
import type { Value } from '../../../src/go/template/functions.ts'
import { builtIns } from '../../../src/go/template/functions.ts'
import { parseTemplate } from '../../../src/go/template/parse.ts'

const functions = new Map([['Shout', (value: Value = '') => `${String(value)}!`]])
const known = { has: (name: string) => functions.has(name) || builtIns.has(name) }
const run = (template: string, data: Value = {}): string => runTemplate(parseTemplate(template, known), data, functions)

const pod: Value = {
  metadata: { name: 'web', labels: { app: 'web', tier: 'front' } },
  spec: {
    containers: [
      { name: 'a', image: 'nginx' },
      { name: 'b', image: 'redis', restartPolicy: 'Always' },
    ],
    count: 3,
  },
}

// the results of Go's text/template with sprig
test.each([
  ['plain', 'plain'],
  ['{{ .metadata.name }}', 'web'],
  ['a {{- .metadata.name -}} b', 'awebb'],
  ['a{{/* said to readers */}}b', 'ab'],
  ['{{ .metadata.missing }}', '<no value>'],
  ['{{ .missing.too.deep }}', '<no value>'],
  ['{{ .metadata.labels }}', 'map[app:web tier:front]'],
  ['{{ $x := .metadata }}{{ $x.name }}{{ $.spec.count }}', 'web3'],
  ['{{ if .spec.containers }}yes{{ else }}no{{ end }}', 'yes'],
  ['{{ if .x }}1{{ else if eq .spec.count 3 }}2{{ else }}3{{ end }}', '2'],
  ['{{ with .metadata }}{{ .name }}{{ end }}', 'web'],
  ['{{ with .missing }}{{ . }}{{ else }}none{{ end }}', 'none'],
  ['{{ range .spec.containers }}[{{ .name }}]{{ end }}', '[a][b]'],
  ['{{ range $i, $c := .spec.containers }}{{ $i }}={{ $c.image }};{{ end }}', '0=nginx;1=redis;'],
  ['{{ range $c := .spec.containers }}{{ $c.name }}{{ end }}', 'ab'],
  ['{{ range $k, $v := .metadata.labels }}{{ $k }}:{{ $v }} {{ end }}', 'app:web tier:front '],
  ['{{ range .missing }}x{{ else }}none{{ end }}', 'none'],
  ['{{ range .spec.containers }}{{ if eq .name "b" }}{{ break }}{{ end }}{{ .name }}{{ end }}', 'a'],
  ['{{ range .spec.containers }}{{ if eq .name "a" }}{{ continue }}{{ end }}{{ .name }}{{ end }}', 'b'],
  ['{{ range 3 }}{{ . }}{{ end }}', '012'],
  [
    '{{ $has := false }}{{ range .spec.containers }}{{ if eq .restartPolicy "Always" }}{{ $has = true }}{{ end }}{{ end }}{{ $has }}',
    'true',
  ],
  ['{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}', '1'],
  ['{{ or .missing "other" }}{{ and .metadata.name "both" }}{{ not .missing }}', 'otherbothtrue'],
  ['{{ or .metadata.name (index .missing 5) }}', 'web'],
  ['{{ .metadata.name | printf "%s-%d" "x" }}', 'x-web'],
  ['{{ printf "%03d|%5s|%-4s|%q|%v|%%" 7 "ab" "c" "d\\n" true }}', '007|   ab|c   |"d\\n"|true|%'],
  ['{{ index .spec.containers 1 "image" }}', 'redis'],
  ['{{ index .metadata.labels "tier" }}{{ index .metadata.labels "none" }}', 'front<no value>'],
  ['{{ (index .spec.containers 0).name }}', 'a'],
  ['{{ len .spec.containers }}{{ len "four" }}', '24'],
  ['{{ eq .spec.count 1 2 3 }}{{ ne 1 2 }}{{ lt 1 2 }}{{ ge "b" "a" }}', 'truetruetruetrue'],
  ['{{ Shout (or .missing "hey") }}{{ "a" | Shout | Shout }}', 'hey!a!!'],
  ['{{ `raw "text"` }}{{ "es\\"caped" }}', 'raw "text"es"caped'],
  ['{{ $a := or .missing dict }}{{ or ( index $a "x" ) "none" }}', 'none'],
  ['{{ default "d" .missing }}{{ coalesce .missing "" "c" }}{{ ternary "y" "n" true }}{{ empty .missing }}', 'dcytrue'],
  ['{{ add 1 2 3 }} {{ sub 5 2 }} {{ mul 2 3 }} {{ div 7 2 }} {{ mod 7 2 }} {{ int "4" }}', '6 3 6 3 1 4'],
  ['{{ upper "a" }}{{ lower "B" }}{{ trim " c " }}{{ "d.e" | trimSuffix ".e" }}{{ trimPrefix "x" "xf" }}', 'Abcdf'],
  ['{{ contains "b" "abc" }}{{ hasPrefix "a" "abc" }}{{ hasSuffix "a" "abc" }}', 'truetruefalse'],
  [
    '{{ join "," (list 1 2) }}{{ first (list 3 4) }}{{ last (list 3 4) }}{{ get (dict "k" "v") "k" }}{{ hasKey (dict "k" 1) "j" }}',
    '1,234vfalse',
  ],
])('%s', (template, text) => {
  expect(run(template, pod)).toBe(text)
})

describe('what a template cannot be', () => {
  test.each([
    ['{{ nonsense 1 }}', 'function "nonsense" is not known'],
    ['{{ constructor }}', 'function "constructor" is not known'],
    ['{{ if .x }}', '{{if}} without {{end}}'],
    ['{{ end }}', '{{end}} or {{else}} without a beginning'],
    ['{{ .x', 'unclosed action'],
    ['{{ "x }}', 'unexpected "\\"" in an action'],
    ['{{ define "x" }}{{ end }}', '{{define}} is not supported'],
    ['{{ break }}', '{{break}} outside of {{range}}'],
    ['{{ .x .y }}', 'what has arguments is no function'],
    ['{{ .x | .y }}', 'what follows | is no function'],
    ['{{ (.x }}', 'a parenthesis is not closed'],
    ['{{ }}', 'a command is missing'],
    ['{{ if 1 }}'.repeat(40) + '{{ end }}'.repeat(40), 'more than 32 blocks within one another'],
  ])('%s', (template, why) => {
    expect(() => parseTemplate(template, known)).toThrow(why)
  })
})

describe('what a template cannot do', () => {
  test.each([
    ['{{ $y }}', 'variable $y is not known'],
    ['{{ .metadata.name.x }}', "can't evaluate field x"],
    ['{{ index .spec.containers 2 }}', 'index out of range: 2'],
    ['{{ index .missing "x" }}', 'index of what is no list and no map'],
    ['{{ range .metadata.name }}{{ end }}', "range can't iterate over web"],
    ['{{ printf "%x" 1 }}', 'printf does not know %x'],
    ['{{ div 1 0 }}', 'division by zero'],
    ['{{ range 20000 }}{{ end }}', 'more than 20000 steps'],
    ['{{ $x := "xx" }}{{ range 30 }}{{ $x = printf "%s%s" $x $x }}{{ end }}', 'more than 200000 characters'],
    ['{{ list . . }}', 'list and dict take texts'],
    ['{{ range 2000 }}{{ printf "%999s" "x" }}{{ end }}', 'more than 200000 characters'],
    [`{{ $x := printf "%900s" "x" }}{{ $y := print ${'$x '.repeat(300)} }}`, 'more than 200000 characters'],
    [`{{ $x := printf "%900s" "x" }}{{ $y := quote ${'$x '.repeat(300)} }}`, 'more than 200000 characters'],
    [`{{ $x := printf "%900s" "x" }}{{ $y := join "" (list ${'$x '.repeat(300)}) }}`, 'more than 200000 characters'],
    [`{{ $x := printf "%900s" "x" }}{{ $y := printf "${'%s'.repeat(300)}" ${'$x '.repeat(300)} }}`, 'more than 200000'],
    ['{{ range 500 }}{{ range 5000 }}{{ break }}{{ end }}{{ end }}', 'more than 20000 steps'],
    [
      `{{ $x := printf "%900s" "x" }}{{ $y := print ${'$x '.repeat(200)} }}{{ range 5000 }}{{ $z := contains "y" $y }}{{ end }}`,
      'more than 10000000 characters in its functions',
    ],
  ])('%s', (template, why) => {
    expect(() => run(template, pod)).toThrow(why)
  })

  test.each([
    'hasPrefix "x" .',
    'hasSuffix . "x"',
    'contains "x" .',
    'trimPrefix . ""',
    'lower .',
    'get . .',
    'index . .',
  ])('print a list or a map without counting it: %s', (call) => {
    expect(() => run(`{{ if ${call} }}{{ end }}`, pod)).toThrow('a list or a map where a text is expected')
    expect(run('{{ add . 1 }}{{ int .spec.containers }}', pod)).toBe('10')
  })

  test('find what every object inherits', () => {
    expect(run('{{ .constructor }}{{ .__proto__ }}{{ index . "toString" }}', pod)).toBe('<no value>'.repeat(3))
  })
})
