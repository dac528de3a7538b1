// How many clients there may be before the machine refuses to open anything more.
import { readFileSync } from 'node:fs'

/** Left for files, the engine's socket and what is just being closed. */
const RESERVED = 200

/**
 * Connections that the front may hold: each has two descriptors here and one in the engine, which has as many and needs
 * the rest for its databases. Infinity where the limit is not known.
 */
export function maxConnections(): number {
  const limit = openFilesLimit()
  return limit === undefined ? Infinity : Math.max(50, Math.floor((limit - RESERVED) / 2))
}

/** Of this process; Node has raised it to the hard limit. Linux alone tells. */
function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return limit?.[1] === undefined ? undefined : Number(limit[1])
  } catch {
    return undefined
  }
}
