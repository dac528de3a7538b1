/**
 * Code receives the time as an argument: a request has its clock, and so has an object of the platform. Only
 * base/clock.ts reads the platform's clock, and only the files below may import it from there.
 */
const mayTakeIt: ReadonlyMap<string, string> = new Map([
  ['src/index.ts', 'requests begin there'],
  ['durable-objects/resource-shard.ts', 'calls and alarms of the object begin there'],
  ['durable-objects/controller-manager.ts', 'calls and alarms of the object begin there'],
  ['src/storage/environment-storage.ts', 'one storage serves all requests of the isolate'],
  ['src/tenancy/control-snapshot.ts', 'one copy of the configuration serves all requests of the isolate'],
  ['src/expressions/expression-times.ts', 'rules are compiled for all requests of the isolate'],
  ['src/authorization/chain.ts', 'answers of webhooks are kept for all requests of the isolate'],
  ['src/tenancy/recent-objects.ts', 'what was read is for all requests of the isolate'],
  ['src/base/waiting-places.ts', 'places are shared by all requests of the isolate'],
  ['src/base/few-at-once.ts', 'large items are those of all requests of the isolate'],
  ['src/codec/protobuf/kept-items.ts', 'lists are those of all requests of the isolate'],
  ['src/tenancy/shared-value.ts', 'a value is made for all requests of the isolate'],
  ['src/flowcontrol/open-watches.ts', 'the places are those of all requests of the isolate'],
  ['src/flowcontrol/open-lists.ts', 'the places are those of all requests of the isolate'],
  ['src/flowcontrol/admit-request.ts', 'the seats are those of all requests of the isolate'],
])

/**
 * The CLI's programs measure how long something takes with performance.now(), which nobody sets. Only the files below
 * may ask what time it is.
 */
const mayReadTime: ReadonlyMap<string, string> = new Map([
  ['src/cli/build/build.ts', 'compares with the times of files'],
  ['src/cli/commands/keys.ts', 'certificates have dates'],
  ['src/cli/commands/start.ts', 'certificates have dates'],
  ['src/cli/commands/token.ts', 'tokens have dates'],
  ['src/cli/engine/audit-log.ts', 'names files after the time'],
  ['src/cli/front/answer-date.ts', 'tells clients the time'],
  ['src/cli/front/attestation.ts', 'tells the engine the time'],
  ['src/cli/front/client-certificate.ts', 'certificates have dates'],
  ['src/cli/main.ts', 'certificates and tokens have dates'],
])

const READS = /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b/
const READS_TIME = /\bDate\.now\b|\bnew Date\(\s*\)/
const TAKES = /\bplatformClock\b/
const OWNER = 'src/base/clock.ts'

/** @returns the problems of a source file outside of the CLI */
export function clockProblemsIn(file: string, source: string): string[] {
  if (file === OWNER) return []
  return source.split('\n').flatMap((line, index) => {
    const place = `${file}:${index + 1}`
    if (READS.test(line)) return [`${place}: reads the clock; take it as an argument (${OWNER})`]
    if (TAKES.test(line) && !mayTakeIt.has(file)) return [`${place}: takes the platform's clock; be given one`]
    return []
  })
}

/** @returns the problems of a source file of the CLI */
export const timeProblemsIn = (file: string, source: string): string[] =>
  mayReadTime.has(file)
    ? []
    : source
        .split('\n')
        .flatMap((line, index) =>
          READS_TIME.test(line) ? [`${file}:${index + 1}: reads a clock that may be set; use performance.now()`] : [],
        )

/** Listed files that no longer read or import the clock. */
export const staleClockPlaces = (sourceOf: (file: string) => string): string[] => [
  ...[...mayTakeIt.keys()].filter((file) => !TAKES.test(sourceOf(file))),
  ...[...mayReadTime.keys()].filter((file) => !READS_TIME.test(sourceOf(file))),
]
