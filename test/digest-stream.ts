// workerd's crypto.DigestStream, which Node lacks.
import { createHash } from 'node:crypto'

class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>

  constructor() {
    const hash = createHash('sha256')
    const { promise, resolve } = Promise.withResolvers<ArrayBuffer>()
    super({
      write: (bytes) => void hash.update(bytes),
      close: () => resolve(new Uint8Array(hash.digest()).buffer),
    })
    this.digest = promise
  }
}

Object.assign(crypto, { DigestStream })
