/** The objects of a control plane's configuration, by type: immutable, and cheap to bring up to date. */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import type { PackedText } from '../base/packed-text.ts'
import type { Steps } from '../base/slices.ts'
import { turnOfOthers } from '../base/slices.ts'
import { parseStoredObject } from '../codec/stored-object.ts'
import type { Revision, ShardChanges } from '../storage/storage.ts'
import type { ControlSnapshot, ObjectsOfGroup } from './control-snapshot.ts'
import { AT_ONCE, lazyDefinition, lazyDefinitionInSteps } from './lazy-definition.ts'
import { packedLater } from './packing.ts'
import { SortedEntries } from './sorted-entries.ts'

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
/** Types whose names end with their group: `PLURAL.GROUP`, `VERSION.GROUP`. */
const grouped = new Set([DEFINITIONS, 'apiservices.apiregistration.k8s.io'])

export const isGrouped = (prefix: string): boolean => grouped.has(prefix)

const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1)

class Entry {
  /** UTF-16 units. */
  readonly length: number
  private readonly source: string | PackedText
  private parsed: KubeObject | undefined
  private underWay: Steps<KubeObject> | undefined

  /** Most definitions are only looked up by name, so their texts are packed after a while without changes. */
  constructor(prefix: string, text: string) {
    this.length = text.length
    this.source = prefix === DEFINITIONS ? packedLater(text) : text
  }

  get object(): KubeObject {
    const { source } = this
    return (this.parsed ??= typeof source === 'string' ? parseStoredObject(source) : lazyDefinition(source))
  }

  /** UTF-16 units that the first use of the object parses. */
  get unread(): number {
    return this.parsed === undefined ? this.length : 0
  }

  /** Parses a long object in steps. Every request that waits for it does its next step, so none delays the others. */
  async read(): Promise<void> {
    const { source } = this
    if (typeof source === 'string' || this.unread <= AT_ONCE) return void this.object
    while (this.parsed === undefined) {
      await turnOfOthers()
      const steps = this.underWay ?? lazyDefinitionInSteps(source)
      // it begins anew if this step throws
      this.underWay = undefined
      const { done, value } = steps.next(true)
      if (done === true) this.parsed ??= value
      else this.underWay = steps
    }
  }

  /** The object was replaced; it lives on in older snapshots. */
  replaced(): void {
    if (typeof this.source !== 'string') this.source.stayPlain()
  }
}

type Change = readonly [name: string, entry: Entry | undefined]

/** Some objects of one type, parsed on first use. */
class Objects {
  static readonly none = new Objects(SortedEntries.empty)

  private all: readonly KubeObject[] | undefined
  /** Bound: the namespaces that have objects of the type. */
  private readonly byNamespace = new Map<string, readonly KubeObject[]>()

  constructor(readonly entries: SortedEntries<Entry>) {}

  get list(): readonly KubeObject[] {
    return (this.all ??= this.entries.values().map(({ object }) => object))
  }

  /** Undefined if `list` takes little time already. */
  read(): Promise<void> | undefined {
    if (this.all !== undefined) return undefined
    let length = 0
    for (const entry of this.entries.values()) length += entry.unread
    return length <= AT_ONCE ? undefined : readAll(this.entries.values())
  }

  inNamespace(namespace: string): readonly KubeObject[] {
    const known = this.byNamespace.get(namespace)
    if (known !== undefined) return known
    const list = this.entriesIn(namespace).map(({ object }) => object)
    if (list.length > 0) this.byNamespace.set(namespace, list)
    return list
  }

  /** "0" follows the slash in ASCII. */
  entriesIn(namespace: string): readonly Entry[] {
    return this.entries.range(`${namespace}/`, `${namespace}0`)
  }

  with(changes: readonly Change[]): Objects {
    return new Objects(this.entries.with(changes))
  }
}

async function readAll(entries: readonly Entry[]): Promise<void> {
  let read = 0
  for (const entry of entries) {
    read += entry.unread
    if (read > AT_ONCE) {
      await turnOfOthers()
      read = 0
    }
    await entry.read()
  }
  // the caller goes on in a step of its own
  await turnOfOthers()
}

