/** Indents JSON by two spaces like Go's MarshalIndent. The pieces of a text may begin and end anywhere. */

import { joined } from '../../base/bytes.ts'
import { forAsLong, kept, PART } from '../../base/parts.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const NEWLINE = 0x0a
const SPACE = 0x20

const encoder = new TextEncoder()

/** Bytes that one call indents without a pause. */
const SOME = 64 * 1024

/**
 * Indents a whole text of compact JSON.
 * @param owner the key of the text in a walk (base/parts.ts)
 */
export function indented(json: string, owner?: object): Uint8Array {
  if (json.length <= SOME) return new Indenter().add(encoder.encode(json))
  return kept(owner, () => new Indenter()).addInParts(json, owner)
}

/** Indents one document, piece by piece. */
export class Indenter {
  private depth = 0
  /** The last byte opened an object or a list, which may be empty. */
  private isOpened = false
  private isInString = false
  private isEscaped = false
  private out: Uint8Array = new Uint8Array()
  private length = 0

  /** @param json compact */
  add(json: Uint8Array): Uint8Array {
    this.out = new Uint8Array(json.length * 2 + 64)
    this.length = 0
    let at = 0
    while (at < json.length) {
      if (this.isInString) {
        at = this.string(json, at)
        continue
      }
      const byte = json[at++]!
      const rest = json.length - at
      switch (byte) {
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (this.isOpened) this.newLine(rest)
          this.out[this.length++] = byte
          this.depth++
          this.isOpened = true
          break
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.depth--
          if (this.isOpened) this.isOpened = false
          else this.newLine(rest)
          this.out[this.length++] = byte
          break
        case COMMA:
          this.out[this.length++] = byte
          this.newLine(rest)
          break
        case COLON:
          this.out[this.length++] = byte
          this.out[this.length++] = SPACE
          break
        default:
          if (this.isOpened) {
            this.newLine(rest)
            this.isOpened = false
          }
          this.out[this.length++] = byte
          this.isInString = byte === QUOTE
      }
    }
    return this.out.subarray(0, this.length)
  }

  /**
   * Like `add` for a text, in a walk (base/parts.ts).
   * @param owner the key of the text in the walk
   */
  addInParts(json: string, owner: unknown): Uint8Array {
    if (json.length <= SOME) return this.add(encoder.encode(json))
    const state = kept(owner, () => ({ bytes: encoder.encode(json), at: 0, pieces: [] as Uint8Array[] }))
    const { bytes, pieces } = state
    forAsLong(() => {
      if (state.at >= bytes.length) return false
      pieces.push(this.add(bytes.subarray(state.at, state.at + SOME)).slice())
      state.at += SOME
      return PART
    })
    return joined(pieces)
  }

  /**
   * Copies up to the quote that ends a string.
   * @returns the position behind it
   */
  private string(json: Uint8Array, start: number): number {
    const { out } = this
    let to = this.length
    let at = start
    for (; at < json.length; at++) {
      const byte = json[at]!
      out[to++] = byte
      if (this.isEscaped) this.isEscaped = false
      else if (byte === BACKSLASH) this.isEscaped = true
      else if (byte === QUOTE) {
        this.isInString = false
        at++
        break
      }
    }
    this.length = to
    return at
  }

  /** @param rest the number of following bytes; each becomes at most two bytes before the next line */
  private newLine(rest: number): void {
    const spaces = this.depth * 2
    const needed = this.length + spaces + rest * 2 + 16
    if (needed > this.out.length) {
      const bigger = new Uint8Array(needed + (needed >> 1))
      bigger.set(this.out.subarray(0, this.length))
      this.out = bigger
    }
    this.out[this.length++] = NEWLINE
    this.out.fill(SPACE, this.length, this.length + spaces)
    this.length += spaces
  }
}
