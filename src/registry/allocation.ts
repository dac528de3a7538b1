/** What a write takes for its object beside it: kept when the write succeeds, given back when it does not. */
export interface Allocation {
  /** After the write: gives back what the object no longer needs. */
  commit(): Promise<void>
  /** Instead: gives back what was taken. */
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
 * What cannot be given back now is found when somebody asks for it (see the allocators): the answer to the write does
 * not depend on it.
 */
async function runAll(releases: readonly Release[]): Promise<void> {
  await Promise.allSettled(releases.map((release) => release()))
}
