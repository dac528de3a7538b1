/** Makes the nodes of a syntax tree. It numbers them and records the offset of each in the text. */
import type { Constant, Expression, MapEntry, StructField, SyntaxTree } from './ast.ts'
import type { ExpressionFactory } from '../declarations.ts'

/** The accumulator of comprehensions that macros make. No expression can name it. */
export const ACCUMULATOR = '@result'

/**
 * The most nodes that macros may copy. `optMap` copies its target, so each link of a chain doubles the nodes before it.
 * The length of the text bounds all other nodes. kube-apiserver has no such limit, and needs 13 seconds for a chain of
 * ten, which makes 16,000 nodes.
 */
const MAX_COPIED = 20_000

/** A macro cannot expand its arguments. */
export class MacroError extends Error {
  constructor(
    message: string,
    /** Id of the node with the error. Undefined: the call itself. */
    readonly node: number | undefined,
  ) {
    super(message)
  }
}

/** Stands in for a node that failed to parse. A tree with a placeholder is never returned. */
export const placeholder = (id: number): Expression => ({ kind: 'literal', id, value: null })

export interface BuilderState {
  readonly next: number
  readonly copied: number
}

export class Builder {
  /** By id; the first id is 1. */
  private readonly offsets: number[] = [0]
  private next = 1
  private copied = 0

  /** A new id for a node that begins at the offset. */
  at(offset: number): number {
    this.offsets[this.next] = offset
    return this.next++
  }

  /** The ids given and the nodes copied so far. */
  get state(): BuilderState {
    return { next: this.next, copied: this.copied }
  }

  /** Goes to where an earlier parse of the same text was: its nodes have the same ids and offsets. */
  restore({ next, copied }: BuilderState): void {
    this.next = next
    this.copied = copied
  }

  offsetOf(id: number): number | undefined {
    return this.offsets[id]
  }

  tree(text: string, root: Expression): SyntaxTree {
    return { text, root, offsets: this.offsets }
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

  /** A balanced tree of `&&` or `||`, as cel-go makes it. @param ids of the operators, one fewer than terms */
  balanced(name: string, ids: readonly number[], terms: readonly Expression[]): Expression {
    const between = (low: number, high: number): Expression => {
      if (low > high) return terms[low]!
      const middle = (low + high + 1) >> 1
      return this.callAt(ids[middle]!, name, [between(low, middle - 1), between(middle + 1, high)])
    }
    return between(0, ids.length - 1)
  }

  /** Makes the nodes of a macro's expansion. All have the offset of the call. */
  factoryAt(call: number): ExpressionFactory {
    const id = (): number => this.at(this.offsets[call]!)
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

  /** A copy with new ids. Each copied node keeps the offset of its original. */
  private copy(expression: Expression): Expression {
    if (++this.copied > MAX_COPIED) throw new MacroError('expression is too large', undefined)
    const id = this.at(this.offsets[expression.id] ?? 0)
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
            id: this.at(this.offsets[entry.id] ?? 0),
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
            id: this.at(this.offsets[field.id] ?? 0),
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
