/**
 * The type checker. It assigns a type to each node and the matching overloads to each call (cel-spec, gradual type
 * checking). It resolves a qualified name such as `a.b` to one identifier or function if the environment declares it.
 */
import type { Steps } from '../../base/slices.ts'
import { atOnce } from '../../base/slices.ts'
import type {
  Call,
  Comprehension,
  Expression,
  Identifier,
  ListExpression,
  Literal,
  MapEntry,
  MapExpression,
} from '../syntax/ast.ts'
import type { StructExpression, StructField, SyntaxTree } from '../syntax/ast.ts'
import { isLeaf } from '../syntax/ast.ts'
import type { FunctionDeclaration, Overload } from '../declarations.ts'
import type { Environment } from '../environment.ts'
import { withoutDot } from '../environment.ts'
import type { Issue } from '../syntax/issues.ts'
import { literalType, optionalContent, qualifiedName } from './node-types.ts'
import { OverloadResolution } from './overload-resolution.ts'
import { Pace } from '../pace.ts'
import type { Type } from './type.ts'
import { BOOL, DYN, ERROR, INT, listOf, mapOf, optionalOf, STRING } from './type.ts'
import { bounded, isDyn, moreGeneral, Substitutions, TypeTooLarge, typeText } from './type-relations.ts'

export interface CheckedExpression {
  /** The tree with qualified names resolved. Nodes keep their ids. */
  readonly root: Expression
  readonly type: Type
  /** Node id → type. */
  readonly types: ReadonlyMap<number, Type>
  /** Id of a call → the overloads that its arguments' types allow. */
  readonly overloads: ReadonlyMap<number, readonly Overload[]>
  readonly tree: SyntaxTree
}

export interface Checked {
  /** Undefined when there are issues. */
  readonly expression: CheckedExpression | undefined
  readonly issues: readonly Issue[]
}

export const check = (tree: SyntaxTree, environment: Environment): Checked => atOnce(checkInSteps(tree, environment))

/** Like check, but yields to other requests. */
export function* checkInSteps(tree: SyntaxTree, environment: Environment): Steps<Checked> {
  const checker = new Checker(tree, environment)
  let root: Expression
  let types: ReadonlyMap<number, Type>
  try {
    root = yield* checker.check(tree.root)
    if (checker.issues.length > 0) return { expression: undefined, issues: checker.issues }
    types = yield* checker.finalTypes()
  } catch (error) {
    if (!(error instanceof TypeTooLarge)) throw error
    return { expression: undefined, issues: [{ offset: undefined, message: 'expression is too large' }] }
  }
  const expression = { root, type: types.get(root.id)!, types, overloads: checker.overloads, tree }
  return { expression, issues: [] }
}

/** The share of a node's time that one comparison of types takes, and one final substitution. */
const COMPARED = 1 / 16
const FINAL = 1 / 8

class Checker {
  readonly issues: Issue[] = []
  readonly overloads = new Map<number, readonly Overload[]>()
  private readonly types = new Map<number, Type>()
  private readonly substitutions = new Substitutions()
  private readonly overloading = new OverloadResolution(this.substitutions)
  private readonly pace = new Pace()
  private workBefore = 0
  private readonly qualifiedNames = new Map<Expression, string | undefined>()
  /** Variables of the enclosing comprehensions, innermost last. */
  private readonly scopes: ReadonlyMap<string, Type>[] = []

  constructor(
    private readonly tree: SyntaxTree,
    private readonly environment: Environment,
  ) {}

  *finalTypes(): Steps<ReadonlyMap<number, Type>> {
    for (const [id, type] of this.types) {
      if (this.pace.isOver(FINAL)) yield
      const final = this.substitutions.substitute(type, 'dyn')
      if (final !== type) this.types.set(id, final)
    }
    return this.types
  }

