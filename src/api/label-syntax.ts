/** Validates label keys and label values (apimachinery's pkg/api/validate/content). The functions return messages. */
import { byteLength } from '../base/utf8.ts'

const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
// Messages quote the expressions above. The code matches these equivalent forms, which do not backtrack much.
const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const subdomainPart = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

const MAX_NAME = 63
const MAX_SUBDOMAIN = 253

const KEY_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"

export function labelKeyErrors(key: string): string[] {
  const parts = key.split('/')
  const name = parts.at(-1)!
  if (parts.length > 2)
    return [
      `a valid label key ${regexError(KEY_RULE, NAME_PART, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  const errors = parts.length === 1 ? [] : prefixErrors(parts[0]!)
  if (name === '') errors.push('name part must be non-empty')
  else if (byteLength(name) > MAX_NAME) errors.push(`name part must be no more than ${MAX_NAME} bytes`)
  if (!namePart.test(name)) errors.push(`name part ${regexError(KEY_RULE, NAME_PART, 'MyName', 'my.name', '123-abc')}`)
  return errors
}

export function labelValueErrors(value: string): string[] {
  const errors: string[] = []
  if (byteLength(value) > MAX_NAME) errors.push(`must be no more than ${MAX_NAME} bytes`)
  if (value !== '' && !namePart.test(value))
    errors.push(regexError(VALUE_RULE, `(${NAME_PART})?`, 'MyValue', 'my_value', '12345'))
  return errors
}

function prefixErrors(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  const errors: string[] = []
  if (byteLength(prefix) > MAX_SUBDOMAIN) errors.push(`prefix part must be no more than ${MAX_SUBDOMAIN} bytes`)
  if (!prefix.split('.').every((label) => subdomainPart.test(label)))
    errors.push(`prefix part ${regexError(SUBDOMAIN_RULE, SUBDOMAIN, 'example.com')}`)
  return errors
}

/** The commas before "or" and "regex" are as in kube-apiserver. */
const regexError = (rule: string, regex: string, ...examples: string[]): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${regex}')`
