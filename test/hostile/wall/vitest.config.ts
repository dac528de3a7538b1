import { defineConfig } from 'vitest/config'

// Every case against one running server: npm run test:hostile.
export default defineConfig({
  test: { root: import.meta.dirname, include: ['**/*.test.ts'], testTimeout: 120_000, hookTimeout: 300_000 },
})
