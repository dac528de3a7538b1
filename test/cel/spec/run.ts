/**
 * Runs the conformance cases of cel-spec (https://github.com/google/cel-spec), which are not part of this project:
 * node --experimental-transform-types test/cel/spec/run.ts CEL-SPEC/tests/simple/testdata [--failures]
 * prints the table of docs/cel.md. What has protobuf messages or libraries that kube-apiserver does not enable is left
 * out, by the reasons that the table names.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../../src/cel/compile.ts'
import type { VariableDeclaration } from '../../../src/cel/declarations.ts'
import { bindings } from '../../../src/cel/library/bindings.ts'
import { ProgramError, programOf } from '../../../src/cel/evaluation/program.ts'
import { typeText } from '../../../src/cel/checker/type-relations.ts'
import { valueText } from './value-text.ts'
import { typeOfProto, valueOfProto } from './proto-values.ts'
import type { Message } from './text-proto.ts'
import { messageAt, messagesAt, parseTextProto, textAt } from './text-proto.ts'
import { baseEnvironment } from '../../../src/expressions/environments.ts'

const [directory = '', ...flags] = process.argv.slice(2)

/** Why a case says nothing of expressions in kube-apiserver; the first that applies counts. */
const outOfScope: readonly (readonly [reason: string, applies: (test: Message, text: string) => boolean])[] = [
  [
    'protobuf messages, enums and wrappers',
    (test, text) =>
      /TestAll|NestedMessage|GlobalEnum|google\.protobuf\.(?!Timestamp|Duration)|proto\.(?:has|get)Ext/.test(text) ||
      /TestAll|object_value|enum_value|message_type|cel\.expr/.test(JSON.stringify(plain(test))),
  ],
  ['containers', (test) => (textAt(test, 'container') ?? '') !== ''],
  ['cases without type check, or of partial state', (test) => test.has('disable_check') || test.has('unknown')],
  ['functions that a case declares', (test) => messagesAt(test, 'type_env').some((one) => one.has('function'))],
  ['fields in backquotes', (_, text) => text.includes('.`')],
  [
    'math, encoders, blocks and network of cel-go',
    (_, text) => /\b(?:math|base64|net)\.|cel\.(?:@?block|index|iterVar|accuVar)/.test(text),
  ],
]

const plain = (field: unknown): unknown =>
  field instanceof Map
    ? Object.fromEntries([...field].map(([name, list]) => [name, (list as unknown[]).map(plain)]))
    : field

const MIXED = 'lists and maps of mixed types'
const STRINGS = 'later versions of the strings library'

/** Why kube-apiserver answers otherwise: seen in the answer. */
function reasonOf(file: string, got: string): string {
  if (/expected type '.*' but found/.test(got)) return MIXED
  return file === 'string_ext.textproto' ? STRINGS : 'otherwise'
}

type Outcome = string

const base = baseEnvironment().extend({ libraries: [bindings] })

function outcomeOf(file: string, test: Message): { readonly outcome: Outcome; readonly why?: string } {
  const text = textAt(test, 'expr') ?? ''
  const reason = outOfScope.find(([, applies]) => applies(test, text))
  if (reason !== undefined) return { outcome: reason[0] }
  const variables: VariableDeclaration[] = messagesAt(test, 'type_env').flatMap((declaration) => {
    const type = messageAt(messageAt(declaration, 'ident'), 'type')
    return type === undefined ? [] : [{ name: textAt(declaration, 'name') ?? '', type: typeOfProto(type) }]
  })
  const values = new Map(
    messagesAt(test, 'bindings').map((binding) => [
      textAt(binding, 'key') ?? '',
      valueOfProto(messageAt(messageAt(binding, 'value'), 'value')!),
    ]),
  )
  const environment = base.extend({ variables })
  const wanted = test.has('eval_error') ? 'an error' : expected(test)
  const { expression, issues } = compile(text, environment)
  const check = (got: string, isError: boolean) =>
    (wanted === 'an error' ? isError : got === wanted)
      ? ({ outcome: 'as cel-spec' } as const)
      : ({ outcome: reasonOf(file, got), why: `${text}\n    wanted ${wanted}\n    got    ${got}` } as const)
  if (expression === undefined) return check(issues, true)
  const deduced = messageAt(messageAt(test, 'typed_result'), 'deduced_type')
  const type = typeText(expression.type)
  if (deduced !== undefined && type !== typeText(typeOfProto(deduced))) return check(`a ${type}`, false)
  if (test.has('check_only')) return { outcome: 'as cel-spec' }
  try {
    const got = valueText(programOf(expression, environment).run((name) => values.get(name), 1_000_000).value)
    return check(got, got.startsWith('error: '))
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error
    return check(error.message, true)
  }
}

function expected(test: Message): string {
  const value = messageAt(test, 'value') ?? messageAt(messageAt(test, 'typed_result'), 'result')
  return value === undefined ? 'true' : valueText(valueOfProto(value))
}

const columns = ['as cel-spec', 'otherwise', MIXED, STRINGS, ...outOfScope.map(([reason]) => reason)]
const rows: string[][] = []
const failures: string[] = []
for (const file of readdirSync(directory)
  .filter((name) => name.endsWith('.textproto'))
  .sort()) {
  const parsed = parseTextProto(readFileSync(join(directory, file), 'utf8'))
  const counts = new Map<Outcome, number>()
  for (const section of messagesAt(parsed, 'section'))
    for (const test of messagesAt(section, 'test')) {
      const { outcome, why } = outcomeOf(file, test)
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      if (why !== undefined) failures.push(`${file} ${textAt(section, 'name')}/${textAt(test, 'name')}: ${why}`)
    }
  const cells = columns.map((key) => counts.get(key) ?? 0)
  rows.push([file.replace('.textproto', ''), ...cells.map(String)])
}
const sums = rows[0]!.slice(1).map((_, column) => rows.reduce((sum, row) => sum + Number(row[column + 1]), 0))
console.log(['file', ...columns].join(' | '))
for (const row of [...rows, ['all', ...sums.map(String)]]) console.log(row.join(' | '))
if (flags.includes('--failures')) console.log(failures.join('\n'))