/** The objects of one type, also by group where their names end with one. */
class TypeData extends Objects {
  static override readonly none = new TypeData(SortedEntries.empty, new Map())

  constructor(
    entries: SortedEntries<Entry>,
    readonly groups: ReadonlyMap<string, Objects>,
  ) {
    super(entries)
  }

  /** Groups without changes stay the same values. */
  changed(changes: readonly Change[], isGrouped: boolean): TypeData {
    const entries = this.entries.with(changes)
    if (!isGrouped) return new TypeData(entries, this.groups)
    const groups = new Map(this.groups)
    for (const [group, ofGroup] of Map.groupBy(changes, ([name]) => groupIn(name))) {
      const objects = (groups.get(group) ?? Objects.none).with(ofGroup)
      if (objects.entries.isEmpty) groups.delete(group)
      else groups.set(group, objects)
    }
    return new TypeData(entries, groups)
  }
}

export class SnapshotData implements ControlSnapshot {
  static readonly empty = new SnapshotData(0, new Map(), 0)

  /** The same types by group and resource: every request looks some up, and need not build a prefix for that. */
  private readonly byGroup: ReadonlyMap<string, ReadonlyMap<string, TypeData>>

  /** @param types by their prefix @param size UTF-16 units of all objects */
  constructor(
    readonly revision: Revision,
    private readonly types: ReadonlyMap<string, TypeData>,
    readonly size: number,
  ) {
    const byGroup = Map.groupBy(types, ([prefix]) => groupResourceOf(prefix).group)
    this.byGroup = new Map(
      [...byGroup].map(([group, of]) => [
        group,
        new Map(of.map(([prefix, type]) => [groupResourceOf(prefix).resource, type])),
      ]),
    )
  }

  list<O extends KubeObject>(resource: GroupResource): readonly O[] {
    // a collection has only objects of its kind
    return this.type(resource).list as readonly O[]
  }

  inNamespace<O extends KubeObject>(resource: GroupResource, namespace: string): readonly O[] {
    return this.type(resource).inNamespace(namespace) as readonly O[]
  }

  sizeInNamespace(resource: GroupResource, namespace: string): number {
    return this.type(resource)
      .entriesIn(namespace)
      .reduce((sum, { length }) => sum + length, 0)
  }

  inGroup<O extends KubeObject>(resource: GroupResource, group: string): readonly O[] {
    return (this.type(resource).groups.get(group) ?? Objects.none).list as readonly O[]
  }

  groups<O extends KubeObject>(resource: GroupResource): ReadonlyMap<string, ObjectsOfGroup<O>> {
    // as above
    const groups: ReadonlyMap<string, object> = this.type(resource).groups
    return groups as ReadonlyMap<string, ObjectsOfGroup<O>>
  }

  get<O extends KubeObject>(resource: GroupResource, key: string): O | undefined {
    return this.type(resource).entries.get(key)?.object as O | undefined
  }

  private type({ group, resource }: GroupResource): TypeData {
    return this.byGroup.get(group)?.get(resource) ?? TypeData.none
  }

  with({ revision, reset, changed }: ShardChanges): SnapshotData {
    if (!reset && changed.length === 0)
      return revision === this.revision ? this : new SnapshotData(revision, this.types, this.size)
    const types = new Map(reset ? [] : this.types)
    let size = reset ? 0 : this.size
    for (const [prefix, ofType] of Map.groupBy(changed, ({ key }) => key.slice(0, key.indexOf('/')))) {
      const type = types.get(prefix) ?? TypeData.none
      const changes = ofType.map(({ key, text }): Change => {
        const name = key.slice(prefix.length + 1)
        const before = type.entries.get(name)
        before?.replaced()
        size += (text?.length ?? 0) - (before?.length ?? 0)
        return [name, text === undefined ? undefined : new Entry(prefix, text)]
      })
      types.set(prefix, type.changed(changes, isGrouped(prefix)))
    }
    return new SnapshotData(revision, types, size)
  }
}
