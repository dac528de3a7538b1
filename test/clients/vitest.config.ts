import { defineConfig } from 'vitest/config'

// Client libraries that others wrote, against a real server.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['verbose'], // names what was skipped, and why
  },
})
