import type { GroupResource } from '../api/group-version.ts'
import type { Env } from '../env.ts'
import type { ServedResources } from '../registry/resources.ts'
import type { Tenant } from '../tenancy/tenant.ts'

export interface ControllerContext {
  readonly env: Env
  readonly tenant: Tenant
  /** Built-in resources and those of definitions, as of when the work was taken up. */
  readonly served: ServedResources
  now(): Date
  /** The resource types that hold dependents of owners of this kind (`Deployment.apps`). */
  dependentsOf(ownerKind: string): readonly GroupResource[]
  /** Runs work when no other work of that name is under way. */
  alone<Done>(name: string, work: () => Promise<Done>): Promise<Done>
  /** Hands work to a controller, after so many milliseconds. */
  later(controller: string, key: string, delay: number): void
}

/** Brings the world nearer to what it should be, for one key, whatever happened before. */
export interface Controller {
  /** @returns milliseconds after which to look again; nothing when the key needs no more */
  reconcile(key: string, context: ControllerContext): Promise<number | undefined>
}
