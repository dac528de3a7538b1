/**
 * Syntax of names (apimachinery's pkg/util/validation; DNS names: api/dns-names, label keys and values:
 * api/label-syntax). Each function returns error texts for the client; an empty list for a valid name.
 */
import { dns1035Label, dns1123Label, dns1123Subdomain, regexText } from '../api/dns-names.ts'
import { labelKeyErrors, labelValueErrors } from '../api/label-syntax.ts'

export { dns1035Label, dns1123Label, dns1123Subdomain, regexText }

/** Problems of a name, as texts behind `metadata.name: Invalid value: "x": `. `prefix`: it is a generateName. */
export type NameRule = (name: string, prefix: boolean) => readonly string[]

/** A name that can stand in a URL path: no `/`, no `%`, not `.` or `..`. As a prefix the latter two are fine. */
export const pathSegmentName: NameRule = (name, prefix) => {
  const problems: string[] = []
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  for (const illegal of ['/', '%']) if (name.includes(illegal)) problems.push(`may not contain '${illegal}'`)
  return problems
}

/** generateName may end in a dash: the suffix completes it. */
const maskTrailingDash = (name: string) => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

export const subdomainName: NameRule = (name, prefix) => dns1123Subdomain(prefix ? maskTrailingDash(name) : name)
export const labelName: NameRule = (name, prefix) => dns1123Label(prefix ? maskTrailingDash(name) : name)
export const label1035Name: NameRule = (name, prefix) => dns1035Label(prefix ? maskTrailingDash(name) : name)

/** `[PREFIX/]NAME`: label keys, annotation keys, finalizers, taint keys. */
export const qualifiedNameProblems = labelKeyErrors
export const labelValueProblems = labelValueErrors
