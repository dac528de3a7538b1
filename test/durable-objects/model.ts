/**
 * The answers that a shard must give, as plain functions of the history of all writes. The model has no cache, no
 * compaction and no messages.
 */
import type { Selection } from '../../src/storage/selectors/selection.ts'
import { matches } from '../../src/storage/selectors/selection.ts'
import type { Revision, Selectable, WatchEventType } from '../../src/storage/storage.ts'

export interface Write {
  readonly revision: Revision
  readonly type: 'create' | 'update' | 'delete'
  readonly prefix: string
  /** `NAMESPACE/NAME` */
  readonly key: string
  readonly content: string
  readonly selectable: Selectable
}

export interface Query {
  readonly prefix: string
  readonly namespace?: string
  readonly selection: Selection
}

export interface Seen {
  readonly type: WatchEventType
  readonly revision: Revision
  readonly key: string
  readonly content: string
}

export class History {
  private readonly writes: Write[] = []

  add(...writes: readonly Write[]): void {
    this.writes.push(...[...writes].sort((a, b) => a.revision - b.revision))
  }

  get revisions(): readonly Revision[] {
    return this.writes.map(({ revision }) => revision)
  }

  /** The revision of the newest write; 0 before the first. */
  get last(): Revision {
    return this.writes.at(-1)?.revision ?? 0
  }

  live(prefix: string, key: string): Write | undefined {
    const newest = this.writes.findLast((write) => write.prefix === prefix && write.key === key)
    return newest?.type === 'delete' ? undefined : newest
  }

  /** The newest write of each key with a write after a revision, in order of revision. */
  newest(after: Revision): Write[] {
    const isNewest = ({ prefix, key }: Write, index: number) =>
      !this.writes.some((later, at) => at > index && later.prefix === prefix && later.key === key)
    return this.writes.filter((write, index) => write.revision > after && isNewest(write, index))
  }

  /** The objects that existed at a revision, in key order: every key here is ASCII. */
  snapshot(at: Revision, { prefix }: Pick<Query, 'prefix'>): Write[] {
    const newest = new Map<string, Write>()
    for (const write of this.writes) if (write.revision <= at && write.prefix === prefix) newest.set(write.key, write)
    return [...newest.values()].filter(({ type }) => type !== 'delete').sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** @param after the list begins behind this key */
  list(at: Revision, query: Query, after = ''): Write[] {
    return this.snapshot(at, query).filter((write) => write.key > after && isSelected(write, query))
  }

  events(after: Revision, query: Query): Seen[] {
    return this.writes
      .filter(({ revision, prefix }) => revision > after && prefix === query.prefix)
      .flatMap((write) => {
        const previous = this.snapshot(write.revision - 1, query).find(({ key }) => key === write.key)
        const was = previous !== undefined && isSelected(previous, query)
        const is = write.type !== 'delete' && isSelected(write, query)
        if (!was && !is) return []
        const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED'
        const shown = type === 'DELETED' && write.type !== 'delete' ? previous! : write
        return [{ type, revision: write.revision, key: write.key, content: shown.content } as const]
      })
  }
}

function isSelected({ key, selectable }: Write, { namespace, selection }: Query): boolean {
  return (namespace === undefined || key.startsWith(`${namespace}/`)) && matches(selection, key, selectable)
}
