/**
 * Revisions are a hybrid logical clock: a revision contains its time, and revisions of different shards compare. A
 * shard never gives one twice, even when its machine's clock goes back. Each millisecond has TICKS numbers, of which
 * a shard gives those of its place (places.ts). No number belongs to two places, so two shards never give the same
 * one, whatever their clocks say.
 */
import type { Revision } from '../storage.ts'

/** 2024-01-01T00:00:00Z in milliseconds: revisions stay below 2^53 until the year 2163. */
const EPOCH = 1_704_067_200_000
export const TICKS = 2048
/**
 * Divides TICKS. A shard of a built-in type has sixteen numbers in a millisecond; with more writes its numbers run
 * ahead of the clock.
 */
export const PLACES = 128

/** The numbers whose remainder by `every` is `first`. `every` divides TICKS. */
export interface Place {
  /** At least 1: a given number is never the first of its millisecond. */
  readonly first: number
  readonly every: number
}

/**
 * The first number of a millisecond. Never 0, which in the API means "any version".
 * @param now milliseconds since 1970
 */
export const revisionAt = (now: number): Revision => Math.max(1, Math.floor((now - EPOCH) * TICKS))

/** The last number of a millisecond. A higher revision is in the future. */
export const lastRevisionAt = (now: number): Revision => revisionAt(now + 1) - 1

/** @param place of the shard that gives the number */
export function nextRevision(last: Revision, now: number, { first, every }: Place): Revision {
  const least = Math.max(last + 1, revisionAt(now))
  return least + ((first - (least % every) + every) % every)
}

/** Milliseconds since 1970. */
export const timeOf = (revision: Revision): number => Math.floor(revision / TICKS) + EPOCH
