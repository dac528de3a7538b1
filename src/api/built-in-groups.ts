/** The built-in API groups and their versions, from a generated table: all that there are, served or not. */
import table from './groups-table.json' with { type: 'json' }

export interface BuiltInGroup {
  readonly group: string
  /** groupPriorityMinimum of its APIServices. */
  readonly priority: number
  /** Of its Go types, as OpenAPI names it: `io.k8s.api.apps`. */
  readonly package: string
  /** In the order of preference. A missing priority is 0. */
  readonly versions: readonly { readonly version: string; readonly priority?: number }[]
}

export const builtInGroups: readonly BuiltInGroup[] = table.groups
