/**
 * Octets that come in pieces, joined as they come. However small the pieces are, they take no more room than twice what
 * is in them: three megabytes that are sent octet by octet would be hundreds if each piece were kept.
 */
export class Gathered {
  /** The first `length` of them are those that came. */
  private octets: Uint8Array = new Uint8Array()
  length = 0

  add(piece: Uint8Array): void {
    const length = this.length + piece.length
    // Most of what is read comes in one piece, which is kept as it is. It has no room for more, so nothing writes into it.
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
