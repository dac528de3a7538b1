import { platformClock } from '../../src/base/clock.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { storageSuite } from '../storage-suite.ts'

storageSuite('memory', async () => {
  const storage = memoryStorage(platformClock)
  return {
    storage,
    compact: async (collection, floor) => storage.compact(collection, floor),
    restart: async () => {},
  }
})
