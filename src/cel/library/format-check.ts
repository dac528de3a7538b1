/** Checks `'…'.format([…])` at compile time if the pattern and the list are literals. */
import type { Call, Expression } from '../syntax/ast.ts'
import type { Finding } from '../declarations.ts'
import { runtimeTypeName } from '../values/runtime-types.ts'
import type { Type } from '../checker/type.ts'
import { CelError } from '../values/value.ts'
import { clauseAt, clauseProblems } from './format.ts'

type TypeOf = (node: Expression) => Type
type Letter = keyof typeof clauseProblems

/** The types that each clause accepts. Clauses for doubles accept strings, too, for NaN and the infinities. */
const taken: Readonly<Record<Exclude<Letter, 's'>, readonly Type['kind'][]>> = {
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
}
const asText: readonly Type['kind'][] = [
  ...(['list', 'map', 'int', 'uint', 'double', 'bool', 'string'] as const),
  ...(['timestamp', 'bytes', 'duration', 'type', 'null'] as const),
]

export function checkFormat(call: Call, typeOf: TypeOf): readonly Finding[] {
  const [list] = call.args
  const pattern = call.target?.kind === 'literal' ? call.target.value : undefined
  if (typeof pattern !== 'string' || list?.kind !== 'list') return []
  let used = 0
  for (let i = pattern.indexOf('%'); i >= 0; i = pattern.indexOf('%', i)) {
    if (pattern[i + 1] === '%') {
      i += 2
      continue
    }
    if (i + 1 >= pattern.length) return [{ at: call, message: 'unexpected end of string' }]
    const argument = list.elements[used]
    if (argument === undefined) return [{ at: call, message: `index ${used} out of range` }]
    const clause = clauseAt(pattern, i + 1)
    if (clause instanceof CelError)
      return [{ at: call, message: `could not parse formatting clause: ${clause.message}` }]
    const letter = clause.letter as Letter // clauseAt accepts no other letters
    const wrong = misfit(argument, letter, typeOf)
    if (wrong !== undefined) {
      const type = runtimeTypeName(typeOf(wrong))
      return [{ at: wrong, message: `error during formatting: ${clauseProblems[letter]}${type}` }]
    }
    used++
    i = clause.end
  }
  const given = list.elements.length
  if (given <= used) return []
  return [{ at: call, message: `too many arguments supplied to string.format (expected ${used}, got ${given})` }]
}

/** The first node of an argument whose type the clause cannot format. */
function misfit(node: Expression, letter: Letter, typeOf: TypeOf): Expression | undefined {
  const { kind } = typeOf(node)
  if (kind !== 'dyn' && !(letter === 's' ? asText : taken[letter]).includes(kind)) return node
  if (letter !== 's') return undefined
  const parts =
    node.kind === 'list'
      ? node.elements
      : node.kind === 'map'
        ? node.entries.flatMap(({ key, value }) => [key, value])
        : []
  for (const part of parts) {
    const wrong = misfit(part, letter, typeOf)
    if (wrong !== undefined) return wrong
  }
  return undefined
}
