/**
 * What somebody does in a namespace of their own, step by step. After each step the namespace is left to settle: its
 * state is recorded where the real controllers run, and expected where Kedge's do.
 */

/** A manifest, without a namespace. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [more: string]: unknown
  }
  readonly [more: string]: unknown
}

/** A resource and an object of it: `apps/v1/deployments/web`, `v1/pods/a`. With a subresource: `v1/pods/a/eviction`. */
export type Target = string

export type Action =
  | { readonly create: readonly Manifest[] }
  /** A merge patch. `*` stands for the first name in the order of names, `*?app=web` for that of those with the label. */
  | { readonly patch: Target; readonly with: unknown }
  | {
      readonly delete: Target
      readonly propagation?: 'Foreground' | 'Background' | 'Orphan'
      readonly graceSeconds?: number
    }
  /** A POST to a subresource, whatever it answers. */
  | { readonly post: Target; readonly body: unknown }
  /** Objects outside of the namespace, deleted when the scenario is over. */
  | { readonly createGlobal: readonly Manifest[] }
  | { readonly patchGlobal: Target; readonly with: unknown }
  | { readonly deleteGlobal: Target }
  /** kubectl with these words, in the namespace. */
  | { readonly kubectl: string }

export interface Scenario {
  readonly name: string
  /** Each is done, then everything settles. */
  readonly steps: readonly (Action | readonly Action[])[]
  /** The names of nodes are decided by what stands here, so they are compared. */
  readonly comparesNodes?: boolean
  /** Labels of its namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>>
  /** Changes nodes: runs when nothing else does. */
  readonly isAlone?: boolean
  /** One that is alone, and begins when the pods of all others are gone. */
  readonly needsEmptyNodes?: boolean
  /** Reasons of Events that are told or not, depending on which of two components is faster. */
  readonly byChance?: readonly string[]
  /** Why it does not come out as recorded: it is not compared. */
  readonly differs?: string
  /** Seconds in which nothing may change before the recorder takes a state for settled. Default: 5. */
  readonly quietSeconds?: number
}

export const actionsOf = (step: Action | readonly Action[]): readonly Action[] => ('map' in step ? step : [step])
