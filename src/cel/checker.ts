/**
 * Gives every node of an expression its type, and every call the overloads that it may mean (cel-spec, gradual type
 * checking). Names with dots become one identifier or function where the environment declares them.
 */
import type { Call, Comprehension, Expression, ListExpression, MapExpression, StructExpression } from './ast.ts'
import type { SyntaxTree } from './ast.ts'
import type { FunctionDeclaration, Overload } from './declarations.ts'
import type { Environment } from './environment.ts'
import { withoutDot } from './environment.ts'
import type { Issue } from './issues.ts'
import type { Type } from './type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  parameter,
  STRING,
  UINT,
} from './type.ts'
import { isDyn, moreGeneral, parametersOf, sameType, Substitutions, typeText } from './type-relations.ts'
import { Uint } from './value.ts'

export interface CheckedExpression {
  /** With names resolved; ids are those of the syntax tree. */
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

export function check(tree: SyntaxTree, environment: Environment): Checked {
  const checker = new Checker(tree, environment)
  const root = checker.check(tree.root)
  if (checker.issues.length > 0) return { expression: undefined, issues: checker.issues }
  const types = checker.finalTypes()
  const { overloads } = checker
  return { expression: { root, type: types.get(root.id)!, types, overloads, tree }, issues: [] }
}

class Checker {
  readonly issues: Issue[] = []
  readonly overloads = new Map<number, readonly Overload[]>()
  private readonly types = new Map<number, Type>()
  private readonly substitutions = new Substitutions()
  /** Variables of the folds around the node, innermost last. */
  private readonly scopes: ReadonlyMap<string, Type>[] = []
  private variableCount = 0

  constructor(
    private readonly tree: SyntaxTree,
    private readonly environment: Environment,
  ) {}

  finalTypes(): ReadonlyMap<number, Type> {
    return new Map([...this.types].map(([id, type]) => [id, this.substitutions.substitute(type, 'dyn')]))
  }

  /** @returns the node with the names in it resolved */
  check(node: Expression): Expression {
    switch (node.kind) {
      case 'literal':
        return this.typed(node, literalType(node.value))
      case 'identifier': {
        const type = this.lookup(node.name)
        if (type === undefined) return this.undeclared(node, node.name)
        return this.typed({ ...node, name: withoutDot(node.name) }, type)
      }
      case 'select':
        return this.checkSelect(node)
      case 'call':
        return node.function === '_?._' ? this.checkOptionalSelect(node) : this.checkCall(node)
      case 'list':
        return this.checkList(node)
      case 'map':
        return this.checkMap(node)
      case 'struct':
        return this.checkStruct(node)
      case 'comprehension':
        return this.checkComprehension(node)
    }
  }

  private typed<E extends Expression>(node: E, type: Type): E {
    this.types.set(node.id, type)
    return node
  }

  private typeOf(node: Expression): Type {
    return this.types.get(node.id)!
  }

