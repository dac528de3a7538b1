/**
 * cel-go's AST validators: literal arguments must convert, and the elements of an aggregate literal must have one type.
 */
import type { Steps } from '../../base/slices.ts'
import { atOnce } from '../../base/slices.ts'
import type { Call, Expression } from '../syntax/ast.ts'
import { isLeaf } from '../syntax/ast.ts'
import type { CheckedExpression } from './checker.ts'
import { optionalContent } from './node-types.ts'
import type { Environment } from '../environment.ts'
import type { Issue } from '../syntax/issues.ts'
import { Pace } from '../pace.ts'
import type { Type } from './type.ts'
import { sameType, typeText } from './type-relations.ts'

/** Aggregates in the arguments of this function may have elements of different types. */
const EXEMPT = 'format'

/** How many nodes take as long as one literal argument. The longest to check are patterns. */
const LITERAL = 500

export const validate = (checked: CheckedExpression, environment: Environment): readonly Issue[] =>
  atOnce(validateInSteps(checked, environment))

/** Like validate, but yields to other requests. */
export function* validateInSteps(checked: CheckedExpression, environment: Environment): Steps<readonly Issue[]> {
  const pace = new Pace()
  const literals: Issue[] = []
  const aggregates: Issue[] = []
  const others: Issue[] = []
  const at = (node: { readonly id: number }): number | undefined => checked.tree.offsets[node.id]
  function* visit(node: Expression, exempt: boolean): Steps<void> {
    if (pace.isOver()) yield
    if (node.kind === 'call') {
      if (checkLiteral(node) && pace.isOver(LITERAL)) yield
      verify(node)
    }
    if (node.kind === 'list' && !exempt) checkList(node)
    if (node.kind === 'map' && !exempt) checkMap(node)
    const inside = exempt || (node.kind === 'call' && node.function === EXEMPT)
    for (const child of childrenOf(node)) if (!isLeaf(child)) yield* visit(child, inside)
  }
  /** @returns whether the call has a literal to check */
  const checkLiteral = (node: Expression & { kind: 'call' }): boolean => {
    const rule = environment.function(node.function)?.literal
    const argument = rule && node.args[rule.index]
    if (argument?.kind !== 'literal') return false
    if (!rule!.isValid(argument.value))
      literals.push({ offset: at(argument), message: `invalid ${node.function} argument` })
    return true
  }
  const verify = (node: Call): void => {
    const findings = environment.function(node.function)?.verify?.(node, (one) => checked.types.get(one.id)!) ?? []
    for (const { at: part, message } of findings) others.push({ offset: at(part), message })
  }
  const typeOf = (node: Expression, optional: boolean): Type => {
    const type = checked.types.get(node.id)!
    return (optional && optionalContent(type)) || type
  }
  const mismatch = (node: Expression, wanted: Type, found: Type): void => {
    aggregates.push({
      offset: at(node),
      message: `expected type '${typeText(wanted)}' but found '${typeText(found)}'`,
    })
  }
  const checkList = ({ elements, optional }: Expression & { kind: 'list' }): void => {
    const first = elements[0] && typeOf(elements[0], optional.has(0))
    const other = elements.findIndex((element, index) => !sameType(first!, typeOf(element, optional.has(index))))
    if (other > 0) mismatch(elements[other]!, first!, typeOf(elements[other]!, optional.has(other)))
  }
  const checkMap = ({ entries }: Expression & { kind: 'map' }): void => {
    const [first, ...others] = entries
    if (first === undefined) return
    const keyType = typeOf(first.key, false)
    const valueType = typeOf(first.value, first.optional)
    for (const { key, value, optional } of others) {
      if (!sameType(keyType, typeOf(key, false))) mismatch(key, keyType, typeOf(key, false))
      if (!sameType(valueType, typeOf(value, optional))) mismatch(value, valueType, typeOf(value, optional))
    }
  }
  yield* visit(checked.root, false)
  return [...literals, ...aggregates, ...others]
}

export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [node.operand]
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case 'list':
      return node.elements
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return node.fields.map(({ value }) => value)
    case 'comprehension':
      return [node.range, node.initial, node.condition, node.step, node.result]
  }
}
