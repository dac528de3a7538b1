import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, required, tooLong } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { dns1123Label, dns1123Subdomain } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'

const MAX_DOMAIN = 253
const MAX_NAME = MAX_DOMAIN + 1 + 253 + 63 + 1

/** Validates the name of a signer: `DOMAIN/PATH`. */
export function signerNameErrors(name: string, at: FieldPath): FieldError[] {
  if (name === '') return [required(at)]
  const [domain = '', path = '', ...more] = name.split('/')
  if (more.length > 0 || !name.includes('/'))
    return [invalidValue(at, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  const errors: FieldError[] = []
  const wrongLabel = (whole: string, check: (label: string) => string[]): void => {
    for (const label of whole.split('.')) {
      const problems = check(label)
      append(
        errors,
        problems.map((text) => invalidValue(at, whole, `validating label ${goQuote(label)}: ${text}`)),
      )
      if (problems.length > 0) return
    }
  }
  if (byteLength(domain) > MAX_DOMAIN) errors.push(tooLong(at, MAX_DOMAIN))
  wrongLabel(domain, dns1123Label)
  if (!domain.includes('.'))
    errors.push(invalidValue(at, domain, 'should be a domain with at least two segments separated by dots'))
  wrongLabel(path, dns1123Subdomain)
  if (byteLength(name) > MAX_NAME) errors.push(tooLong(at, MAX_NAME))
  return errors
}
