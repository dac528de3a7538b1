import { defineConfig } from 'vitest/config'

// Client libraries of other projects with a real server.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: ['verbose'], // prints skipped tests with the reason
  },
})
