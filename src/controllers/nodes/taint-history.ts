/**
 * The evicting taints of a node over time, and when its pods leave because of them. As in kube-controller-manager, an
 * eviction is planned when a pod first has only a limited time, and keeps its time until the pod tolerates all taints
 * for ever, or one of them not at all.
 */
import type { Pod, Taint, Toleration } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { mostOf } from '../../base/extremes.ts'
import { durationOf } from '../../go/duration.ts'
import { parseStored } from '../../json/parse-json.ts'
import type { Sighting } from '../controller.ts'
import { tolerates } from '../scheduling/taints.ts'

/** The taints from a time on. */
interface Since {
  readonly at: number
  readonly taints: readonly Taint[]
}
export type TaintHistory = readonly Since[]

/** Changes that are remembered. Beyond that the second oldest goes: the oldest may have planned evictions. */
const MOST = 32
/** UTF-16 units of a history of several changes. The taints of one node may have 1.5 MiB. */
const MOST_LENGTH = 65_536

export function historyOf(sighting: Sighting | undefined): TaintHistory {
  if (sighting === undefined) return []
  const read = parseStored(sighting.record) as unknown as Since[] | Taint[] // written by this file, or an earlier release
  const isHistory = (all: Since[] | Taint[]): all is Since[] => all.every((one) => 'taints' in one)
  return isHistory(read) ? read : [{ at: sighting.time, taints: read }]
}

export function sightingOf(history: TaintHistory): Sighting | undefined {
  const [first] = history
  return first && { record: JSON.stringify(history), time: first.at }
}

/** The history with the taints that the node has now. @returns the same one where nothing changed */
export function withTaints(history: TaintHistory, node: readonly Taint[], now: number): TaintHistory {
  const taints = node.map(({ key, value, effect }): Taint => ({
    key,
    effect,
    ...(value === undefined ? {} : { value }),
  }))
  if (JSON.stringify(history.at(-1)?.taints) === JSON.stringify(taints)) return history
  let all: TaintHistory = [...history, { at: now, taints }]
  while (all.length > 2 && (all.length > MOST || isLong(all))) all = all.toSpliced(1, 1)
  const [first] = all
  return first !== undefined && all.length > 1 && isLong(all) ? [{ at: first.at, taints }] : all
}

const isLong = (history: TaintHistory): boolean => JSON.stringify(history).length > MOST_LENGTH

/** When the pod leaves. `now`: it does not tolerate a taint. Undefined: never. */
export function leavesAt(history: TaintHistory, pod: KubeObject & Pod): number | 'now' | undefined {
  const bound = boundAt(pod)
  let planned: number | undefined
  for (const [index, { at, taints }] of history.entries()) {
    const next = history[index + 1]
    // the pod was not there yet
    if (next !== undefined && next.at <= bound) continue
    const left = timeLeft(taints, pod)
    if (left === undefined) {
      if (next === undefined) return 'now'
      planned = undefined
    } else if (left === Infinity) planned = undefined
    else planned ??= mostOf([at, bound]) + left
  }
  return planned
}

/** Milliseconds for which the pod tolerates all of the taints. Undefined: it does not tolerate one of them. */
function timeLeft(taints: readonly Taint[], { spec }: Pod): number | undefined {
  const used: Toleration[] = []
  for (const taint of taints) {
    // few: the taints of one node, the tolerations of one pod
    const found = (spec?.tolerations ?? []).find((toleration) => tolerates(toleration, taint))
    if (found === undefined) return undefined
    used.push(found)
  }
  let least: number | bigint = Infinity
  for (const { tolerationSeconds: seconds = Infinity } of used) if (seconds < least) least = seconds
  if (least === Infinity) return Infinity
  const left = least <= 0 ? 0 : durationOf(least)
  // more seconds than a Duration can hold are no limit
  return left < 0 ? Infinity : left
}

function boundAt({ metadata, status }: KubeObject & Pod): number {
  const bound = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime
  return Date.parse(bound ?? metadata.creationTimestamp ?? '') || 0
}
