/** Parses JSON, with the errors of Go's encoding/json. */
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { goQuoteByte } from '../go/quote.ts'
import type { JsonTree } from './json.ts'
import { checkMembers, RepeatedMembers } from './json.ts'
import { numberOf, plainNumber } from './numbers.ts'
import type { NumberLiteral } from './numbers.ts'

/** Text that is not JSON; `message` is encoding/json's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'

  constructor(
    message: string,
    /** The position of the invalid UTF-16 unit. */
    readonly at: number,
  ) {
    super(message)
  }
}

type Container = { [name: string]: JsonTree | undefined } | RepeatedMembers | JsonTree[]

function addMember(container: Container, name: string, value: JsonTree): Container {
  if (container instanceof RepeatedMembers) container.entries.push([name, value])
  else {
    const object = container as { [name: string]: JsonTree | undefined } // the items of a list have no names
    if (ownValue(object, name) !== undefined)
      return new RepeatedMembers([...(Object.entries(object) as [string, JsonTree][]), [name, value]])
    setOwn(object, name, value)
  }
  return container
}

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
const QUOTE = 0x22
const BACKSLASH = 0x5c

export class Scanner {
  private at = 0
  private readonly containers: Container[] = []
  /** The name of the member to which each open container, or the current value, belongs. */
  private readonly names: string[] = []
  /** The number of members of each open container. */
  private readonly members: number[] = []
  private readonly number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  private readonly plain = /[^"\\\u0000-\u001f]*/y

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    /** Whether each character of the text stands for one byte. */
    private readonly isLatin1: boolean,
    /** The most members of one map. Only bodies of clients have a limit. */
    private readonly maxMembers = Infinity,
    /** This server wrote the text: no member is repeated, and numbers get their form in memory. */
    private readonly stored?: 'exact' | 'rounded',
  ) {}

  document(): JsonTree {
    return this.valueWithin(Infinity)!
  }

  /**
   * Reads at most `values` values. It is iterative because 10,000 levels would overflow the stack.
   * @returns undefined if there are more values; the next call continues
   */
  valueWithin(values: number): JsonTree | undefined {
    const { containers, names, members } = this
    for (let left = values; left > 0; left--) {
      this.skipSpace()
      const code = this.text.charCodeAt(this.at)
      let value: JsonTree
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (containers.length >= this.maxDepth) throw this.unexpected('exceeded max depth')
        this.at++
        const opened: Container = code === OPEN_BRACE ? {} : []
        this.skipSpace()
        if (this.text.charCodeAt(this.at) === (code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) {
          this.at++
          value = opened
        } else {
          containers.push(opened)
          members.push(0)
          names.push(code === OPEN_BRACE ? this.memberName() : '')
          continue
        }
      } else value = this.scalar(code)

      for (;;) {
        const depth = containers.length - 1
        if (depth < 0) {
          this.skipSpace()
          if (this.at < this.text.length) throw this.unexpected('after top-level value')
          return value
        }
        const container = containers[depth]!
        const isList = Array.isArray(container)
        if (isList) container.push(value)
        else {
          if (++members[depth]! > this.maxMembers) checkMembers(Infinity)
          if (this.stored !== undefined) setOwn(container as JsonObject, names[depth]!, value as Json)
          else containers[depth] = addMember(container, names[depth]!, value)
        }
        this.skipSpace()
        const next = this.text.charCodeAt(this.at)
        if (next === COMMA) {
          this.at++
          if (!isList) {
            this.skipSpace()
            names[depth] = this.memberName()
          }
          break
        }
        if (next !== (isList ? CLOSE_BRACKET : CLOSE_BRACE))
          throw this.unexpected(isList ? 'after array element' : 'after object key:value pair')
        this.at++
        value = containers.pop()!
        names.pop()
        members.pop()
      }
    }
    return undefined
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at++
    }
  }

  /** Reads a member name and its colon. */
  private memberName(): string {
    if (this.text.charCodeAt(this.at) !== QUOTE) throw this.unexpected('looking for beginning of object key string')
    const name = this.string()
    this.skipSpace()
    if (this.text.charCodeAt(this.at) !== COLON) throw this.unexpected('after object key')
    this.at++
    return name
  }

  private scalar(code: number): JsonTree {
    switch (code) {
      case QUOTE:
        return this.string()
      case 0x74: // t
        return this.word('true', true)
      case 0x66: // f
        return this.word('false', false)
      case 0x6e: // n
        return this.word('null', null)
    }
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.numeric()
    throw this.unexpected('looking for beginning of value')
  }

  private word<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++)
      if (this.text.charCodeAt(this.at + i) !== word.charCodeAt(i)) {
        this.at += i
        throw this.unexpectedInside(`in literal ${word} (expecting '${word[i]}')`)
      }
    this.at += word.length
    return value
  }

  private numeric(): number | bigint | NumberLiteral {
    this.number.lastIndex = this.at
    const text = this.number.exec(this.text)?.[0]
    if (text === undefined) {
      this.at++
      throw this.unexpectedInside('in numeric literal')
    }
    this.at += text.length
    const code = this.text.charCodeAt(this.at)
    if (code === 0x2e && !/[.eE]/.test(text)) {
      this.at++
      throw this.unexpectedInside('after decimal point in numeric literal')
    }
    if ((code === 0x65 || code === 0x45) && !/[eE]/.test(text)) {
      this.at++
      const sign = this.text.charCodeAt(this.at)
      if (sign === 0x2b || sign === 0x2d) this.at++
      throw this.unexpectedInside('in exponent of numeric literal')
    }
    return this.stored === undefined ? numberOf(text) : this.stored === 'rounded' ? Number(text) : plainNumber(text)
  }

  private string(): string {
    this.at++
    let start = this.at
    let read = ''
    for (;;) {
      this.plain.lastIndex = this.at
      this.plain.test(this.text)
      this.at = this.plain.lastIndex
      const code = this.text.charCodeAt(this.at)
      if (code === QUOTE) {
        const text = read + this.text.slice(start, this.at)
        this.at++
        return read === '' ? text : text.toWellFormed()
      }
      if (code !== BACKSLASH) throw this.unexpected('in string literal')
      read += this.text.slice(start, this.at) + this.escape()
      start = this.at
    }
  }

  private escape(): string {
    this.at++
    const code = this.text[this.at]
    this.at++
    switch (code) {
      case '"':
      case '\\':
      case '/':
        return code
      case 'b':
        return '\b'
      case 'f':
        return '\f'
      case 'n':
        return '\n'
      case 'r':
        return '\r'
      case 't':
        return '\t'
      case 'u': {
        const end = this.at + 4
        for (; this.at < end; this.at++)
          if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? ''))
            throw this.unexpectedInside('in \\u hexadecimal character escape')
        return String.fromCharCode(parseInt(this.text.slice(end - 4, end), 16))
      }
    }
    this.at--
    throw this.unexpectedInside('in string escape code')
  }

  /** Go reads a blank after the end, which no literal, number or escape goes on with. */
  private unexpectedInside(context: string): JsonSyntaxError {
    if (this.at < this.text.length) return this.unexpected(context)
    return new JsonSyntaxError(`invalid character ' ' ${context}`, this.at)
  }

  private unexpected(context: string): JsonSyntaxError {
    if (this.at >= this.text.length) return new JsonSyntaxError('unexpected end of JSON input', this.at)
    const code = this.text.codePointAt(this.at)!
    const byte = this.isLatin1 ? code : new TextEncoder().encode(String.fromCodePoint(code))[0]!
    return new JsonSyntaxError(`invalid character ${goQuoteByte(byte)} ${context}`, this.at)
  }
}
