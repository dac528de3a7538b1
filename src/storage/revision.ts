/**
 * Revisions are a hybrid logical clock: age is in the number, and numbers of different shards compare. A shard never
 * gives one twice, also when its machine's clock goes back.
 */
import type { Revision } from './storage.ts'

/** 2024-01-01T00:00:00Z in milliseconds: revisions stay below 2^53 until the year 2163. */
const EPOCH = 1_704_067_200_000
/** Writes that one millisecond can hold before the clock runs ahead. */
const TICKS = 2048

/** Never 0, which in the API means "any version". @param now milliseconds since 1970 */
export const revisionAt = (now: number): Revision => Math.max(1, Math.floor((now - EPOCH) * TICKS))

export const nextRevision = (last: Revision, now: number): Revision => Math.max(last + 1, revisionAt(now))

/** Milliseconds since 1970. */
export const timeOf = (revision: Revision): number => Math.floor(revision / TICKS) + EPOCH
