import { defineConfig } from 'vitest/config'

// With a real kubectl against a real server. One file at a time: each starts servers of its own.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 600_000, // kubectl may have to be built
  },
})
