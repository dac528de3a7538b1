import { StorageError } from '../src/storage/errors.ts'
import { SEALED } from '../src/storage/encryption/sealing.ts'
import type { ListCall, WatchCall } from '../src/storage/shards/shard-protocol.ts'
import type { NewValue } from '../src/storage/storage.ts'
import type { Statements } from './statements.ts'

/** Whether a sealed value was ever stored. From then on the shard answers only callers that can open sealed values. */
export class SealedValues {
  private exist: boolean

  constructor(private readonly statements: Statements) {
    this.exist = statements.meta('sealed') === 1
  }

  /** Notes a value that is about to be written, and returns it. */
  noticed(value: NewValue): NewValue {
    if (!this.exist && value.text.startsWith(SEALED)) {
      this.statements.setMeta('sealed', 1)
      this.exist = true
    }
    return value
  }

  /** A caller without keys must not take an encrypted envelope for an object. @throws StorageError Sealed */
  checkOpens({ prefix, opens }: ListCall | WatchCall): void {
    if (this.exist && opens !== true) throw new StorageError('Sealed', 0, 0, `${prefix}: it is encrypted`)
  }
}
