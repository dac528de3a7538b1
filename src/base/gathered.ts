/**
 * Joins the chunks of a body as they arrive. The buffer takes at most twice the bytes received. If each chunk were
 * kept, three megabytes that a client sends byte by byte would take hundreds of megabytes.
 */
export class Gathered {
  /** The buffer. Its first `length` bytes are the ones received. */
  private octets: Uint8Array = new Uint8Array()
  length = 0

  add(piece: Uint8Array): void {
    const length = this.length + piece.length
    // Most bodies arrive in one chunk, which is kept without a copy. It has no spare room, so nothing writes into it.
    if (this.length === 0) this.octets = piece
    else {
      if (length > this.octets.length) this.grow(2 * length)
      this.octets.set(piece, this.length)
    }
    this.length = length
  }

  whole(): Uint8Array {
    return this.octets.subarray(0, this.length)
  }

  private grow(room: number): void {
    const octets = new Uint8Array(room)
    octets.set(this.whole())
    this.octets = octets
  }
}
