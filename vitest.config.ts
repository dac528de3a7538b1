import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

// Objects that live for a second need no disk: waiting for it is half the time of the model's histories.
const IN_MEMORY = '/dev/shm'
if (existsSync(IN_MEMORY)) {
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  if (bavail * bsize > 500e6) process.env.TMPDIR ??= IN_MEMORY
}

const SUITES_APART = ['durable-objects', 'e2e', 'conformance', 'clients', 'soak', 'differential', 'hostile/wall']
const inNode = globSync('test/**/*.test.ts', {
  cwd: import.meta.dirname,
  exclude: SUITES_APART.map((suite) => `test/${suite}`),
})
/**
 * A module that a file replaces is replaced for every file that loads it later, one that counts has counted, and
 * CountedWork leaves V8 without its compilers.
 */
const apart = inNode.filter((file) =>
  /vi\.mock\(|CountedWork|needs modules of its own/.test(readFileSync(file, 'utf8')),
)

export default defineConfig({
  test: {
    // by default one less than there are processors: on two, no two files at once
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [...SUITES_APART.map((suite) => `test/${suite}/**`), ...apart],
          // Loading the modules anew for each file takes more than half of the time.
          isolate: false,
          setupFiles: 'test/after-each-file.ts',
          // nothing is timed here: a busy machine may take its time
          testTimeout: 150_000,
        },
      },
      { test: { name: 'node-apart', include: apart, testTimeout: 150_000 } },
      {
        // Inside workerd, with real Durable Objects.
        plugins: [
          cloudflareTest({
            main: './test/durable-objects/worker.ts',
            // The engine's own account of each crash that a test makes.
            verbose: false,
            miniflare: {
              compatibilityDate: '2026-10-01',
              bindings: {
                SEED: process.env.KEDGE_SEED ?? '',
                SEEDS: process.env.KEDGE_SEEDS ?? '200',
                KEDGE_HISTORY_SECONDS: '300,keeps-days=172800',
              },
              durableObjects: {
                SHARDS: { className: 'ResourceShard', useSQLite: true },
                CONTROLLERS: { className: 'Recorder', useSQLite: true },
                RECORDER: { className: 'Recorder', useSQLite: true },
                MANAGERS: { className: 'ControllerManager', useSQLite: true },
              },
            },
          }),
        ],
        test: { name: 'durable-objects', include: ['test/durable-objects/**/*.test.ts'], testTimeout: 150_000 },
      },
    ],
  },
})
