/** All built-in API groups and their versions from a generated table, whether they are served or not. */
import table from './groups-table.json' with { type: 'json' }

export interface BuiltInGroup {
  readonly group: string
  /** The groupPriorityMinimum of the group's APIServices. */
  readonly priority: number
  /** The package of the group's Go types, as OpenAPI names it: `io.k8s.api.apps`. */
  readonly package: string
  /** The versions in the order of preference. A missing priority is 0. */
  readonly versions: readonly { readonly version: string; readonly priority?: number }[]
}

export const builtInGroups: readonly BuiltInGroup[] = table.groups
