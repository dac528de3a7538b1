// Waits for a state that a test brought about, never for a fixed time.
import { vi } from 'vitest'

/** Longer than any step takes on a small and busy machine. A passing test stays far below it. */
const PATIENCE_MS = 120_000

/**
 * Waits until the check no longer throws. @returns the check's result; on a timeout it throws the check's last error
 */
export const eventually = <Value>(check: () => Value | Promise<Value>, interval = 100): Promise<Value> =>
  vi.waitFor(check, { timeout: PATIENCE_MS, interval })

/** Waits until the condition holds. */
export const until = (isSo: () => boolean | Promise<boolean>, interval = 100): Promise<boolean> =>
  vi.waitUntil(isSo, { timeout: PATIENCE_MS, interval })
