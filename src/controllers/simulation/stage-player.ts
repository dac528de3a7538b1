/**
 * Plays Stages for pods on simulated nodes. The delay of a Stage begins with the write after which the Stage first
 * matches the pod. After the delay its steps run, once for each version of the pod. Random values come from the pod's
 * uid and version, so that each run gets the same ones.
 */
import type { Pod } from '../../api/core/v1.ts'
import { Budget } from '../../base/budget.ts'
import { cloneJson } from '../../json/clone-json.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { TemplateError } from '../../go/template/tokens.ts'
import type { Stage, StageStep } from '../../registry/simulation/stages.ts'
import type { Clientset } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { isRefusal } from '../work/refusal.ts'
import { isOvertaken } from '../work/unless-gone.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import type { PlaceOfPod } from './stage-patches.ts'
import { finalizersAfter, renderedPatch } from './stage-patches.ts'

/** Steps that a pod may take at once. After that it takes one a second. */
const AT_ONCE = 10
const PACE = 1000
/** The most pods whose delays are kept. The delays of other pods begin anew, and one pace counts all their steps. */
const MOST_WAITING = 4000
/**
 * The values that the expressions of all Stages visit in one look at a pod: some ten milliseconds. Stages that would need
 * more do not match.
 */
const MOST_VALUES = 200_000
/** The key for the pace of these other pods: a hundred steps at once, and then one every 10 ms. */
const FORGOTTEN = ''
const FORGOTTEN_AT_ONCE = 100
const FORGOTTEN_PACE = 10

/**
 * For a pod that a Stage matches or matched: its version, the time of that version, the time at which it is no longer
 * ahead of its pace (0: no Stage has played), whether a Stage has played with this version (1: yes), and its uid.
 */
type Waiting = readonly [version: string, since: number, pace: number, isPlayed: 0 | 1, uid: string]

const KEY = 'stages/'

export class StagePlayer {
  /** By NAMESPACE/NAME. Bound: MOST_WAITING. keep() drops the oldest entries. */
  private readonly waiting: Map<string, Waiting>
  private readonly record: string

  constructor(
    private readonly stages: readonly Stage[],
    private readonly clients: Clientset,
    private readonly context: ControllerContext,
  ) {
    this.record = context.sightings.get(KEY)?.record ?? '[]'
    const known = stages.length === 0 ? [] : (JSON.parse(this.record) as [string, Waiting][]) // of this class
    this.waiting = new Map(known)
  }

  /** Whether a Stage matches the pod, or matched it before. */
  isFor(pod: KubeObject & Pod): boolean {
    const budget = new Budget(MOST_VALUES)
    const json = pod as unknown as Json // an API object is JSON
    return this.stages.some((stage) => stage.matches(json, budget)) || this.knownOf(pod) !== undefined
  }

  private knownOf(pod: Pod): Waiting | undefined {
    const known = this.waiting.get(keyOf(pod))
    return known?.[4] === pod.metadata.uid ? known : undefined
  }

  /** @returns milliseconds until the next step; undefined: no Stage matches this pod, and none has played for it */
  async play(pod: KubeObject & Pod, node: PlaceOfPod): Promise<{ readonly after?: number } | undefined> {
    const json = pod as unknown as Json // an API object is JSON
    const budget = new Budget(MOST_VALUES)
    const matching = this.stages.filter((stage) => stage.matches(json, budget))
    if (budget.spent > budget.limit) await this.tellTooMuch(pod)
    const { uid = '', resourceVersion: version = '', deletionTimestamp } = pod.metadata
    if (this.stages.length === 0) return undefined
    const known = this.knownOf(pod)
    if (matching.length === 0) {
      // after its last Stage the pod stays as it is until it is deleted
      if (known === undefined || known[2] === 0 || deletionTimestamp !== undefined) return undefined
      return {}
    }
    const now = this.context.now().getTime()
    const isSame = known?.[0] === version
    const [since, pace] = [isSame ? known[1] : now, known?.[2] ?? 0]
    if (isSame && known[3] === 1) return {}
    const stage = drawn(matching, json, budget, chance(`${uid}/${version}`))
    const [least, most] = stage.delay(json, since, budget)
    const due = since + least + (most - least) * chance(`${uid}/${version}/${stage.name}`)
    const isForgotten = known === undefined && this.waiting.size >= MOST_WAITING
    const ahead = isForgotten ? this.paceOfForgotten() : pace - (AT_ONCE - 1) * PACE
    const after = Math.max(due, ahead) - now
    if (after > 0) {
      if (!isForgotten || ahead <= due) this.keep(pod, [version, since, pace, 0, uid])
      if (!isSame && ahead > due) await this.tellPace(stage, pod)
      return { after }
    }
    if (isForgotten) this.countForgotten(now)
    const paceAfter = Math.max(pace, now) + PACE
    this.keep(pod, [version, since, paceAfter, 1, uid])
    try {
      await this.perform(stage, pod, node)
    } catch (error) {
      this.keep(pod, [version, since, paceAfter, 0, uid])
      throw error
    }
    return {}
  }

