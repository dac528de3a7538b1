// How many clients the file descriptors of this machine allow.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Limits } from './connection-limits.ts'
import { EngineRoom } from './engine-room.ts'

/** Descriptors for files, the engine's socket and connections in closing. */
const RESERVED = 200
/** Descriptors of the engine for databases that it opens later. Those that are open count as they are. */
const TO_OPEN = 100

/**
 * The most connections of the front. Each needs two descriptors here and one in the engine, which has the same limit
 * and needs the rest for its databases. One address may have half of them. Infinity where the limit is unknown.
 */
export function connectionLimits(): Limits {
  const limit = openFilesLimit()
  const total = limit === undefined ? Infinity : Math.max(50, Math.floor((limit - RESERVED) / 2))
  return { total, perAddress: Math.ceil(total / 2) }
}

/** @param pid of the engine, which has the same limit as this process; undefined where the limit is unknown */
export function engineRoom(pid: number): EngineRoom | undefined {
  const limit = openFilesLimit()
  return limit === undefined
    ? undefined
    : new EngineRoom({ most: limit - TO_OPEN, descriptors: () => openDescriptors(pid) })
}

/** Undefined where the process is gone. */
function openDescriptors(pid: number): number | undefined {
  try {
    // the size of this directory is their number, since Linux 6.2
    return statSync(`/proc/${pid}/fd`).size || readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return undefined
  }
}

/** The limit of this process, which Node has raised to the hard limit. Only Linux has a file that shows it. */
function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return limit?.[1] === undefined ? undefined : Number(limit[1])
  } catch {
    return undefined
  }
}
