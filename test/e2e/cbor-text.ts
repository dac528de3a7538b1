/** Just enough CBOR (RFC 8949) to send maps with any key. */
export class Encoder {
  readonly #bytes: number[] = []

  /** Encodes an object of objects and texts, with one further member. */
  object(members: Members, [name, entries]: readonly [string, readonly (readonly [string, string])[]]): Uint8Array {
    this.#head(5, Object.keys(members).length + 1)
    for (const [member, value] of Object.entries(members)) this.#member(member, value)
    this.#text(name)
    this.#head(5, entries.length)
    for (const [key, value] of entries) {
      this.#text(key)
      this.#text(value)
    }
    return Uint8Array.from(this.#bytes)
  }

  #member(name: string, value: string | Members): void {
    this.#text(name)
    if (typeof value === 'string') return this.#text(value)
    this.#head(5, Object.keys(value).length)
    for (const [member, below] of Object.entries(value)) this.#member(member, below)
  }

  #text(text: string): void {
    const bytes = new TextEncoder().encode(text)
    this.#head(3, bytes.length)
    this.#bytes.push(...bytes)
  }

  /** Encodes the initial byte; `count` is less than 24. */
  #head(major: number, count: number): void {
    this.#bytes.push((major << 5) | count)
  }
}

interface Members {
  readonly [name: string]: string | Members
}
