/** The scheduler's writes: bindings, conditions of waiting pods, the deletion of victims, and Events about them. */
import type { Event } from '../../api/events/v1.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { bindPod } from '../../registry/core/bind-pod.ts'
import { setPodCondition } from '../../registry/core/pod-conditions.ts'
import type { Clientset } from '../clientset.ts'
import { typedResource } from '../clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { CLAIMS, keepFor } from '../volumes/binding.ts'
import { SELECTED_NODE } from '../volumes/matching.ts'
import { isGone, isOvertaken } from '../unless-gone.ts'
import { PODS } from '../workloads/pod-control.ts'
import { podCondition } from '../workloads/pod-state.ts'
import type { NodeState } from './node-state.ts'
import type { PodInfo } from './pod-info.ts'

const EVENTS = typedResource<KubeObject & Event>('', 'events')
const BINDING = { group: '', version: 'v1', kind: 'Binding' }
/** The end of an Event's reportingInstance, where kube-scheduler has its host name. */
const HOST = 'kedge'
/** The most bytes in the note of an Event. */
const LONGEST_NOTE = 1024
const CUT = ' ...'
/** The scheduler tries this many names for an Event. It drops further Events of one pod in the same millisecond. */
const NAME_TRIES = 3n

/** `overtaken`: the pod is gone, or already has a node. */
export type Bound = 'bound' | 'overtaken' | 'refused'

export class PodWrites {
  constructor(
    private readonly clients: Clientset,
    private readonly context: ControllerContext,
  ) {}

