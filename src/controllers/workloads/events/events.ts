/**
 * Writes Events like client-go's recorder. A repeated message about an object raises the count of the existing Event,
 * so an Event's name is a hash of its content.
 */
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Event } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import { timeText } from '../../../schema/time.ts'
import { perTenant } from '../../../tenancy/tenant-state.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import { isRefusal } from '../../work/refusal.ts'
import { named } from '../../client/resource-client.ts'
import { correlatorOf } from './event-correlator.ts'

const EVENTS = typedResource<KubeObject & Event>('', 'events')
/** The most bytes of a message: client-go cuts it there. */
const LONGEST = 1024

export interface News {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The fieldPath of the object, which names a container. */
  readonly fieldPath?: string
}

export class EventRecorder {
  constructor(
    private readonly clients: Clientset,
    private readonly component: string,
    private readonly now: () => Date,
    /** The node of a kubelet. */
    private readonly host?: string,
  ) {}

  normal(object: KubeObject, reason: string, message: string): Promise<void> {
    return this.record(object, { type: 'Normal', reason, message })
  }

  warning(object: KubeObject, reason: string, message: string): Promise<void> {
    return this.record(object, { type: 'Warning', reason, message })
  }

  /** Like `normal`, but does not count a repeated message. */
  once(object: KubeObject, reason: string, message: string): Promise<void> {
    return this.record(object, { type: 'Normal', reason, message }, false)
  }

  /** Like `warning`, but does not count a repeated message. */
  warnOnce(object: KubeObject, reason: string, message: string): Promise<void> {
    return this.record(object, { type: 'Warning', reason, message }, false)
  }

  /** Writes an Event. Skips it where it is refused or the namespace is gone, because it concerns only this moment. */
  async record(object: KubeObject, news: News, isCounted = true): Promise<void> {
    const { kind, apiVersion, metadata } = object
    const namespace = metadata.namespace ?? 'default'
    const now = this.now()
    const time = timeText(now)
    const source = JSON.stringify([this.component, this.host, kind, namespace, metadata.name, metadata.uid])
    const alike = `${news.type} ${news.reason}`
    const admitted = correlatorOf(this.clients.tenant).admit(
      source,
      alike,
      news.message.slice(0, LONGEST),
      now.getTime(),
    )
    if (admitted === undefined) return
    const message = admitted.message.slice(0, LONGEST)
    const events = this.clients.resource(EVENTS, namespace)
    const said = [metadata.uid, this.component, this.host, news.type, news.reason, admitted.identity, news.fieldPath]
    const event: KubeObject & Event = {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: `${metadata.name}.${fnv64(JSON.stringify(said))}`, namespace },
      involvedObject: {
        kind,
        apiVersion,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        ...(news.fieldPath === undefined ? {} : { fieldPath: news.fieldPath }),
      },
      reason: news.reason,
      message,
      source: { component: this.component, ...(this.host === undefined ? {} : { host: this.host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      type: news.type,
      reportingComponent: this.component,
      reportingInstance: this.host ?? '',
    }
    const count = () =>
      events.updateWithRetries(named(event.metadata.name!), (known) => {
        known.count = (known.count ?? 1) + 1
        known.message = message
        known.lastTimestamp = time
      })
    const recorded = recordedEvents(this.clients.tenant)
    const key = `${namespace}/${event.metadata.name}`
    // an Event recorded before most likely exists
    if (isCounted && recorded.get(key) === true && (await count().then(isTrue, unlessGone))) return
    try {
      await events.add(event)
      recorded.set(key, true)
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (error.code !== 409 || !isCounted) return
      recorded.set(key, true)
      await count().catch(ignoreRefused)
    }
  }
}

/** The Events recorded lately. */
const recordedEvents = perTenant('forgotten', () => new BoundedMap<string, true>({ entries: 4096 }))

const isTrue = (): boolean => true

/** @returns false where the Event does not exist */
function unlessGone(error: unknown): boolean {
  ignoreRefused(error)
  return !(error instanceof StatusError) || error.code !== 404
}

function ignoreRefused(error: unknown): void {
  if (!isRefusal(error)) throw error
}

/** FNV-1a of 64 bits, in hexadecimal. */
function fnv64(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}
