/** Makes the nodes of a syntax tree: gives them ids and remembers where in the text each begins. */
import type { Constant, Expression, MapEntry, StructField, SyntaxTree } from './ast.ts'
import type { ExpressionFactory } from './declarations.ts'

/** The variable that folds of macros collect in. No expression can name it. */
export const ACCUMULATOR = '@result'

/**
 * Nodes that macros may copy: `optMap` copies its target, so that each one in a chain doubles what is before it. Other
 * nodes are written out, and the length of the text bounds them. kube-apiserver has no such bound, but needs 13 seconds
 * for a chain of ten that makes 16,000 nodes.
 */
const MAX_COPIED = 20_000

/** A macro was called with what it cannot expand. */
export class MacroError extends Error {
  constructor(
    message: string,
    /** Id of the node that it is about; undefined: of the call. */
    readonly node: number | undefined,
  ) {
    super(message)
  }
}

/** Stands where parsing failed; a tree with one is never answered. */
export const placeholder = (id: number): Expression => ({ kind: 'literal', id, value: null })

export class Builder {
  private readonly offsets = new Map<number, number>()
  private readonly macroCalls = new Map<number, Expression>()
  private lastId = 0
  private copied = 0

  /** A new id for a node that begins there. */
  at(offset: number): number {
    this.offsets.set(++this.lastId, offset)
    return this.lastId
  }

  offsetOf(id: number): number | undefined {
    return this.offsets.get(id)
  }

  tree(text: string, root: Expression): SyntaxTree {
    return { text, root, offsets: this.offsets, macroCalls: this.macroCalls }
  }

  noteMacro(expanded: Expression, written: Expression): void {
    this.macroCalls.set(expanded.id, written)
  }

  literalAt = (id: number, value: Constant): Expression => ({ kind: 'literal', id, value })
  identifierAt = (id: number, name: string): Expression => ({ kind: 'identifier', id, name })
  selectAt = (id: number, operand: Expression, field: string, testOnly = false): Expression => ({
    kind: 'select',
    id,
    operand,
    field,
    testOnly,
  })
  callAt = (id: number, name: string, args: readonly Expression[], target?: Expression): Expression => ({
    kind: 'call',
    id,
    function: name,
    target,
    args,
  })
  listAt = (id: number, elements: readonly Expression[], optional: ReadonlySet<number>): Expression => ({
    kind: 'list',
    id,
    elements,
    optional,
  })
  mapAt = (id: number, entries: readonly MapEntry[]): Expression => ({ kind: 'map', id, entries })
  structAt = (id: number, type: string, fields: readonly StructField[]): Expression => ({
    kind: 'struct',
    id,
    type,
    fields,
  })

  /** A chain of `&&` or `||` as a tree of least depth. @param ids of the operators, one fewer than terms */
  balanced(name: string, ids: readonly number[], terms: readonly Expression[]): Expression {
    const between = (low: number, high: number): Expression => {
      if (low > high) return terms[low]!
      const middle = (low + high + 1) >> 1
      return this.callAt(ids[middle]!, name, [between(low, middle - 1), between(middle + 1, high)])
    }
    return between(0, ids.length - 1)
  }

  /** For the nodes that a macro makes: all begin where its call does. */
  factoryAt(call: number): ExpressionFactory {
    const id = (): number => this.at(this.offsets.get(call)!)
    return {
      accumulatorName: ACCUMULATOR,
      literal: (value) => this.literalAt(id(), value),
      identifier: (name) => this.identifierAt(id(), name),
      accumulator: () => this.identifierAt(id(), ACCUMULATOR),
      call: (name, ...args) => this.callAt(id(), name, args),
      memberCall: (name, target, ...args) => this.callAt(id(), name, args, target),
      select: (operand, field) => this.selectAt(id(), operand, field),
      presence: (operand, field) => this.selectAt(id(), operand, field, true),
      list: (...elements) => this.listAt(id(), elements, new Set()),
      map: (...entries) =>
        this.mapAt(
          id(),
          entries.map(([key, value]) => ({ id: id(), key, value, optional: false })),
        ),
      fold: (fold) => ({ kind: 'comprehension', id: id(), ...fold }),
      copy: (expression) => this.copy(expression),
      error: (message, at) => new MacroError(message, at?.id),
    }
  }

  /** Every node anew; the copies begin where the originals do. */
  private copy(expression: Expression): Expression {
    if (++this.copied > MAX_COPIED) throw new MacroError('expression is too large', undefined)
    const id = this.at(this.offsets.get(expression.id) ?? 0)
    const again = (one: Expression): Expression => this.copy(one)
    switch (expression.kind) {
      case 'literal':
      case 'identifier':
        return { ...expression, id }
      case 'select':
        return { ...expression, id, operand: again(expression.operand) }
      case 'call': {
        const { target, args } = expression
        return { ...expression, id, target: target && again(target), args: args.map(again) }
      }
      case 'list':
        return { ...expression, id, elements: expression.elements.map(again) }
      case 'map':
        return {
          ...expression,
          id,
          entries: expression.entries.map((entry) => ({
            ...entry,
            id: this.at(this.offsets.get(entry.id) ?? 0),
            key: again(entry.key),
            value: again(entry.value),
          })),
        }
      case 'struct':
        return {
          ...expression,
          id,
          fields: expression.fields.map((field) => ({
            ...field,
            id: this.at(this.offsets.get(field.id) ?? 0),
            value: again(field.value),
          })),
        }
      case 'comprehension': {
        const { range, initial, condition, step, result } = expression
        return {
          ...expression,
          id,
          range: again(range),
          initial: again(initial),
          condition: again(condition),
          step: again(step),
          result: again(result),
        }
      }
    }
  }
}
