import { platformClock } from '../../../src/base/clock.ts'
import { encrypted } from '../../../src/storage/encryption/encrypted.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { Sealer } from '../../../src/storage/encryption/sealing.ts'
import { storageSuite } from '../../storage-suite.ts'

/** All that the suite stores. */
const everything = { has: () => true } as unknown as ReadonlySet<string>

storageSuite(
  'memory, encrypted',
  async () => {
    const storage = memoryStorage(platformClock)
    const sealing = { id: 'test', secret: new Uint8Array(32).fill(7) }
    return {
      storage: encrypted(storage, new Sealer({ sealing, keys: [sealing], prefixes: everything })),
      compact: async (collection, floor) => storage.compact(collection, floor),
      restart: async () => {},
    }
  },
  true,
)
