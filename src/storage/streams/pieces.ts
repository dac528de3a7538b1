import { joined } from '../../base/bytes.ts'

/** Holds bytes of a stream until a value is complete. Each byte is copied twice, however many pieces a value has. */
export class Pieces {
  /** Bound: the buffers of one stream's values; a value ends at 3 MiB, a frame with its chunk. */
  private readonly pieces: Uint8Array[] = []
  length = 0

  constructor(private readonly copied: (bytes: number) => void = () => {}) {}

  /** @param piece may be lent: it is copied */
  push(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.pieces.push(piece.slice())
    this.copied(piece.length)
    this.length += piece.length
  }

  /** Returns all held bytes and the given ones in a new buffer. */
  take(end: Uint8Array = NOTHING): Uint8Array {
    const all = joined([...this.pieces.splice(0), end], this.length + end.length)
    this.copied(all.length)
    this.length = 0
    return all
  }
}

const NOTHING = new Uint8Array()
