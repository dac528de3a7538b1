import { badRequest } from '../api/status.ts'
import { goQuote } from '../go/quote.ts'
import { pathSegmentName } from '../validation/names.ts'

/**
 * Checks a name from a body before the server looks for its object.
 * @throws StatusError 400 if no key in storage can have the name
 */
export function checkKeyName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.')
  checkNameParameter(name)
}

/**
 * Refuses a name in a URL that no object can have. Errors of media types, options and the name in the body come before.
 * @throws StatusError 400
 */
export function checkNameParameter(name: string): void {
  const problems = pathSegmentName(name, false)
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
}
