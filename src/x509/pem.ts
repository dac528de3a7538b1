/** Textual encodings of keys and certificates (RFC 7468), read as leniently as Go's encoding/pem. */
import { Budget } from '../base/budget.ts'

export interface PemBlock {
  readonly type: string
  readonly bytes: Uint8Array
  readonly hasHeaders: boolean
}

const BEGIN = '-----BEGIN '
const END = '\n-----END '
const DASHES = '-----'

/**
 * All blocks in order. Text between blocks and unreadable blocks are skipped.
 * @param work counts characters
 */
export function pemBlocks(text: string, work = new Budget()): PemBlock[] {
  const scanner = new PemScanner(text, work)
  const blocks: PemBlock[] = []
  for (let block = scanner.next(); block !== undefined; block = scanner.next()) blocks.push(block)
  return blocks
}

/** Scans the text once. It remembers where a search found nothing, so that no part is searched twice. */
class PemScanner {
  private at = 0
  /** The first END line at or after the last search for one; the length of the text where there is none. */
  private nextEnd = -1
  private readonly text: string
  private readonly work: Budget

  constructor(text: string, work: Budget) {
    this.text = text
    this.work = work
  }

  next(): PemBlock | undefined {
    while (this.toBegin()) {
      const typeLine = this.line()
      if (!typeLine.endsWith(DASHES)) continue
      const block = this.block(typeLine.slice(0, -DASHES.length))
      if (block !== undefined) return block
    }
    return undefined
  }

  /** Moves behind the next `-----BEGIN ` at the start of a line. */
  private toBegin(): boolean {
    if (!this.text.startsWith(BEGIN, this.at)) {
      const found = this.find(`\n${BEGIN}`)
      if (found < 0) return false
      this.at = found + 1
    }
    this.at += BEGIN.length
    return true
  }

  /** @returns undefined where there is no valid block; the position is then behind the headers */
  private block(type: string): PemBlock | undefined {
    const hasHeaders = this.skipHeaders()
    const isEmpty = !hasHeaders && this.text.startsWith(END.slice(1), this.at)
    const end = isEmpty ? this.at - 1 : this.end()
    const { text } = this
    if (end >= text.length || !text.startsWith(`${type}${DASHES}`, end + END.length)) return undefined
    const after = endOfLine(text, end + END.length + type.length + DASHES.length)
    if (after === undefined) return undefined
    const bytes = this.decoded(text.slice(this.at, Math.max(end, this.at)))
    if (bytes === undefined) return undefined
    this.at = after
    return { type, bytes, hasHeaders }
  }

  /** Undefined where it is not base64. The check stops at the first wrong character. */
  private decoded(body: string): Uint8Array | undefined {
    const wrong = body.search(/[^A-Za-z0-9+/=\s]/)
    this.work.spend(wrong < 0 ? body.length : wrong + 1)
    if (wrong >= 0) return undefined
    const base64 = body.replace(/[ \t\r\n]/g, '')
    try {
      return base64.length % 4 === 0 ? fromBase64(base64) : undefined
    } catch {
      return undefined
    }
  }

  private skipHeaders(): boolean {
    const start = this.at
    for (;;) {
      const before = this.at
      if (this.line().includes(':') && this.at > before) continue
      this.at = before
      return before > start
    }
  }

  /** Returns one line without its end, and moves behind it. */
  private line(): string {
    const found = this.find('\n')
    const end = found < 0 ? this.text.length : found
    const line = this.text.slice(this.at, end)
    this.at = Math.min(end + 1, this.text.length)
    return withoutBlanks(line)
  }

  private end(): number {
    if (this.nextEnd < this.at) {
      const found = this.find(END)
      this.nextEnd = found < 0 ? this.text.length : found
    }
    return this.nextEnd
  }

  private find(what: string): number {
    const found = this.text.indexOf(what, this.at)
    this.work.spend((found < 0 ? this.text.length : found) - this.at + 1)
    return found
  }
}

/** Removes spaces, tabs and carriage returns at the end of a line. */
function withoutBlanks(line: string): string {
  let end = line.length
  while (end > 0 && ' \t\r'.includes(line[end - 1]!)) end--
  return line.slice(0, end)
}

/** The position of the next line, where the rest of this one is blank. */
function endOfLine(text: string, at: number): number | undefined {
  while (at < text.length && ' \t\r'.includes(text[at]!)) at++
  return at >= text.length ? at : text[at] === '\n' ? at + 1 : undefined
}

export function pemText(type: string, bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`
}

/** @throws where the text is not base64 */
export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
