/** Makes the nodes of calls. Calls of macros are expanded. */
import type { Expression } from './ast.ts'
import type { Builder } from './builder.ts'
import { MacroError, placeholder } from './builder.ts'
import type { Macro } from '../declarations.ts'

export class MacroCalls {
  constructor(
    private readonly macros: readonly Macro[],
    private readonly builder: Builder,
    private readonly report: (offset: number | undefined, message: string) => void,
  ) {}

  call(id: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const macro = this.macros.find(
      (one) =>
        one.function === name &&
        one.member === (target !== undefined) &&
        (one.argumentCount === undefined || one.argumentCount === args.length),
    )
    if (macro === undefined) return this.builder.callAt(id, name, args, target)
    try {
      return macro.expand(this.builder.factoryAt(id), target, args) ?? this.builder.callAt(id, name, args, target)
    } catch (error) {
      if (!(error instanceof MacroError)) throw error
      this.report(this.builder.offsetOf(error.node ?? id), error.message)
      return placeholder(id)
    }
  }
}
