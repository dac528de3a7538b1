/**
 * A write may reserve something beside its object, such as an address or a port. It keeps the reservation if it
 * succeeds, else gives it back.
 */
export interface Allocation {
  /** After the write: gives back what the object no longer needs. */
  commit(): Promise<void>
  /** After a failed write: gives back what it reserved. */
  revert(): Promise<void>
}

type Release = () => Promise<void>

/** Collects both sides while an object is prepared. */
export class AllocationLog implements Allocation {
  private readonly taken: Release[] = []
  private readonly dropped: Release[] = []

  /** @param release undoes what was just done */
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
 * A reservation that cannot be given back now is found later, when another object asks for the same (see the allocators).
 * So a failure here does not change the answer to the write.
 */
async function runAll(releases: readonly Release[]): Promise<void> {
  await Promise.allSettled(releases.map((release) => release()))
}
