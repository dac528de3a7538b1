/** Finds the overloads of a function that match the types of a call's arguments. */
import type { FunctionDeclaration, Overload } from '../declarations.ts'
import { isDyn, parametersOf, sameType } from './type-relations.ts'
import type { Substitutions } from './type-relations.ts'
import type { Type } from './type.ts'
import { DYN, isOpen, listOf, mapOf, opaque, parameter, typeOf } from './type.ts'

interface Matching {
  readonly matching: readonly Overload[]
  /** Undefined: no overload matches. */
  readonly result: Type | undefined
}

export class OverloadResolution {
  private variableCount = 0

  constructor(private readonly substitutions: Substitutions) {}

  newVariable(): Type {
    return parameter(`_var${this.variableCount++}`)
  }

  /** Binds the type parameters of the overloads that match. */
  matching(declared: FunctionDeclaration, argumentTypes: readonly Type[], isMember: boolean): Matching {
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
    return { matching, result }
  }

  /** The overload with fresh type parameters. */
  private fresh({ parameters, result }: Overload): Pick<Overload, 'parameters' | 'result'> {
    if (!isOpen(result) && !parameters.some(isOpen)) return { parameters, result }
    const names = new Set<string>()
    for (const type of [result, ...parameters]) collectParameters(type, names)
    const renamed = new Map([...names].map((name) => [name, this.newVariable()]))
    return {
      parameters: parameters.map((type) => renameParameters(type, renamed)),
      result: renameParameters(result, renamed),
    }
  }
}

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
      return opaque(type.name, ...type.parameters.map((inner) => renameParameters(inner, names)))
    case 'type':
      return typeOf(type.of && renameParameters(type.of, names))
    default:
      return type
  }
}