  private report(node: { readonly id: number }, message: string): void {
    this.issues.push({ offset: this.tree.offsets.get(node.id), message })
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

  private checkSelect(node: Expression & { kind: 'select' }): Expression {
    const name = qualifiedName(node)
    const variable = name === undefined ? undefined : this.lookup(name)
    if (variable !== undefined)
      return this.typed({ kind: 'identifier', id: node.id, name: withoutDot(name!) }, variable)
    const operand = this.check(node.operand)
    const type = node.testOnly
      ? (this.fieldType(node, operand, node.field, false), BOOL)
      : this.fieldType(node, operand, node.field, false)
    return this.typed({ ...node, operand }, this.substitutions.substitute(type, 'stay'))
  }

  private checkOptionalSelect(node: Call): Expression {
    const [operand, field] = node.args
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string') {
      this.report(field ?? node, 'unsupported optional field selection')
      return this.typed(node, ERROR)
    }
    const checked = this.check(operand)
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

  private checkCall(node: Call): Expression {
    const args = node.args.map((argument) => this.check(argument))
    if (node.target === undefined) {
      const declared = this.environment.function(node.function)
      if (declared === undefined) return this.undeclared({ ...node, args }, node.function)
      return this.resolve({ ...node, function: declared.name, args }, declared)
    }
    const prefix = qualifiedName(node.target)
    const qualified = prefix === undefined ? undefined : this.environment.function(`${prefix}.${node.function}`)
    if (qualified !== undefined)
      return this.resolve({ ...node, function: qualified.name, target: undefined, args }, qualified)
    const target = this.check(node.target)
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
    const matching: Overload[] = []
    let result: Type | undefined
    for (const overload of declared.overloads) {
      if (overload.member !== isMember || overload.parameters.length !== argumentTypes.length) continue
      const fresh = this.fresh(overload)
      if (!this.substitutions.assignableAll(argumentTypes, fresh.parameters)) continue
      matching.push(overload)
      const type = this.substitutions.substitute(fresh.result, 'stay')
      if (result === undefined) result = type
      else if (!isDyn(result) && !sameType(type, result)) result = DYN
    }
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

  /** The overload with type parameters of its own. */
  private fresh({ parameters, result }: Overload): Pick<Overload, 'parameters' | 'result'> {
    const names = new Set<string>()
    for (const type of [result, ...parameters]) collectParameters(type, names)
    if (names.size === 0) return { parameters, result }
    const renamed = new Map([...names].map((name) => [name, this.newVariable()]))
    return {
      parameters: parameters.map((type) => renameParameters(type, renamed)),
      result: renameParameters(result, renamed),
    }
  }

  private newVariable(): Type {
    return parameter(`_var${this.variableCount++}`)
  }

  private noOverload(node: Call, name: string, types: readonly Type[], isMember: boolean): void {
    const texts = types.map((type) => typeText(this.substitutions.substitute(type, 'dyn')))
    const target = isMember ? `${texts.shift()}.` : ''
    this.report(node, `found no matching overload for '${name}' applied to '${target}(${texts.join(', ')})'`)
  }

  private checkList(node: ListExpression): Expression {
    let element: Type | undefined
    const elements = node.elements.map((one, index) => {
      const checked = this.check(one)
      const type = node.optional.has(index) ? this.optionalElement(checked) : this.typeOf(checked)
      element = this.joined(element, type)
      return checked
    })
    return this.typed({ ...node, elements }, listOf(element ?? this.newVariable()))
  }

  private optionalElement(node: Expression): Type {
    const type = this.typeOf(node)
    const content = optionalContent(type)
    if (content !== undefined) return content
    if (!isDyn(type)) this.mismatch(node, optionalOf(type), type)
    return type
  }

  private checkMap(node: MapExpression): Expression {
    let key: Type | undefined
    let value: Type | undefined
    const entries = node.entries.map((entry) => {
      const checkedKey = this.check(entry.key)
      key = this.joined(key, this.typeOf(checkedKey))
      const checkedValue = this.check(entry.value)
      const type = entry.optional ? this.optionalElement(checkedValue) : this.typeOf(checkedValue)
      value = this.joined(value, type)
      return { ...entry, key: checkedKey, value: checkedValue }
    })
    if (key === undefined || value === undefined) {
      key = this.newVariable()
      value = this.newVariable()
    }
    return this.typed({ ...node, entries }, mapOf(key, value))
  }

  /** Of elements that differ nothing is known: whether they may is for the validators to say. */
  private joined(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type
    return this.substitutions.assignable(before, type) ? moreGeneral(before, type) : DYN
  }

  private checkStruct(node: StructExpression): Expression {
    const named = this.lookup(node.type)
    if (named === undefined) return this.undeclared(node, node.type)
    const result = this.messageType(node, named)
    this.typed(node, result)
    const fields = node.fields.map((field) => {
      const value = this.check(field.value)
      const declared = (result.kind === 'struct' && this.structField(field, result.name, field.name)) || ERROR
      const type = field.optional ? this.optionalElement(value) : this.typeOf(value)
      if (!this.substitutions.assignable(declared, type))
        this.report(
          field,
          `expected type of field '${field.name}' is '${typeText(declared)}' but provided type is '${typeText(type)}'`,
        )
      return { ...field, value }
    })
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

  private checkComprehension(node: Comprehension): Expression {
    const range = this.check(node.range)
    const initial = this.check(node.initial)
    const accumulated = this.typeOf(initial)
    this.scopes.push(new Map([[node.accumulator, accumulated]]))
    this.scopes.push(this.foldVariables(node, range))
    const condition = this.check(node.condition)
    this.assertType(condition, BOOL)
    const step = this.check(node.step)
    this.assertType(step, accumulated)
    this.scopes.pop()
    const result = this.check(node.result)
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
        // a parameter becomes dyn: nothing else is known of it
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

function literalType(value: Extract<Expression, { kind: 'literal' }>['value']): Type {
  if (value === null) return NULL
  if (value instanceof Uint) return UINT
  if (value instanceof Uint8Array) return BYTES
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
  }
}

/** `a.b.c`, where the node is nothing but names. */
export function qualifiedName(node: Expression): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.testOnly) return undefined
  const operand = qualifiedName(node.operand)
  return operand === undefined ? undefined : `${operand}.${node.field}`
}

export const optionalContent = (type: Type): Type | undefined =>
  type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined

function collectParameters(type: Type, names: Set<string>): void {
  if (type.kind === 'parameter') names.add(type.name)
  for (const inner of parametersOf(type)) collectParameters(inner, names)
}

function renameParameters(type: Type, names: ReadonlyMap<string, Type>): Type {
  switch (type.kind) {
    case 'parameter':
      return names.get(type.name) ?? type
    case 'list':
      return listOf(renameParameters(type.element, names))
    case 'map':
      return mapOf(renameParameters(type.key, names), renameParameters(type.value, names))
    case 'opaque':
      return { ...type, parameters: type.parameters.map((inner) => renameParameters(inner, names)) }
    case 'type':
      return { ...type, of: type.of && renameParameters(type.of, names) }
    default:
      return type
  }
}
