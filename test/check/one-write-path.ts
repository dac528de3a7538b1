/**
 * One module writes objects: it encodes each object and stores the outbox messages of the write beside it. These files
 * write to storage as well, each for the reason given; entries may only be removed.
 */
const writers: ReadonlyMap<string, string> = new Map([
  ['src/registry/write/commit.ts', 'the end of the write path'],
  ['src/tenancy/control-snapshot.ts', 'a storage that passes calls on, and notes what they change'],
  ['src/registry/write/audited-scope.ts', 'a storage that passes calls on, and audits them'],
  ['src/registry/core/services/node-ports.ts', 'the ports that are taken are no objects'],
  ['src/bootstrap/ensure-bootstrapped.ts', 'first objects are one call to each shard; the mark is no object'],
])

const WRITES = /\bstorage\.(?:create|createMissing|update|delete)\(|\bworkFor\(/
const BELOW = /^(?:src\/storage|durable-objects)\//

/** @returns the problems of a source file */
export function writeProblemsIn(file: string, source: string): string[] {
  if (writers.has(file) || BELOW.test(file)) return []
  return source
    .split('\n')
    .flatMap((line, index) =>
      WRITES.test(line) && !/\bfunction workFor\(/.test(line)
        ? [`${file}:${index + 1}: writes beside the write path; see src/registry/write/commit.ts`]
        : [],
    )
}

/** Listed files that no longer write. */
export const staleWriters = (sourceOf: (file: string) => string): string[] =>
  [...writers.keys()].filter((file) => !WRITES.test(sourceOf(file)))