  /** @returns the node with qualified names resolved */
  *check(node: Expression): Steps<Expression> {
    if (this.pace.isOver(this.unitsOf(node))) yield
    switch (node.kind) {
      case 'literal':
      case 'identifier':
        return this.checkLeaf(node)
      case 'select':
        return yield* this.checkSelect(node)
      case 'call':
        return node.function === '_?._' ? yield* this.checkOptionalSelect(node) : yield* this.checkCall(node)
      case 'list':
        return yield* this.checkList(node)
      case 'map':
        return yield* this.checkMap(node)
      case 'struct':
        return yield* this.checkStruct(node)
      case 'comprehension':
        return yield* this.checkComprehension(node)
    }
  }

  /** One for the node, and a share for each type that was compared since the node before. */
  private unitsOf(node: Expression): number {
    const { work } = this.substitutions
    const compared = work - this.workBefore
    this.workBefore = work
    return 1 + compared * COMPARED + (node.kind === 'identifier' ? this.scopes.length * COMPARED : 0)
  }

  private checkLeaf(node: Literal | Identifier): Expression {
    if (node.kind === 'literal') return this.typed(node, literalType(node.value))
    const type = this.lookup(node.name)
    if (type === undefined) return this.undeclared(node, node.name)
    return this.typed({ ...node, name: withoutDot(node.name) }, type)
  }

  private typed<E extends Expression>(node: E, type: Type): E {
    this.types.set(node.id, bounded(type))
    return node
  }

  private typeOf(node: Expression): Type {
    return this.types.get(node.id)!
  }

  private report(node: { readonly id: number }, message: string): void {
    this.issues.push({ offset: this.tree.offsets[node.id], message })
  }

  private undeclared<E extends Expression>(node: E, name: string): E {
    this.report(node, `undeclared reference to '${name}' (in container '')`)
    return this.typed(node, ERROR)
  }

  private mismatch(node: Expression, wanted: Type, found: Type): void {
    this.report(node, `expected type '${typeText(wanted)}' but found '${typeText(found)}'`)
  }

