import { defineConfig } from 'vitest/config'

// With a real kubectl against real servers. Much of it is waiting, so two files run side by side: each has servers, ports
// and directories of its own. No test's own limits are short: a busy machine may take its time.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 600_000, // kubectl may have to be built
    expect: { poll: { timeout: 120_000, interval: 200 } },
  },
})
