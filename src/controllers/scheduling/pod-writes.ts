/** The scheduler's writes: bindings, conditions of waiting pods, the deletion of victims, and Events about them. */
import type { Event } from '../../api/events/v1.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { logError } from '../../log/log.ts'
import { bindPod } from '../../registry/core/pods/bind-pod.ts'
import { setPodCondition } from '../../registry/core/pods/pod-conditions.ts'
import type { Clientset } from '../client/clientset.ts'
import { isHead } from '../client/pod-head.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { CLAIMS, keepFor } from '../volumes/binding.ts'
import { SELECTED_NODE } from '../volumes/matching.ts'
import { isRefusal } from '../work/refusal.ts'
import { isGone, isOvertaken } from '../work/unless-gone.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { podCondition } from '../workloads/pods/pod-state.ts'
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

/** `refused`: the write is to be tried again after a pause. `done`: that needs no try, also because the pod is gone. */
export type Written = 'done' | 'refused'

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
    const known = isHead(pod) ? undefined : pod
    try {
      await pods.post(name, 'binding', BINDING, binding, (scope) => bindPod(scope, binding, false, known))
    } catch (error) {
      if (!isRefusal(error)) throw error
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
   * @param pod as it is stored
   * @param nominated the nominated node; '' for none
   */
  async refuse(pod: Pod, message: string, nominated: string, reason = 'Unschedulable'): Promise<Written> {
    const known = podCondition(pod, 'PodScheduled')
    const isKnown = known?.status === 'False' && known.reason === reason && known.message === message
    if (isKnown && nominated === (pod.status?.nominatedNodeName ?? '')) return 'done'
    const condition = { type: 'PodScheduled', status: 'False', reason, message }
    const written = await this.changeStatus(pod, (live) => {
      if (live.spec?.nodeName) return
      const { generation } = live.metadata
      setPodCondition(
        live,
        { ...condition, ...(generation === undefined ? {} : { observedGeneration: generation }) },
        this.context.now(),
      )
      const status = (live.status ??= {})
      if (nominated === '') delete status.nominatedNodeName
      else status.nominatedNodeName = nominated
    })
    if (!isKnown)
      await this.tell(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message })
    return written
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

  /** Tells that the node is kept for the pod. The scheduler keeps it even if the API refuses that. */
  async nominate(pod: Pod, node: string): Promise<void> {
    await this.changeStatus(pod, (live) => {
      if (!live.spec?.nodeName) live.status = { ...live.status, nominatedNodeName: node }
    })
  }

  /**
   * Deletes a pod in favour of one with a higher priority. It leaves a pod alone that is already being deleted.
   * @returns `refused`: the victim stays
   */
  async evict(victim: PodInfo, preemptor: Pod, node: NodeState): Promise<Written> {
    if (victim.isTerminating) return 'done'
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
      if (!isRefusal(error)) throw error
      return (await isGone(pods, { metadata: victim }, error)) ? 'done' : 'refused'
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
    return 'done'
  }

  /** Takes the nominated node from a pod of lower priority. A pod that keeps it holds up none of higher priority. */
  async forgetPlace({ namespace, name, uid }: PodInfo): Promise<void> {
    await this.changeStatus({ metadata: { namespace, name, uid } }, (live) => {
      delete live.status?.nominatedNodeName
    })
  }

  /** Other writes may come first: they bring the pod to the scheduler again. */
  private async changeStatus({ metadata }: Pick<Pod, 'metadata'>, change: (live: Pod) => void): Promise<Written> {
    const { namespace = '', name = '' } = metadata
    const pods = this.clients.resource(PODS, namespace)
    try {
      await pods.updateStatusWithRetries({ metadata }, change)
      return 'done'
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (await isGone(pods, { metadata }, error)) return 'done'
      logError('the scheduler could not write the status of a pod', { pod: `${namespace}/${name}`, error })
      return 'refused'
    }
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
      try {
        return await events.add(named)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        // as kube-scheduler does, it goes on without an Event that is refused
        if (error.code !== 409) return
      }
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