  private lookup(name: string): Type | undefined {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const type = this.scopes[i]!.get(name)
      if (type !== undefined) return type
    }
    return this.environment.identifier(name)
  }

  private *checkSelect(node: Expression & { kind: 'select' }): Steps<Expression> {
    const name = qualifiedName(node, this.qualifiedNames)
    const variable = name === undefined ? undefined : this.lookup(name)
    if (variable !== undefined)
      return this.typed({ kind: 'identifier', id: node.id, name: withoutDot(name!) }, variable)
    const operand = isLeaf(node.operand) ? this.checkLeaf(node.operand) : yield* this.check(node.operand)
    const type = this.fieldType(node, operand, node.field, false)
    return this.typed({ ...node, operand }, node.testOnly ? BOOL : this.substitutions.substitute(type, 'stay'))
  }

  private *checkOptionalSelect(node: Call): Steps<Expression> {
    const [operand, field] = node.args
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string') {
      this.report(field ?? node, 'unsupported optional field selection')
      return this.typed(node, ERROR)
    }
    const checked = yield* this.check(operand)
    const type = this.fieldType(node, checked, field.value, true)
    this.types.set(field.id, STRING)
    return this.typed({ ...node, args: [checked, field] }, this.substitutions.substitute(type, 'stay'))
  }

  private fieldType(node: Expression, operand: Expression, field: string, optional: boolean): Type {
    const operandType = this.substitutions.substitute(this.typeOf(operand), 'stay')
    const unwrapped = optionalContent(operandType)
    const target = unwrapped ?? operandType
    const type = this.fieldOf(node, target, field)
    return optional || unwrapped !== undefined ? optionalOf(type) : type
  }

  private fieldOf(node: Expression, target: Type, field: string): Type {
    switch (target.kind) {
      case 'map':
        return target.value
      case 'struct':
        return this.structField(node, target.name, field) ?? ERROR
      case 'parameter':
        this.substitutions.assignable(DYN, target)
        return DYN
      default:
        if (!isDyn(target) && target.kind !== 'error')
          this.report(node, `type '${typeText(target)}' does not support field selection`)
        return DYN
    }
  }

  private structField(node: { readonly id: number }, struct: string, field: string): Type | undefined {
    const { types } = this.environment
    if (types.findStruct(struct) === undefined) {
      this.report(node, `unexpected failed resolution of '${struct}'`)
      return undefined
    }
    const type = types.findField(struct, field)
    if (type === undefined) this.report(node, `undefined field '${field}'`)
    return type
  }

  private *checkCall(node: Call): Steps<Expression> {
    const args: Expression[] = []
    for (const argument of node.args) {
      args.push(isLeaf(argument) ? this.checkLeaf(argument) : yield* this.check(argument))
      if (this.pace.isOver()) yield
    }
    if (node.target === undefined) {
      const declared = this.environment.function(node.function)
      if (declared === undefined) return this.undeclared({ ...node, args }, node.function)
      return this.resolve({ ...node, function: declared.name, args }, declared)
    }
    const prefix = qualifiedName(node.target, this.qualifiedNames)
    const qualified = prefix === undefined ? undefined : this.environment.function(`${prefix}.${node.function}`)
    if (qualified !== undefined)
      return this.resolve({ ...node, function: qualified.name, target: undefined, args }, qualified)
    const target = isLeaf(node.target) ? this.checkLeaf(node.target) : yield* this.check(node.target)
    const declared = this.environment.function(node.function)
    if (declared === undefined) return this.undeclared({ ...node, target, args }, node.function)
    return this.resolve({ ...node, target, args }, declared)
  }

  private resolve(node: Call, declared: FunctionDeclaration): Expression {
    if (declared.name === '_&&_' || declared.name === '_||_') return this.resolveLogic(node, declared)
    const isMember = node.target !== undefined
    const argumentTypes = [...(node.target === undefined ? [] : [node.target]), ...node.args].map((argument) =>
      this.typeOf(argument),
    )
    const { matching, result } = this.overloading.matching(declared, argumentTypes, isMember)
    if (result === undefined) {
      this.noOverload(node, declared.name, argumentTypes, isMember)
      return this.typed(node, ERROR)
    }
    this.overloads.set(node.id, matching)
    return this.typed(node, result)
  }

  private resolveLogic(node: Call, declared: FunctionDeclaration): Expression {
    let fits = true
    for (const argument of node.args)
      if (!this.substitutions.assignable(this.typeOf(argument), BOOL)) {
        this.mismatch(argument, BOOL, this.typeOf(argument))
        fits = false
      }
    if (fits) this.overloads.set(node.id, declared.overloads)
    return this.typed(node, fits ? BOOL : ERROR)
  }

  private noOverload(node: Call, name: string, types: readonly Type[], isMember: boolean): void {
    const texts = types.map((type) => typeText(this.substitutions.substitute(type, 'dyn')))
    const target = isMember ? `${texts.shift()}.` : ''
    this.report(node, `found no matching overload for '${name}' applied to '${target}(${texts.join(', ')})'`)
  }

  private *checkList(node: ListExpression): Steps<Expression> {
    let element: Type | undefined
    const elements: Expression[] = []
    for (const one of node.elements) {
      const checked = yield* this.check(one)
      const isOptional = node.optional.has(elements.length)
      element = this.joined(element, isOptional ? this.optionalElement(checked) : this.typeOf(checked))
      elements.push(checked)
    }
    return this.typed({ ...node, elements }, listOf(element ?? this.overloading.newVariable()))
  }

  private optionalElement(node: Expression): Type {
    const type = this.typeOf(node)
    const content = optionalContent(type)
    if (content !== undefined) return content
    if (!isDyn(type)) this.mismatch(node, optionalOf(type), type)
    return type
  }

  private *checkMap(node: MapExpression): Steps<Expression> {
    let key: Type | undefined
    let value: Type | undefined
    const entries: MapEntry[] = []
    for (const entry of node.entries) {
      const checkedKey = yield* this.check(entry.key)
      key = this.joined(key, this.typeOf(checkedKey))
      const checkedValue = yield* this.check(entry.value)
      const type = entry.optional ? this.optionalElement(checkedValue) : this.typeOf(checkedValue)
      value = this.joined(value, type)
      entries.push({ ...entry, key: checkedKey, value: checkedValue })
    }
    if (key === undefined || value === undefined) {
      key = this.overloading.newVariable()
      value = this.overloading.newVariable()
    }
    return this.typed({ ...node, entries }, mapOf(key, value))
  }

  /** The type of elements of different types is dyn. The validators report such aggregates. */
  private joined(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type
    return this.substitutions.assignable(before, type) ? moreGeneral(before, type) : DYN
  }

  private *checkStruct(node: StructExpression): Steps<Expression> {
    const named = this.lookup(node.type)
    if (named === undefined) return this.undeclared(node, node.type)
    const result = this.messageType(node, named)
    this.typed(node, result)
    const fields: StructField[] = []
    for (const field of node.fields) {
      const value = yield* this.check(field.value)
      const declared = (result.kind === 'struct' && this.structField(field, result.name, field.name)) || ERROR
      const type = field.optional ? this.optionalElement(value) : this.typeOf(value)
      if (!this.substitutions.assignable(declared, type))
        this.report(
          field,
          `expected type of field '${field.name}' is '${typeText(declared)}' but provided type is '${typeText(type)}'`,
        )
      fields.push({ ...field, value })
    }
    return { ...node, type: withoutDot(node.type), fields }
  }

  private messageType(node: StructExpression, named: Type): Type {
    if (named.kind === 'error') return ERROR
    if (named.kind !== 'type' || named.of === undefined) {
      this.report(node, `'${typeText(named)}' is not a type`)
      return ERROR
    }
    if (named.of.kind === 'struct') return named.of
    this.report(node, `'${typeText(named.of)}' is not a message type`)
    return ERROR
  }

  private *checkComprehension(node: Comprehension): Steps<Expression> {
    const range = yield* this.check(node.range)
    const initial = yield* this.check(node.initial)
    const accumulated = this.typeOf(initial)
    this.scopes.push(new Map([[node.accumulator, accumulated]]))
    this.scopes.push(this.foldVariables(node, range))
    const condition = yield* this.check(node.condition)
    this.assertType(condition, BOOL)
    const step = yield* this.check(node.step)
    this.assertType(step, accumulated)
    this.scopes.pop()
    const result = yield* this.check(node.result)
    this.scopes.pop()
    const checked: Comprehension = { ...node, range, initial, condition, step, result }
    return this.typed(checked, this.substitutions.substitute(this.typeOf(result), 'stay'))
  }

  private foldVariables(node: Comprehension, range: Expression): ReadonlyMap<string, Type> {
    const type = this.substitutions.substitute(this.typeOf(range), 'stay')
    const [first, second] = this.foldTypes(range, type, node.secondVariable !== undefined)
    const variables = new Map([[node.variable, first]])
    if (node.secondVariable !== undefined) variables.set(node.secondVariable, second)
    return variables
  }

  private foldTypes(range: Expression, type: Type, two: boolean): [Type, Type] {
    switch (type.kind) {
      case 'list':
        return two ? [INT, type.element] : [type.element, DYN]
      case 'map':
        return [type.key, type.value]
      case 'dyn':
      case 'error':
      case 'parameter':
        // as in cel-go, an unbound type parameter becomes dyn
        this.substitutions.assignable(DYN, type)
        return [DYN, DYN]
      default:
        this.report(
          range,
          `expression of type '${typeText(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
    }
  }

  private assertType(node: Expression, type: Type): void {
    if (!this.substitutions.assignable(type, this.typeOf(node))) this.mismatch(node, type, this.typeOf(node))
  }
}
