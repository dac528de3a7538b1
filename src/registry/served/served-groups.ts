/** Merges built-in groups with those of definitions and APIServices, and looks up resources in them. */
import { turnOfOthers } from '../../base/slices.ts'
import { compareParsed, parseVersion } from '../../api/version-order.ts'
import type { ResourceEntry, ServedGroup, ServedResources, ServedVersion } from './resources.ts'

/**
 * Adds groups of custom resources and of APIServices. It adds versions to a group of the same name, and resources to a
 * version of the same name. Built-in versions stay as they are. Versions that definitions add to a built-in group
 * appear only in discovery and OpenAPI.
 */
export function withDynamic(served: ServedResources, dynamic: readonly ServedGroup[]): ServedResources {
  const byName = Map.groupBy(dynamic, ({ group }) => group)
  return dynamic.length === 0 ? served : withGroups(served, byName.keys(), (name) => byName.get(name) ?? [])
}

/**
 * Does the same as `withDynamic`, but makes each group on first use. Only discovery needs all of them.
 * @param names the groups that differ from the built-in ones
 * @param reading reads in steps what `added` needs; undefined if there is nothing to read
 */
export function withGroups(
  served: ServedResources,
  names: Iterable<string>,
  added: (name: string) => readonly ServedGroup[],
  reading: (name: string) => Promise<void> | undefined = () => undefined,
): ServedResources {
  const made = new Map<string, ServedGroup | undefined>()
  const dynamic = new Set(names)
  const group = (name: string): ServedGroup | undefined => {
    if (!dynamic.has(name)) return served.group(name)
    if (!made.has(name)) made.set(name, mergedOf(served, name, added(name)))
    return made.get(name)
  }
  const isPresent = (one: ServedGroup | undefined): one is ServedGroup => one !== undefined
  return servedResources({
    group,
    isBuiltInGroup: served.isBuiltInGroup,
    all: () => ordered(served, (name) => group(name)!, [...dynamic].map(group).filter(isPresent)),
    reading: (name) => (dynamic.has(name) && !made.has(name) ? reading(name) : undefined),
    async read(turn = turnOfOthers) {
      for (const [at, name] of [...dynamic].entries()) {
        if (at > 0 && at % READ_TOGETHER === 0) await turn()
        if (!made.has(name)) await reading(name)
        group(name)
      }
    },
  })
}

function mergedOf(served: ServedResources, name: string, added: readonly ServedGroup[]): ServedGroup | undefined {
  const merge = served.isBuiltInGroup(name) ? shownIn : mergedGroup
  let merged = served.group(name)
  for (const one of added) merged = sortedVersions(merged === undefined ? one : merge(merged, one))
  return merged
}

/** Built-in groups keep their order. Another group comes before a built-in one only if its priority is higher. */
function ordered(
  served: ServedResources,
  builtIn: (name: string) => ServedGroup,
  dynamic: readonly ServedGroup[],
): ServedGroup[] {
  const others = dynamic.filter(({ group }) => !served.isBuiltInGroup(group)).sort(compareGroups)
  const all: ServedGroup[] = []
  let next = 0
  for (const { group: name } of served.groups) {
    const group = builtIn(name)
    while (name !== '' && next < others.length && compareGroups(others[next]!, group) < 0) all.push(others[next++]!)
    all.push(group)
  }
  return [...all, ...others.slice(next)]
}

const compareGroups = (a: ServedGroup, b: ServedGroup): number =>
  b.priority - a.priority || (a.group < b.group ? -1 : a.group > b.group ? 1 : 0)

/** Sorts the versions by preference. Returns the same value if they are sorted already. */
export function sortedVersions(group: ServedGroup): ServedGroup {
  const versions = group.versions.map((served) => ({ served, parsed: parseVersion(served.version) }))
  const compare = (a: (typeof versions)[number], b: (typeof versions)[number]): number =>
    b.served.priority - a.served.priority || compareParsed(a.parsed, b.parsed)
  if (versions.every((one, at) => at === 0 || compare(versions[at - 1]!, one) <= 0)) return group
  return { ...group, versions: versions.sort(compare).map(({ served }) => served) }
}

