/**
 * The variables, types, functions and macros that an expression may name. Immutable: `extend` makes a new environment.
 */
import type { FunctionDeclaration, Library, Macro, Overload, VariableDeclaration } from './declarations.ts'
import { standardMacros } from './syntax/macros.ts'
import type { Type, TypeProvider } from './checker/type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from './checker/type.ts'

import { TypeValue } from './values/value.ts'

/** Types that expressions can name. */
const namedTypes: ReadonlyMap<string, Type> = new Map([
  ['bool', BOOL],
  ['bytes', BYTES],
  ['double', DOUBLE],
  ['google.protobuf.Duration', DURATION],
  ['int', INT],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['null_type', NULL],
  ['string', STRING],
  ['google.protobuf.Timestamp', TIMESTAMP],
  ['type', typeOf()],
  ['uint', UINT],
])

const noTypes: TypeProvider = {
  findStruct: () => undefined,
  findField: () => undefined,
  fieldNames: () => [],
}

export interface EnvironmentParts {
  readonly libraries?: readonly Library[]
  readonly variables?: readonly VariableDeclaration[]
  readonly types?: TypeProvider
  /** Enables `a.?b`, `a[?b]`, `[?a]` and `{?k: v}`. */
  readonly optionalSyntax?: boolean
}

export class Environment {
  static readonly empty = new Environment(new Map(), new Map(), standardMacros, noTypes, false, namedTypes)

  private constructor(
    private readonly functions: ReadonlyMap<string, FunctionDeclaration>,
    private readonly variables: ReadonlyMap<string, Type>,
    readonly macros: readonly Macro[],
    readonly types: TypeProvider,
    readonly optionalSyntax: boolean,
    private readonly named: ReadonlyMap<string, Type>,
  ) {}

  extend({
    libraries = [],
    variables = [],
    types = this.types,
    optionalSyntax = this.optionalSyntax,
  }: EnvironmentParts): Environment {
    const all = [...libraries.flatMap((library) => library.variables ?? []), ...variables]
    const named = new Map([...this.variables, ...all.map(({ name, type }) => [name, type] as const)])
    // Every schema node with rules has its own environment. They share everything but variables and types.
    if (libraries.length === 0)
      return new Environment(this.functions, named, this.macros, types, optionalSyntax, this.named)
    const functions = new Map(this.functions)
    for (const library of libraries)
      for (const declaration of library.functions)
        functions.set(declaration.name, merged(functions.get(declaration.name), declaration))
    return new Environment(
      functions,
      named,
      [...this.macros, ...libraries.flatMap((library) => library.macros ?? [])],
      types,
      optionalSyntax,
      new Map([...this.named, ...libraries.flatMap((library) => [...(library.types ?? [])])]),
    )
  }

  function(name: string): FunctionDeclaration | undefined {
    return this.functions.get(withoutDot(name))
  }

  /** The type of a variable, or `type(T)` for the name of a type `T`. */
  identifier(name: string): Type | undefined {
    const plain = withoutDot(name)
    const variable = this.variables.get(plain)
    if (variable !== undefined) return variable
    const type = this.types.findStruct(plain) ?? this.named.get(plain)
    return type && typeOf(type)
  }

  /** The value of a type's name in an expression. */
  typeValue(name: string): TypeValue | undefined {
    const type = this.types.findStruct(withoutDot(name)) ?? this.named.get(withoutDot(name))
    return type && new TypeValue(type)
  }

  isVariable(name: string): boolean {
    return this.variables.has(withoutDot(name))
  }
}

/** The name without a leading dot. The dot means the root container, and there is no other. */
export const withoutDot = (name: string): string => (name.startsWith('.') ? name.slice(1) : name)

/** Merges two declarations of a function: a library may add overloads to a function of another library. */
function merged(known: FunctionDeclaration | undefined, added: FunctionDeclaration): FunctionDeclaration {
  if (known === undefined) return added
  const overloads = new Map<string, Overload>(known.overloads.map((overload) => [overload.id, overload]))
  for (const overload of added.overloads) overloads.set(overload.id, overload)
  return { ...known, ...added, overloads: [...overloads.values()] }
}
