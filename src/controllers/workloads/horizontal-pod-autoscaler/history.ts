/**
 * The latest recommendations and changes of an autoscaler. kube-controller-manager keeps them in memory, a sample every
 * 15 seconds. Here they are stored. So equal samples are one row with a time, and a steady autoscaler writes nothing.
 */
import * as z from 'zod/mini'
import { leastOf, mostOf } from '../../../base/extremes.ts'

/** Milliseconds: the default of kube-controller-manager's --horizontal-pod-autoscaler-sync-period. */
export const PERIOD_MS = 15_000

const recommendation = z.object({
  replicas: z.number(),
  /** When the first reconciliation recommended this, in milliseconds since 1970. */
  since: z.number(),
  /** When the last one did; set when a later reconciliation recommends other replicas or nothing. */
  until: z.optional(z.number()),
})
const scaleEvent = z.object({ change: z.number(), time: z.number() })
const record = z.object({
  uid: z.string(),
  /** The selector of the target's scale. */
  selector: z.optional(z.string()),
  recommendations: z.array(recommendation),
  ups: z.array(scaleEvent),
  downs: z.array(scaleEvent),
})

export type ScaleEvent = z.infer<typeof scaleEvent>
/** Bound: every addition drops entries older than the longest window or period. */
export type AutoscalerHistory = Readonly<z.infer<typeof record>>

const emptyHistory = (uid: string): AutoscalerHistory => ({ uid, recommendations: [], ups: [], downs: [] })

/** @param uid the autoscaler's uid: a new autoscaler of the same name has no history */
export function readHistory(text: string | undefined, uid: string): AutoscalerHistory {
  if (text === undefined) return emptyHistory(uid)
  const read = record.safeParse(JSON.parse(text))
  return read.success && read.data.uid === uid ? read.data : emptyHistory(uid)
}

/** The time of the last sample of a recommendation. For one that continues that is a sync period ago. */
const lastOf = ({ since, until }: AutoscalerHistory['recommendations'][number], now: number): number =>
  until ?? Math.max(since, now - PERIOD_MS)

/** The replicas recommended after a time. */
export const recommendationsAfter = (
  { recommendations }: AutoscalerHistory,
  time: number,
  now: number,
): readonly number[] => recommendations.filter((one) => lastOf(one, now) > time).map(({ replicas }) => replicas)

/** Milliseconds until a former recommendation leaves the window; undefined: the window has none. */
export function untilForgotten({ recommendations }: AutoscalerHistory, window: number, now: number) {
  const ends = recommendations.flatMap(({ until }) =>
    until !== undefined && until > now - window ? [until + window - now] : [],
  )
  return ends.length === 0 ? undefined : leastOf(ends)
}

/** The history with the current replicas as first recommendation, where it has none. */
export const begun = (history: AutoscalerHistory, replicas: number, now: number): AutoscalerHistory =>
  history.recommendations.length > 0 ? history : { ...history, recommendations: [{ replicas, since: now }] }

/** @param keep the longest window in milliseconds */
export function recommended(
  history: AutoscalerHistory,
  replicas: number,
  now: number,
  keep: number,
): AutoscalerHistory {
  const last = history.recommendations.at(-1)
  if (last?.replicas === replicas && last.until === undefined) return history
  const { recommendations } = paused(history, now)
  const kept = recommendations.filter((one) => lastOf(one, now) > now - keep)
  return { ...history, recommendations: [...kept, { replicas, since: now }] }
}

/** The history after a reconciliation that recommended nothing. */
export function paused(history: AutoscalerHistory, now: number): AutoscalerHistory {
  const last = history.recommendations.at(-1)
  if (last === undefined || last.until !== undefined) return history
  const over = { ...last, until: lastOf(last, now) }
  return { ...history, recommendations: [...history.recommendations.slice(0, -1), over] }
}

/** @param policies those for the direction of the change. The history keeps the change for their longest period. */
export function scaled(
  history: AutoscalerHistory,
  from: number,
  to: number,
  now: number,
  policies: readonly { readonly periodSeconds?: number }[] = [],
): AutoscalerHistory {
  const longest = mostOf(
    policies.map(({ periodSeconds = 0 }) => periodSeconds),
    0,
  )
  const of = to > from ? 'ups' : 'downs'
  const kept = history[of].filter(({ time }) => time >= now - longest * 1000)
  return { ...history, [of]: [...kept, { change: Math.abs(to - from), time: now }] }
}
