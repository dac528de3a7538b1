/**
 * Revisions are a hybrid logical clock: age is in the number, and numbers of different shards compare. A shard never
 * gives one twice, also when its machine's clock goes back.
 *
 * Each millisecond has TICKS numbers. A shard gives those of its place (places.ts). No number belongs to two places, so
 * that two shards never give the same one, whatever their clocks say.
 */
import type { Revision } from './storage.ts'

/** 2024-01-01T00:00:00Z in milliseconds: revisions stay below 2^53 until the year 2163. */
const EPOCH = 1_704_067_200_000
export const TICKS = 2048
/** Divides TICKS: a shard of a built-in type has sixteen writes in a millisecond before its numbers run ahead of the clock. */
export const PLACES = 128

/** The numbers whose remainder by `every` is `first`. `every` divides TICKS. */
export interface Place {
  /** From 1 on: a number that is given is never the first of its millisecond. */
  readonly first: number
  readonly every: number
}

/** The first of a millisecond. Never 0, which in the API means "any version". @param now milliseconds since 1970 */
export const revisionAt = (now: number): Revision => Math.max(1, Math.floor((now - EPOCH) * TICKS))

/** The last of a millisecond: a higher revision is in the future. */
export const lastRevisionAt = (now: number): Revision => revisionAt(now + 1) - 1

/** @param place of the shard that gives it */
export function nextRevision(last: Revision, now: number, { first, every }: Place): Revision {
  const least = Math.max(last + 1, revisionAt(now))
  return least + ((first - (least % every) + every) % every)
}

/** Milliseconds since 1970. */
export const timeOf = (revision: Revision): number => Math.floor(revision / TICKS) + EPOCH
