/** The syntax of DNS names (RFC 1123 and RFC 1035), with the messages of apimachinery's pkg/util/validation. */
import { byteLength } from '../base/utf8.ts'

const LABEL_1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN_1123 = `${LABEL_1123}(\\.${LABEL_1123})*`
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'

const label1123 = new RegExp(`^${LABEL_1123}$`)
const subdomain1123 = new RegExp(`^${SUBDOMAIN_1123}$`)
const label1035 = new RegExp(`^${LABEL_1035}$`)

const LABEL_1123_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const SUBDOMAIN_1123_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"

const maxCharacters = (max: number) => `must be no more than ${max} characters`

/** `TEXT (e.g. 'a',  or 'b', regex used for validation is 'R')` */
export function regexText(text: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${text} (regex used for validation is '${pattern}')`
  return `${text} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`
}

export function dns1123Label(value: string): string[] {
  const problems: string[] = []
  if (byteLength(value) > 63) problems.push(maxCharacters(63))
  if (!label1123.test(value)) {
    problems.push(
      subdomain1123.test(value)
        ? 'must not contain dots'
        : regexText(LABEL_1123_TEXT, LABEL_1123, 'my-name', '123-abc'),
    )
  }
  return problems
}

export function dns1123Subdomain(value: string): string[] {
  const problems: string[] = []
  if (byteLength(value) > 253) problems.push(maxCharacters(253))
  if (!subdomain1123.test(value)) problems.push(regexText(SUBDOMAIN_1123_TEXT, SUBDOMAIN_1123, 'example.com'))
  return problems
}

export function dns1035Label(value: string): string[] {
  const problems: string[] = []
  if (byteLength(value) > 63) problems.push(maxCharacters(63))
  if (!label1035.test(value)) problems.push(regexText(LABEL_1035_TEXT, LABEL_1035, 'my-name', 'abc-123'))
  return problems
}
