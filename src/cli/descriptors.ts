// How many clients there may be before the machine refuses to open anything more.
import { readFileSync } from 'node:fs'
import type { Limits } from './connection-limits.ts'

/** Descriptors for files, the engine's socket and connections that are being closed. */
const RESERVED = 200

/**
 * Connections that the front may hold: each has two descriptors here and one in the engine, which has as many and needs
 * the rest for its databases. One address may have half of them. Infinity where the limit is not known.
 */
export function connectionLimits(): Limits {
  const limit = openFilesLimit()
  const total = limit === undefined ? Infinity : Math.max(50, Math.floor((limit - RESERVED) / 2))
  return { total, perAddress: Math.ceil(total / 2) }
}

/** Of this process; Node has raised it to the hard limit. Only Linux has a file that says it. */
function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return limit?.[1] === undefined ? undefined : Number(limit[1])
  } catch {
    return undefined
  }
}
