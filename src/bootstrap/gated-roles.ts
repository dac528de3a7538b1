/**
 * The rules of the default roles that depend on feature gates (kubernetes/kubernetes, rbac/bootstrappolicy). The table
 * of policy objects was recorded with the default gates: these rows add and remove what other gates change.
 */
import type { FeatureGates } from '../api/feature-gates.ts'
import type { JsonObject } from '../api/object.ts'
import { stringifySorted } from '../json/write-json.ts'
import table from './gated-roles-table.json' with { type: 'json' }

/** A row of the table of ClusterRoles, or of their bindings. */
export interface RoleRow extends JsonObject {
  name: string
  rules?: Rule[]
}

interface Rule extends JsonObject {
  resources?: string[]
  nonResourceURLs?: string[]
}

/** A rule of a role that has others. */
interface GatedRule {
  readonly gate: string
  readonly role: string
  readonly rule: Rule
  /** A resource of the rule that follows; undefined: the rule is the last one. */
  readonly before?: string
}

/** A role that only the gate needs, and the subject of its binding, which has the same name. */
interface GatedRole {
  readonly gate: string
  readonly role: string
  readonly subject: JsonObject
  readonly rules: Rule[]
}

/** Rules in the order in which a role has them, and roles whose gate is off by default. */
interface Table {
  readonly rules: readonly GatedRule[]
  readonly roles: readonly GatedRole[]
  /** Roles of the recorded table whose gate is on by default. */
  readonly roleOfGate: Readonly<Record<string, string>>
  /** The paths of `system:monitoring`. */
  readonly pathOfGate: Readonly<Record<string, string>>
}

// the file has this type
const { rules: gatedRules, roles: gatedRoles, roleOfGate, pathOfGate } = table as unknown as Table

/** @returns the ClusterRoles of these gates, sorted by name */
export const gatedClusterRoles = (rows: readonly RoleRow[], gates: FeatureGates): RoleRow[] =>
  withRoles(rows, gates, ({ role, rules }) => ({ name: role, rules })).map((row) =>
    withPaths(withRules(row, gates), gates),
  )

/** @returns the ClusterRoleBindings of these gates, sorted by name */
export const gatedClusterRoleBindings = (rows: readonly RoleRow[], gates: FeatureGates): RoleRow[] =>
  withRoles(rows, gates, ({ role, subject }) => ({
    name: role,
    subjects: [subject],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  }))

function withRoles(rows: readonly RoleRow[], gates: FeatureGates, make: (role: GatedRole) => RoleRow): RoleRow[] {
  const off = new Set(whereOff(roleOfGate, gates))
  const added = gatedRoles.filter(({ gate }) => gates.enabled(gate)).map(make)
  return [...rows.filter(({ name }) => !off.has(name)), ...added].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const withRules = (row: RoleRow, gates: FeatureGates): RoleRow => ({
  ...row,
  rules: gatedRules
    .filter(({ role }) => role === row.name)
    .reduce((rules, gated) => withRule(rules, gated, gates.enabled(gated.gate)), row.rules ?? []),
})

function withRule(rules: Rule[], { rule, before }: GatedRule, isOn: boolean): Rule[] {
  const text = stringifySorted(rule)
  const others = rules.filter((other) => stringifySorted(other) !== text)
  if (!isOn) return others
  if (others.length < rules.length) return rules
  const next = before === undefined ? -1 : rules.findLastIndex(({ resources }) => resources?.includes(before))
  return rules.toSpliced(next < 0 ? rules.length : next, 0, rule)
}

function withPaths(row: RoleRow, gates: FeatureGates): RoleRow {
  if (row.name !== 'system:monitoring') return row
  const off = new Set(whereOff(pathOfGate, gates))
  const rules = (row.rules ?? []).map((rule) => {
    const { nonResourceURLs } = rule
    return nonResourceURLs === undefined
      ? rule
      : { ...rule, nonResourceURLs: nonResourceURLs.filter((url) => !off.has(url)) }
  })
  return { ...row, rules }
}

const whereOff = (ofGate: Readonly<Record<string, string>>, gates: FeatureGates): string[] =>
  Object.entries(ofGate)
    .filter(([gate]) => !gates.enabled(gate))
    .map(([, value]) => value)