function mergedGroup(there: ServedGroup, added: ServedGroup): ServedGroup {
  const versions = new Map(there.versions.map((version) => [version.version, version]))
  for (const version of added.versions) {
    const old = versions.get(version.version)
    versions.set(
      version.version,
      old === undefined ? version : { ...old, resources: [...old.resources, ...version.resources] },
    )
  }
  return { group: there.group, priority: Math.max(there.priority, added.priority), versions: [...versions.values()] }
}

function shownIn(builtIn: ServedGroup, added: ServedGroup): ServedGroup {
  const versions = added.versions.filter(
    // few: versions of a built-in group
    (version) => !builtIn.versions.some((known) => known.version === version.version),
  )
  return {
    group: builtIn.group,
    priority: Math.max(builtIn.priority, added.priority),
    versions: [
      ...builtIn.versions,
      ...versions.map((version) => (version.remote === true ? version : { ...version, unreachable: true })),
    ],
  }
}

/** Finds the resources and kinds of a version by name. */
class VersionIndex {
  readonly resources = new Map<string, ResourceEntry>()
  readonly kinds = new Map<string, ResourceEntry>()

  constructor({ resources, unreachable }: ServedVersion) {
    for (const entry of unreachable === true ? [] : resources) {
      this.resources.set(entry.resource, entry)
      this.kinds.set(entry.kind, entry)
    }
  }
}

/**
 * Finds the versions of a group, and what they serve, by name. Each group has its own index, so a change of one group
 * keeps the others. A group may have thousands of versions, so each is indexed on first use.
 */
class GroupIndex {
  readonly versions: ReadonlyMap<string, ServedVersion>
  /** Bound: the versions of the group. */
  private readonly indexes = new Map<string, VersionIndex>()

  constructor({ versions }: ServedGroup) {
    this.versions = new Map(versions.map((version) => [version.version, version]))
  }

  version(name: string): VersionIndex | undefined {
    const known = this.indexes.get(name)
    if (known !== undefined) return known
    const version = this.versions.get(name)
    if (version === undefined) return undefined
    const index = new VersionIndex(version)
    this.indexes.set(name, index)
    return index
  }

  get resources(): ResourceEntry[] {
    return [...this.versions.keys()].flatMap((name) => [...this.version(name)!.resources.values()])
  }
}

const indexes = new WeakMap<ServedGroup, GroupIndex>()

function indexOf(group: ServedGroup): GroupIndex {
  let index = indexes.get(group)
  if (index === undefined) indexes.set(group, (index = new GroupIndex(group)))
  return index
}

/** The number of groups whose definitions are read in one turn. Ten of them take a millisecond. */
const READ_TOGETHER = 4

interface Groups {
  /** Absent if there is nothing to read. */
  reading?(name: string): Promise<void> | undefined
  read?(turn?: () => Promise<void>): Promise<void>
  group(name: string): ServedGroup | undefined
  isBuiltInGroup(group: string): boolean
  /** In the order of discovery. */
  all(): readonly ServedGroup[]
}

export function servedResources({ group: groupNamed, isBuiltInGroup, all, reading, read }: Groups): ServedResources {
  let groups: readonly ServedGroup[] | undefined
  const allGroups = () => (groups ??= all())
  const inGroup = (name: string): GroupIndex | undefined => {
    const group = groupNamed(name)
    return group === undefined ? undefined : indexOf(group)
  }
  return {
    reading: (name) => reading?.(name),
    read: async (turn) => read?.(turn),
    get groups() {
      return allGroups()
    },
    get resources() {
      return allGroups().flatMap((group) => indexOf(group).resources)
    },
    inGroup: (name) => inGroup(name)?.resources ?? [],
    group: groupNamed,
    version: (group, version) => inGroup(group)?.versions.get(version),
    find: (group, version, resource) => inGroup(group)?.version(version)?.resources.get(resource),
    findKind: ({ group, version, kind }) => inGroup(group)?.version(version)?.kinds.get(kind),
    isServedGroupVersion: (group, version) => inGroup(group)?.versions.has(version) === true,
    isBuiltInGroup,
  }
}
