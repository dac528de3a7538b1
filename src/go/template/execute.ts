/** Runs a Go template over plain JSON, within a budget of steps and of bytes. */
import { ownValue } from '../../base/own.ts'
import type { Value } from './functions.ts'
import { builtIns, isMap, isTrue, keysOf, MOST_TEXT, printed } from './functions.ts'
import type { Node, Pipe, Term } from './parse.ts'
import { TemplateError } from './tokens.ts'

export type TemplateFunction = (...args: readonly Value[]) => Value

const MOST_STEPS = 20_000
/** Characters that its functions are given and make, in all. */
const MOST_HANDLED = 10_000_000

/** @throws TemplateError */
export function runTemplate(
  nodes: readonly Node[],
  data: Value,
  functions: ReadonlyMap<string, TemplateFunction>,
): string {
  const run = new Run(functions, data)
  run.list(nodes, data)
  return run.text
}

type Block = Extract<Node, { readonly kind: 'if' | 'with' | 'range' }>
type Flow = 'break' | 'continue' | undefined

class Run {
  text = ''
  private steps = 0
  private handled = 0
  /** As they were declared. Bound: MOST_STEPS. */
  private readonly variables: { readonly name: string; value: Value }[]

  constructor(
    private readonly functions: ReadonlyMap<string, TemplateFunction>,
    data: Value,
  ) {
    this.variables = [{ name: '$', value: data }]
  }

  list(nodes: readonly Node[], dot: Value): Flow {
    const known = this.variables.length
    for (const node of nodes) {
      const flow = this.node(node, dot)
      if (flow !== undefined) return flow
    }
    // those of a block end with it
    this.variables.length = known
    return undefined
  }

  private node(node: Node, dot: Value): Flow {
    this.step()
    if (node.kind === 'text') this.write(node.text)
    else if (node.kind === 'action') {
      const value = this.pipe(node.pipe, dot)
      if (node.pipe.variables.length === 0) this.write(printed(value))
    } else if (node.kind === 'break') return 'break'
    else if (node.kind === 'continue') return 'continue'
    else {
      const known = this.variables.length
      const flow = this.branch(node, dot)
      this.variables.length = known
      return flow
    }
    return undefined
  }

  private branch(node: Block, dot: Value): Flow {
    if (node.kind === 'range') return this.range(node, dot)
    const value = this.pipe(node.pipe, dot)
    if (!isTrue(value)) return this.list(node.other, dot)
    return this.list(node.body, node.kind === 'with' ? value : dot)
  }

  private range({ pipe, body, other }: Block, dot: Value): Flow {
    const value = this.value(pipe, dot)
    const items = itemsOf(value)
    // they are listed, also where the loop ends early
    this.step(Math.ceil(items.length / 100))
    for (const [key, item] of items) {
      this.step()
      const known = this.variables.length
      const [first, second] = pipe.variables
      const named: [string | undefined, Value][] =
        second === undefined
          ? [[first, item]]
          : [
              [first, key],
              [second, item],
            ]
      for (const [name, one] of named) if (name !== undefined) this.assign(name, one, pipe.declares)
      const flow = this.list(body, item)
      this.variables.length = known
      if (flow === 'break') break
    }
    return items.length === 0 ? this.list(other, dot) : undefined
  }

  private pipe(pipe: Pipe, dot: Value): Value {
    const value = this.value(pipe, dot)
    const [name] = pipe.variables
    if (name !== undefined) this.assign(name, value, pipe.declares)
    return value
  }

  private value({ commands }: Pipe, dot: Value): Value {
    let value: Value = null
    for (const [index, [first, ...rest]] of commands.entries())
      value = this.command(first!, rest, dot, index === 0 ? [] : [value])
    return value
  }

  private command(first: Term, rest: readonly Term[], dot: Value, last: readonly Value[]): Value {
    if (first.kind !== 'call') return this.term(first, dot)
    this.step()
    // these two look no further than they must
    if (first.name === 'and' || first.name === 'or') {
      let value: Value = null
      for (const arg of [...rest.map((term) => () => this.term(term, dot)), ...last.map((one) => () => one)]) {
        value = arg()
        if (isTrue(value) === (first.name === 'or')) break
      }
      return value
    }
    const args = [...rest.map((term) => this.term(term, dot)), ...last]
    const called = this.functions.get(first.name) ?? builtIns.get(first.name)
    if (called === undefined) throw new TemplateError(`function "${first.name}" is not known`)
    for (const arg of args) this.handle(arg)
    const value = called(...args)
    if (typeof value === 'string') checkLength(value)
    this.handle(value)
    return value
  }

  private term(term: Term, dot: Value): Value {
    this.step()
    if (term.kind === 'literal') return term.value
    if (term.kind === 'field') return along(dot, term.path)
    if (term.kind === 'call') return this.command(term, [], dot, [])
    if (term.kind === 'pipe') return along(this.value(term.pipe, dot), term.path)
    return along(this.variable(term.name).value, term.path)
  }

  private variable(name: string): { value: Value } {
    const found = this.variables.findLast((one) => one.name === name)
    if (found === undefined) throw new TemplateError(`variable ${name} is not known`)
    return found
  }

  private assign(name: string, value: Value, declares: boolean): void {
    if (declares) this.variables.push({ name, value })
    else this.variable(name).value = value
  }

  private write(text: string): void {
    this.text += text
    checkLength(this.text)
  }

  /** What is made of a list or a map is handled when it is there. */
  private handle(value: Value): void {
    if (typeof value !== 'string') return
    this.handled += value.length
    if (this.handled > MOST_HANDLED) throw new TemplateError(`more than ${MOST_HANDLED} characters in its functions`)
  }

  private step(count = 1): void {
    this.steps += count
    if (this.steps > MOST_STEPS) throw new TemplateError(`more than ${MOST_STEPS} steps`)
  }
}

function checkLength(text: string): void {
  if (text.length > MOST_TEXT) throw new TemplateError(`more than ${MOST_TEXT} characters`)
}

/** What is not there is no value, and neither is a field of that. @throws TemplateError for fields of a text or number */
function along(value: Value, path: readonly string[]): Value {
  let now = value
  for (const name of path) {
    if (now === null) return null
    if (!isMap(now)) throw new TemplateError(`can't evaluate field ${name}`)
    now = ownValue(now, name) ?? null
  }
  return now
}

function itemsOf(value: Value): readonly [Value, Value][] {
  if (value === null) return []
  if (Array.isArray(value)) return value.map((item, index) => [index, item])
  if (isMap(value)) return keysOf(value).map((key) => [key, ownValue(value, key) ?? null])
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_STEPS)
    return Array.from({ length: value }, (_, index) => [index, index])
  throw new TemplateError(`range can't iterate over ${printed(value)}`)
}
