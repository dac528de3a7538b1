// Each BoundedMap that is made, by the file and line that made it: what modules keep to themselves can be looked at.
import type { BoundedMap, Bounds } from '../../src/base/bounded-map.ts'

export interface Recorded {
  /** `src/…: LINE` */
  readonly site: string
  readonly bounds: Bounds<unknown, unknown>
  readonly map: BoundedMap<unknown, unknown>
  /** How often something was put into it. */
  puts: number
  /** The most that it ever held. */
  most: number
}

export const recorded: Recorded[] = []

/** For vi.mock of bounded-map.ts. */
export function recording(actual: { BoundedMap: typeof BoundedMap }): object {
  class RecordedMap<Key, Value> extends actual.BoundedMap<Key, Value> {
    private readonly record: Recorded

    constructor(bounds: Bounds<Key, Value>) {
      super(bounds)
      // frames: Error, this constructor, who made it
      const site = /(?:src|durable-objects)\/\S+?\.ts/.exec(new Error().stack?.split('\n')[2] ?? '')?.[0] ?? ''
      // only looked at
      this.record = { site, bounds: bounds as Recorded['bounds'], map: this as Recorded['map'], puts: 0, most: 0 }
      recorded.push(this.record)
    }

    override set(key: Key, value: Value): void {
      super.set(key, value)
      this.record.puts++
      this.record.most = Math.max(this.record.most, this.size)
    }
  }
  return { ...actual, BoundedMap: RecordedMap }
}
