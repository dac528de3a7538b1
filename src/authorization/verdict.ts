/**
 * The decision of an authorizer. A request that no authorizer allows is denied. After a denial no further authorizer
 * is asked.
 */
export interface Verdict {
  readonly allowed: boolean
  readonly denied?: boolean
  /** The error where no decision was possible. */
  readonly error?: string
  /** '' where there is no reason to give. */
  readonly reason: string
}

export const ALLOWED: Verdict = { allowed: true, reason: '' }
export const noOpinion = (reason: string): Verdict => ({ allowed: false, reason })

/** Joins several errors to one text, each once, as apimachinery's Aggregate does. */
export function aggregate(errors: readonly string[]): string {
  const unique = [...new Set(errors)]
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`
}
