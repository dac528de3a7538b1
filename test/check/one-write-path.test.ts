import { describe, expect, it } from 'vitest'
import { writeProblemsIn } from './one-write-path.ts'

describe('a source file', () => {
  it.each([
    ['src/endpoints/verbs/get.ts', 'await scope.storage.update(collection, key, value, revision)', 1],
    ['src/endpoints/verbs/get.ts', 'await storage.createMissing(shard, values)', 1],
    ['src/controllers/namespaces/namespace.ts', 'const outbox = workFor({ resource, object })', 1],
    ['src/registry/write/commit.ts', 'return liveOf(await storage.create(collection, key, value))', 0],
    ['src/registry/work/outbox.ts', 'export function workFor(rules: WorkRules, change: Change): readonly Work[] {', 0],
    ['src/storage/encryption/encrypted.ts', 'return storage.create(collection, key, value)', 0],
    ['src/endpoints/verbs/get.ts', 'await scope.storage.get(collection, key)', 0],
  ])('%s: %s', (file, source, problems) => expect(writeProblemsIn(file, source)).toHaveLength(problems))
})
