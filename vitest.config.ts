import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/durable-objects/**', 'test/e2e/**', 'test/conformance/**', 'test/clients/**'],
        },
      },
      {
        // Inside workerd, with real Durable Objects.
        plugins: [
          cloudflareTest({
            main: './test/durable-objects/worker.ts',
            miniflare: {
              compatibilityDate: '2026-10-01',
              bindings: { KEDGE_SEED: process.env.KEDGE_SEED ?? '', KEDGE_SEEDS: process.env.KEDGE_SEEDS ?? '10' },
              durableObjects: {
                SHARDS: { className: 'ResourceShard', useSQLite: true },
                CONTROLLERS: { className: 'Recorder', useSQLite: true },
                RECORDER: { className: 'Recorder', useSQLite: true },
              },
            },
          }),
        ],
        test: { name: 'durable-objects', include: ['test/durable-objects/**/*.test.ts'] },
      },
    ],
  },
})
