import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    hookTimeout: 120_000,
    expect: { poll: { timeout: 120_000, interval: 1_000 } },
  },
})
