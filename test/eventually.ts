// Waiting for what a test brought about: for the state, never for a time.
import { vi } from 'vitest'

/** Longer than anything takes on a small and busy machine. A test that passes does not get near it. */
const PATIENCE_MS = 120_000

/** Waits until the check throws no more. @returns what it returned; what it threw last is the failure */
export const eventually = <Value>(check: () => Value | Promise<Value>, interval = 100): Promise<Value> =>
  vi.waitFor(check, { timeout: PATIENCE_MS, interval })

/** Waits until it is so. */
export const until = (isSo: () => boolean | Promise<boolean>, interval = 100): Promise<boolean> =>
  vi.waitUntil(isSo, { timeout: PATIENCE_MS, interval })
