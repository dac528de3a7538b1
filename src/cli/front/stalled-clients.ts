// Clients that asked for much and take nothing. The engine holds a part of each answer until its client takes it, so
// not as many may be there as there are connections.

/** The most clients that may take nothing for the time that an answer has. Further ones end after STALLED_MS. */
export const MOST_STALLED = 64
/** Milliseconds without taking an octet, although the buffers on the way are full. */
export const STALLED_MS = 2_000
/** The most clients that may be slow (client-pace.ts). The engine holds as much for each of them. */
export const MOST_SLOW = 256
/** The most clients that may owe more of a body for STALLED_MS. The engine holds some 85 KB for each such request. */
export const MOST_OWING = 512
/**
 * The most connections in HTTP/2 that may owe the answer to a PING. Who has not ended a head cannot send one, and of
 * such a head there may be some 600 KB here, for which Node has no bound over connections.
 */
export const MOST_SILENT = 256

export interface Stalled {
  readonly address: string
  /** Milliseconds that no clock sets back. */
  readonly since: number
}

/**
 * Those that must end so that `most` are left: of the addresses that have most of them, and there the ones that take
 * nothing for the longest time.
 */
export function surplus<One extends Stalled>(stalled: readonly One[], most: number): readonly One[] {
  if (stalled.length <= most) return []
  const byAddress = new Map<string, One[]>()
  for (const one of stalled.toSorted((a, b) => b.since - a.since)) {
    const others = byAddress.get(one.address)
    if (others === undefined) byAddress.set(one.address, [one])
    else others.push(one)
  }
  const all = [...byAddress.values()]
  const left = (each: number): number => all.reduce((sum, { length }) => sum + Math.min(length, each), 0)
  let each = most
  while (each > 1 && left(each) > most) each--
  const kept = all.flatMap((ones) => ones.slice(0, each)).toSorted((a, b) => b.since - a.since)
  return [...all.flatMap((ones) => ones.slice(each)), ...kept.slice(most)]
}
