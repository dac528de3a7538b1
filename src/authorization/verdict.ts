/**
 * The decision of an authorizer. A request that no authorizer allows is denied; after a denial no further one is asked.
 */
export interface Verdict {
  readonly allowed: boolean
  readonly denied?: boolean
  /** The question failed. */
  readonly error?: string
  /** '' when there is nothing to say. */
  readonly reason: string
}

export const ALLOWED: Verdict = { allowed: true, reason: '' }
export const noOpinion = (reason: string): Verdict => ({ allowed: false, reason })

/** Several errors in one text, each once, as apimachinery's Aggregate. */
export function aggregate(errors: readonly string[]): string {
  const unique = [...new Set(errors)]
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`
}
