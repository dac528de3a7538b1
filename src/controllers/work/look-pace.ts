/**
 * Limits how often a controller reconciles a busy key: at once after a pause, otherwise a fixed time after the last
 * reconciliation. Each reconciliation of an owner reads all its pods, so it sees all changes since.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { ownValue } from '../../base/own.ts'
import type { Topic } from '../../registry/work/topic.ts'

/** Milliseconds between two reconciliations of a key. */
const paces: Partial<Readonly<Record<Topic, number>>> = {
  autoscaled: 1_000,
  'daemon-set': 250,
  deployment: 100,
  disruption: 250,
  'endpoint-slice': 500,
  endpoints: 500,
  'guarded-pods': 250,
  job: 200,
  'node-ttl': 1_000,
  'replica-set': 250,
  'replication-controller': 250,
  'resource-quota': 500,
  scheduler: 50,
  'selected-pods': 250,
  'simulated-pods': 50,
  'stateful-set': 100,
  'taint-eviction': 250,
}

/** The most keys with a pace. Further keys have no delay. */
const MOST_KEYS = 10_000

export class LookPace {
  private readonly last = new BoundedMap<string, number>({ entries: MOST_KEYS })

  constructor(private readonly now: () => number) {}

  /** Milliseconds until the next reconciliation. */
  delay(topic: string, key: string): number {
    const pace = ownValue(paces, topic)
    if (pace === undefined) return 0
    const last = this.last.get(`${topic} ${key}`)
    return last === undefined ? 0 : Math.max(0, last + pace - this.now())
  }

  /** Call this when a reconciliation has ended. */
  looked(topic: string, key: string): void {
    if (ownValue(paces, topic) !== undefined) this.last.set(`${topic} ${key}`, this.now())
  }
}
