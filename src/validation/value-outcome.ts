/** The problems that validation of a value against a schema has found. */
import type { FieldError, FieldPath } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import { invalidValue, typeInvalid } from '../api/field.ts'
import type { Json } from '../api/object.ts'
import { MAX_PROBLEMS, MAX_REPORTED } from '../api/status.ts'

/** One problem. Outcomes keep one of several problems with the same text. */
export interface Problem {
  readonly text: string
  errorAt(at: FieldPath): FieldError
}

/** Problems by their text, in the order of the checks. The outcomes of a value and of its parts share this object. */
interface Found {
  readonly problems: Map<string, Problem>
  /** Characters of their texts. */
  length: number
}

export class Outcome {
  /** Absent without problems. Most values have none. */
  private found: Found | undefined
  /** The number of checks. Where all alternatives fail, validation reports the one with most checks. */
  matches = 0

  add(problem: Problem): void {
    const found = (this.found ??= { problems: new Map(), length: 0 })
    if (this.isFull || found.problems.has(problem.text)) return
    found.problems.set(problem.text, problem)
    found.length += problem.text.length
  }

  /**
   * Takes over the problems of other outcomes, so that a problem deep inside is not copied at each level. Callers must
   * not use the other outcomes afterwards.
   */
  merge(...others: (Outcome | undefined)[]): void {
    for (const other of others) {
      if (other === undefined) continue
      if (this.found === undefined) this.found = other.found
      else if (other.found !== this.found) for (const problem of other.problems) this.add(problem)
      this.matches += other.matches
    }
  }

  get problems(): Problem[] {
    return this.found === undefined ? [] : [...this.found.problems.values()]
  }

  get isValid(): boolean {
    return this.found === undefined
  }

  /** Whether `add` drops further problems. */
  get isFull(): boolean {
    return (
      this.found !== undefined && (this.found.problems.size >= MAX_PROBLEMS || this.found.length >= 2 * MAX_REPORTED)
    )
  }
}

const placed = (at: FieldPath, place: string): FieldPath =>
  place === '' || place === '.' ? at : at.child(place.replace(/^\./, ''))

export const problemAt = (place: string, text: string, error: (at: FieldPath) => FieldError): Problem => ({
  text,
  errorAt: (at) => error(placed(at, place)),
})

/** A problem of a combination of schemas. kube-apiserver reports it at the root, not at its place. */
export const combined = (text: string): Problem => ({ text, errorAt: (at) => invalidValue(at, '', text) })

export const invalidAt = (place: string, value: Json, what: string): Problem => {
  const text = `${place} in body ${what}`
  return problemAt(place, text, (at) => invalidValue(at, value, text))
}

export const wrongType = (place: string, type: string, found: string): Problem => {
  const text = `${place} in body must be of type ${type}: ${goQuote(found)}`
  return problemAt(place, text, (at) => typeInvalid(at, found, text))
}
