/**
 * The first lines of `JSON.stringify(value, null, 1)`, with Go's escapes. The number of lines has a bound, because each empty element of a
 * body may become thirty members. Runs as a walk (base/parts.ts).
 */
import { jsonText } from '../api/field.ts'
import { eachPart, kept } from '../base/parts.ts'

/** Lines that one part writes (base/parts.ts). */
const AT_ONCE = 1024

/** A list or an object whose end is not written yet. */
interface Open {
  readonly value: readonly unknown[] | Readonly<Record<string, unknown>>
  /** undefined: a list */
  readonly names: readonly string[] | undefined
  readonly indent: string
  readonly comma: string
  next: number
}

/** @param owner the key of these lines in the walk, the same in each run */
export function writtenLines(value: unknown, most: number, owner: object): readonly string[] {
  const writer = kept(owner, () => new LineWriter(value, most))
  eachPart(writer.turns, () => writer.goOn(), AT_ONCE / 4)
  return writer.lines
}

class LineWriter {
  readonly lines: string[] = []
  /** One element for each possible part. */
  readonly turns: readonly undefined[]
  private readonly open: Open[] = []

  constructor(
    value: unknown,
    private readonly most: number,
  ) {
    this.turns = new Array<undefined>(Math.ceil(most / AT_ONCE)).fill(undefined)
    this.write(value, '', '', '')
  }

  /** @returns whether there is more */
  goOn(): boolean {
    const end = Math.min(this.most, this.lines.length + AT_ONCE)
    while (this.open.length > 0 && this.lines.length < end) this.step(this.open.at(-1)!)
    return this.open.length > 0 && this.lines.length < this.most
  }

  private step(open: Open): void {
    const { value, names, indent, comma } = open
    const length = names === undefined ? (value as readonly unknown[]).length : names.length
    if (open.next === length) {
      this.open.pop()
      this.lines.push(`${indent}${names === undefined ? ']' : '}'}${comma}`)
      return
    }
    const at = open.next++
    const after = at + 1 < length ? ',' : ''
    if (names === undefined) this.write((value as readonly unknown[])[at] ?? null, `${indent} `, '', after)
    else {
      const name = names[at]!
      // own key: one of its names
      const member = (value as Readonly<Record<string, unknown>>)[name]
      if (member !== undefined) this.write(member, `${indent} `, `${jsonText(name)}: `, after)
    }
  }

  /** A scalar, or the beginning of a list or an object. */
  private write(value: unknown, indent: string, name: string, comma: string): void {
    const names = namesOf(value)
    if (names === undefined && !Array.isArray(value)) this.lines.push(`${indent}${name}${scalarText(value)}${comma}`)
    else if ((names ?? (value as unknown[])).length === 0)
      this.lines.push(`${indent}${name}${names ? '{}' : '[]'}${comma}`)
    else {
      this.lines.push(`${indent}${name}${names ? '{' : '['}`)
      this.open.push({ value: value as Open['value'], names, indent, comma, next: 0 })
    }
  }
}

const scalarText = (value: unknown): string =>
  value === null || value === undefined ? 'null' : jsonText(value as string | number | boolean | object) // JSON has no others

/** The names of an object's members; undefined for lists, scalars and objects with toJSON. */
function namesOf(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value) return undefined
  const names = Object.keys(value)
  // JSON leaves out undefined members; the last name must have a value, because no comma follows it
  while (names.length > 0 && (value as Readonly<Record<string, unknown>>)[names.at(-1)!] === undefined) names.pop() // own key: one of its own
  return names
}
