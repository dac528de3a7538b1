import { defineConfig } from 'vitest/config'

// One control plane for all scenarios, which run side by side in namespaces of their own.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 600_000,
  },
})