  async bind(pod: Pod, node: string): Promise<Bound> {
    const { namespace = '', name = '', uid = '' } = pod.metadata
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    }
    const pods = this.clients.resource(PODS, namespace)
    try {
      await pods.post(name, 'binding', BINDING, binding, (scope) => bindPod(scope, binding, false, pod))
    } catch (error) {
      if (!(error instanceof StatusError) || error.code > 500) throw error
      if (await isOvertaken(pods, pod, error)) return 'overtaken'
      // a webhook denied the binding, or did not answer
      await this.refuse(pod, `running Bind plugin "DefaultBinder": ${error.message}`, '', 'SchedulerError')
      return 'refused'
    }
    await this.tell(pod, {
      type: 'Normal',
      reason: 'Scheduled',
      action: 'Binding',
      note: `Successfully assigned ${namespace}/${name} to ${node}`,
    })
    return 'bound'
  }

  /**
   * Writes why the pod waits, unless its status already says so.
   * @param nominated the nominated node; '' removes it; undefined leaves it
   */
  async refuse(pod: Pod, message: string, nominated: string | undefined, reason = 'Unschedulable'): Promise<void> {
    const known = podCondition(pod, 'PodScheduled')
    const isKnown = known?.status === 'False' && known.reason === reason && known.message === message
    const place = nominated ?? pod.status?.nominatedNodeName ?? ''
    if (isKnown && place === (pod.status?.nominatedNodeName ?? '')) return
    const { namespace } = pod.metadata
    const condition = { type: 'PodScheduled', status: 'False', reason, message }
    await overtaken(
      this.clients.resource(PODS, namespace).updateStatusWithRetries(pod, (live) => {
        if (live.spec?.nodeName) return
        const { generation } = live.metadata
        setPodCondition(
          live,
          { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) },
          this.context.now(),
        )
        const status = (live.status ??= {})
        if (place === '') delete status.nominatedNodeName
        else status.nominatedNodeName = place
      }),
    )
    if (!isKnown)
      await this.tell(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message })
  }

  /** Keeps the node for the pod while drivers prepare its devices. */
  async awaitDevices(pod: Pod, node: string): Promise<void> {
    await this.tell(pod, {
      type: 'Normal',
      reason: 'BindingConditionsPending',
      action: 'Scheduling',
      note: `waiting for binding conditions for device on node ${node}`,
    })
    await this.nominate(pod, node)
  }

  /** Tells that the node is kept for the pod. */
  async nominate(pod: Pod, node: string): Promise<void> {
    await overtaken(
      this.clients.resource(PODS, pod.metadata.namespace).updateStatusWithRetries(pod, (live) => {
        if (!live.spec?.nodeName) live.status = { ...live.status, nominatedNodeName: node }
      }),
    )
  }

  /**
   * Deletes a pod in favour of one with a higher priority. It leaves a pod alone that is already being deleted.
   * @returns whether the victim goes
   */
  async evict(victim: PodInfo, preemptor: Pod, node: NodeState): Promise<'goes' | 'refused'> {
    if (victim.isTerminating) return 'goes'
    const pods = this.clients.resource(PODS, victim.namespace)
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${preemptor.spec?.schedulerName}: preempting to accommodate a higher priority pod`,
    }
    let stopped: Pod
    try {
      stopped = await pods.updateStatusWithRetries({ metadata: victim }, (live) => {
        const { generation } = live.metadata
        setPodCondition(
          live,
          { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) },
          this.context.now(),
        )
      })
      await pods.delete({ metadata: victim })
    } catch (error) {
      if (!(error instanceof StatusError) || error.code >= 500) throw error
      return (await isGone(pods, { metadata: victim }, error)) ? 'goes' : 'refused'
    }
    await this.tell(
      stopped,
      {
        type: 'Normal',
        reason: 'Preempted',
        action: 'Preempting',
        note: `Preempted by pod ${preemptor.metadata.uid} on node ${node.name}`,
      },
      preemptor,
    )
    return 'goes'
  }

  /** Takes the nominated node from a pod of lower priority. */
  async forgetPlace({ namespace, name, uid }: PodInfo): Promise<void> {
    await overtaken(
      this.clients.resource(PODS, namespace).updateStatusWithRetries({ metadata: { name, uid } }, (live) => {
        delete live.status?.nominatedNodeName
      }),
    )
  }

  /** Sets the node for which a provisioner makes the volume of the claim. */
  async selectNode({ metadata: { namespace, name = '', uid } }: PersistentVolumeClaim, node: string): Promise<void> {
    await this.clients.resource(CLAIMS, namespace).updateWithRetries({ metadata: { name, uid } }, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [SELECTED_NODE]: node }
    })
  }

  async keepVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    await keepFor(this.clients, volume, claim)
  }

  /** Writes an Event as clients of events.k8s.io do. */
  private async tell(pod: Pod, { note, ...news }: News, related?: Pod): Promise<void> {
    const { namespace = '', name = '' } = pod.metadata
    const now = this.context.now()
    const scheduler = pod.spec?.schedulerName ?? ''
    const events = this.clients.resource(EVENTS, namespace)
    // storage holds Events in the form of core/v1
    const event = {
      kind: 'Event',
      apiVersion: 'v1',
      involvedObject: referenceTo(pod),
      ...(related === undefined ? {} : { related: referenceTo(related) }),
      eventTime: `${now.toISOString().slice(0, -1)}000Z`,
      reportingComponent: scheduler,
      reportingInstance: `${scheduler}-${HOST}`,
      message: note.length > LONGEST_NOTE ? note.slice(0, LONGEST_NOTE - CUT.length) + CUT : note,
      ...news,
      source: {},
    }
    // names end with nanoseconds, but the clock has only milliseconds
    for (let tries = 0n; tries < NAME_TRIES; tries++) {
      const nanoseconds = BigInt(now.getTime()) * 1_000_000n + tries
      const metadata = { name: `${name}.${nanoseconds.toString(16)}`, namespace }
      const named = { ...event, metadata } as unknown as KubeObject & Event
      if (await overtaken(events.add(named).then(() => true))) return
    }
  }
}

interface News {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
}

const referenceTo = ({ metadata: { namespace, name, uid, resourceVersion } }: Pod) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  namespace,
  name,
  uid,
  resourceVersion,
})

/** Ignores the failure of a write because its pod changed or is gone. The next run handles the pod again. */
async function overtaken<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StatusError) || error.code >= 500) throw error
    return undefined
  }
}
