/**
 * As what the objects of a type are stored, and where. Types have names, `RESOURCE.GROUP`, that a built-in type and a
 * definition of a user may share: their objects never meet.
 *
 *                                             in `storage` of entries, in work   prefix and shard
 *   a built-in type of the first release      NAME                               NAME
 *   a built-in type that came later           NAME                               built-in:NAME
 *   a definition, of a name of the former     custom:NAME                        custom:NAME
 *   a definition, of a name of the latter     custom:NAME                        NAME
 *   any other definition                      NAME                               NAME
 *
 * A definition may have had any name before Kubernetes built it in: its objects stay where they are.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'

/** No group and no resource has a colon. */
const CUSTOM = 'custom:'
const BUILT_IN = 'built-in:'

export class StorageNames {
  readonly #first: ReadonlySet<string>
  readonly #later: ReadonlySet<string>

  constructor(first: ReadonlySet<string>, later: ReadonlySet<string>) {
    this.#first = first
    this.#later = later
  }

  get builtIn(): string[] {
    return [...this.#first, ...this.#later]
  }

  /** @param name a storage name */
  isBuiltIn(name: string): boolean {
    return this.#first.has(name) || this.#later.has(name)
  }

  /** The storage name of a definition's objects. */
  ofCustom({ group, resource }: GroupResource): GroupResource {
    const isTaken = this.isBuiltIn(groupResourceText({ group, resource }))
    return { group, resource: isTaken ? `${CUSTOM}${resource}` : resource }
  }

  /** @param name a storage name */
  prefixOf(name: string): string {
    if (this.#later.has(name)) return `${BUILT_IN}${name}`
    const own = name.startsWith(CUSTOM) ? name.slice(CUSTOM.length) : undefined
    return own !== undefined && this.#later.has(own) ? own : name
  }

  /** The storage name that has this prefix. */
  ofPrefix(prefix: string): string {
    if (this.#later.has(prefix)) return `${CUSTOM}${prefix}`
    const name = prefix.startsWith(BUILT_IN) ? prefix.slice(BUILT_IN.length) : undefined
    return name !== undefined && this.#later.has(name) ? name : prefix
  }
}