  /** Stores the state for the next run, if it changed. */
  remember(): void {
    const record = JSON.stringify([...this.waiting])
    if (record === this.record) return
    this.context.sightings.set(KEY, this.waiting.size === 0 ? undefined : { record, time: 0 })
  }

  /** Drops the state of a pod that is gone. */
  forget(key: string): void {
    this.waiting.delete(key)
  }

  private paceOfForgotten(): number {
    return (this.waiting.get(FORGOTTEN)?.[2] ?? 0) - (FORGOTTEN_AT_ONCE - 1) * FORGOTTEN_PACE
  }

  private countForgotten(now: number): void {
    const pace = Math.max(this.waiting.get(FORGOTTEN)?.[2] ?? 0, now) + FORGOTTEN_PACE
    this.waiting.delete(FORGOTTEN)
    this.waiting.set(FORGOTTEN, ['', now, pace, 1, ''])
  }

  private keep(pod: Pod, waiting: Waiting): void {
    const key = keyOf(pod)
    this.waiting.delete(key)
    this.waiting.set(key, waiting)
    for (const oldest of this.waiting.keys()) {
      if (this.waiting.size <= MOST_WAITING) break
      this.waiting.delete(oldest)
    }
  }

  /** Reports that a pod waits for its pace. Stages that lead back to each other without a delay cause this. */
  private async tellPace({ name }: Stage, pod: KubeObject & Pod): Promise<void> {
    const events = new EventRecorder(this.clients, 'kubelet', () => this.context.now(), pod.spec?.nodeName)
    const message = `stage ${name} waits: a pod takes ${AT_ONCE} steps at once, and then one each ${PACE / 1000} s`
    await events.warnOnce(pod, 'StagePaced', message)
  }

  private async tellTooMuch(pod: KubeObject & Pod): Promise<void> {
    const events = new EventRecorder(this.clients, 'kubelet', () => this.context.now(), pod.spec?.nodeName)
    const message = `the expressions of all stages would visit more than ${MOST_VALUES} values of this pod, so some are not played`
    await events.warnOnce(pod, 'StageFailed', message)
  }

  /**
   * Runs the steps of a Stage. If a step cannot be done, an Event reports it, and it is not tried again before the pod
   * changes.
   * @throws what is no fault of the step, such as a failure of storage
   */
  private async perform(stage: Stage, pod: KubeObject & Pod, node: PlaceOfPod): Promise<void> {
    const events = new EventRecorder(this.clients, 'kubelet', () => this.context.now(), pod.spec?.nodeName)
    try {
      let isDeleted = false
      for (const step of stage.steps) {
        if (step.event !== undefined) await events.record(pod, step.event)
        if (!isDeleted) isDeleted = await this.change(step, pod, node)
      }
    } catch (error) {
      // another writer changed the pod first, and its write brings this controller new work
      if (await isOvertaken(this.clients.resource(PODS, pod.metadata.namespace), pod, error)) return
      if (!(error instanceof TemplateError) && !isRefusal(error)) throw error
      await events.warnOnce(pod, 'StageFailed', `stage ${stage.name}: ${error.message}`)
    }
  }

  /** @returns whether the pod is deleted */
  private async change(
    { finalizers, deletes, patch }: StageStep,
    pod: KubeObject & Pod,
    node: PlaceOfPod,
  ): Promise<boolean> {
    const pods = this.clients.resource(PODS, pod.metadata.namespace)
    if (finalizers !== undefined) {
      const left = finalizersAfter(pod.metadata.finalizers ?? [], finalizers)
      if (left !== undefined) await pods.patch(pod, 'application/merge-patch+json', { metadata: { finalizers: left } })
    }
    if (deletes === true) {
      await pods.delete(pod, { gracePeriodSeconds: 0 })
      return true
    }
    if (patch === undefined) return false
    const rendered = await renderedPatch(patch, cloneJson(pod), node, this.context.now())
    if (rendered !== undefined) await pods.patch(pod, rendered.type, rendered.body, patch.subresource)
    return false
  }
}

/**
 * Chooses by weight, like KWOK. Stages whose weight is unknown count only if no Stage has a weight. If all
 * weights are 0, all are equally likely.
 */
function drawn(stages: readonly Stage[], pod: Json, budget: Budget, chance: number): Stage {
  const weighed = stages.map((stage) => ({ stage, weight: stage.weight(pod, budget) }))
  const known = weighed.filter(({ weight }) => weight !== undefined)
  const heavy = known.filter(({ weight = 0 }) => weight > 0)
  const [first = { stage: stages[0]!, weight: 0 }, ...others] = heavy
  if (heavy.length === 0) {
    const even = known.length > 0 ? known : weighed
    return even[Math.floor(chance * even.length)]!.stage
  }
  let left = chance * heavy.reduce((sum, { weight = 0 }) => sum + weight, 0) - (first.weight ?? 0)
  let found = first.stage
  for (const { stage, weight = 0 } of others) {
    if (left < 0) break
    found = stage
    left -= weight
  }
  return found
}

/** A hash of the text as a number from 0 to below 1. */
function chance(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`
