/** Counters and distributions, with one series for each set of labels. */
import { BoundedMap } from '../base/bounded-map.ts'

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

export const secondBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10]
export const byteBuckets = [1e3, 1e4, 1e5, 1e6, 1e7]

/** The most series of a metric. */
const MAX_SERIES = 500

export class Counters {
  private readonly values = new BoundedMap<string, { labels: Labels; value: number }>({ entries: MAX_SERIES })

  add(labels: Labels): void {
    const values = Object.values(labels)
    const key = values.length === 1 ? values[0]! : values.join('\0')
    const known = this.values.get(key)
    if (known === undefined) this.values.set(key, { labels, value: 1 })
    else known.value++
  }

  samples(): Sample[] {
    return this.values.values()
  }
}

export class Histogram {
  /** How many values are in each bucket and not in an earlier one. */
  private readonly counts: number[]
  private sum = 0
  private count = 0

  /** @param buckets upper bounds, ascending */
  constructor(private readonly buckets: readonly number[]) {
    this.counts = buckets.map(() => 0)
  }

  /** Scans from the first bucket: most values are in one of the first. */
  observe(value: number): void {
    this.sum += value
    this.count++
    const { buckets } = this
    for (let at = 0; at < buckets.length; at++) if (value <= buckets[at]!) return void this.counts[at]!++
  }

  /** No samples where nothing was observed. */
  samples(labels: Labels): Sample[] {
    if (this.count === 0) return []
    let upToHere = 0
    return [
      ...this.buckets.map((bound, at) => ({
        suffix: '_bucket',
        labels: { ...labels, le: String(bound) },
        value: (upToHere += this.counts[at]!),
      })),
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: this.count },
      { suffix: '_sum', labels, value: this.sum },
      { suffix: '_count', labels, value: this.count },
    ]
  }
}

export class Histograms {
  private readonly values = new BoundedMap<string, { labels: Labels; histogram: Histogram }>({ entries: MAX_SERIES })

  constructor(private readonly buckets: readonly number[] = secondBuckets) {}

  /** @param key a text that differs when the labels differ */
  observe(key: string, value: number, labels: () => Labels): void {
    let known = this.values.get(key)
    if (known === undefined)
      this.values.set(key, (known = { labels: labels(), histogram: new Histogram(this.buckets) }))
    known.histogram.observe(value)
  }

  samples(): Sample[] {
    return this.values.values().flatMap(({ labels, histogram }) => histogram.samples(labels))
  }
}
