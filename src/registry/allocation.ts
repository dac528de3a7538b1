/**
 * A write may reserve something beside its object, such as an address or a port. If the write succeeds, it keeps the
 * reservation. If it fails, it gives the reservation back.
 */
export interface Allocation {
  /** Runs after the write. It gives back reservations that the object no longer needs. */
  commit(): Promise<void>
  /** Runs after a failed write. It gives back the reservations of this write. */
  revert(): Promise<void>
}

/** Releases that are under way at the same time. */
const TOGETHER = 64

type Release = () => Promise<void>

/** Collects the functions for commit and for revert while a write prepares its object. */
export class AllocationLog implements Allocation {
  private readonly taken: Release[] = []
  private readonly dropped: Release[] = []

  /** @param release undoes the reservation */
  took(release: Release): void {
    this.taken.push(release)
  }

  drops(release: Release): void {
    this.dropped.push(release)
  }

  commit(): Promise<void> {
    return runAll(this.dropped)
  }

  revert(): Promise<void> {
    return runAll(this.taken)
  }
}

/**
 * A failure here does not change the answer to the write. The allocators find the unused reservation later, when
 * another object asks for the same address or port.
 */
async function runAll(releases: readonly Release[]): Promise<void> {
  for (let at = 0; at < releases.length; at += TOGETHER)
    await Promise.allSettled(releases.slice(at, at + TOGETHER).map((release) => release()))
}
