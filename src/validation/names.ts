/**
 * Validates names (apimachinery's pkg/util/validation). Each function returns error texts for the client, and an empty
 * list for a valid name. api/dns-names has DNS names, api/label-syntax has label keys and values.
 */
import { dns1035Label, dns1123Label, dns1123Subdomain, regexText } from '../api/dns-names.ts'
import { labelKeyErrors, labelValueErrors } from '../api/label-syntax.ts'

export { dns1035Label, dns1123Label, dns1123Subdomain, regexText }

/** Returns the texts that follow `metadata.name: Invalid value: "x": `. @param prefix the name is a generateName */
export type NameRule = (name: string, prefix: boolean) => readonly string[]

/** A segment of a URL path: no `/`, no `%`, not `.` or `..`. A prefix may be `.` or `..`. */
export const pathSegmentName: NameRule = (name, prefix) => {
  const problems: string[] = []
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  for (const illegal of ['/', '%']) if (name.includes(illegal)) problems.push(`may not contain '${illegal}'`)
  return problems
}

/** The rule of RBAC: a generateName must be a name by itself. */
export const rbacName: NameRule = (name) => pathSegmentName(name, false)

/** generateName may end in a dash, because a suffix follows it. */
const maskTrailingDash = (name: string) => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

export const subdomainName: NameRule = (name, prefix) => dns1123Subdomain(prefix ? maskTrailingDash(name) : name)
export const labelName: NameRule = (name, prefix) => dns1123Label(prefix ? maskTrailingDash(name) : name)
export const label1035Name: NameRule = (name, prefix) => dns1035Label(prefix ? maskTrailingDash(name) : name)

/** `[PREFIX/]NAME`: label keys, annotation keys, finalizers, taint keys. */
export const qualifiedNameProblems = labelKeyErrors
export const labelValueProblems = labelValueErrors
