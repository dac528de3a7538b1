/**
 * An isolate's copies of documents of the servers behind APIServices (discovery, OpenAPI). A request waits a little
 * for a server that was never asked. A known server is asked again after a while, and nobody waits for its answer. A
 * slow or unavailable server does not delay the documents of others: its last document is shown as stale.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { isRecent } from '../../base/clock.ts'
import { parsingPlainJson } from '../../json/parse-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { settledByOthers } from '../../base/settled-by-others.ts'
import { LARGE, inTurns } from '../../base/slices.ts'
import { logError } from '../../log/log.ts'
import { AGGREGATOR, askApiService, isAvailable, placeOfApiService } from '../../outgoing/api-service.ts'
import type { WholeAnswer } from '../../outgoing/bounded-answer.ts'
import { AnswerTooLong, wholeAnswer } from '../../outgoing/bounded-answer.ts'
import { API_SERVICES, isRemote } from '../../registry/served/remote-groups.ts'
import type { ServicePlace } from '../../outgoing/service-place.ts'
import type { ApiRequest } from '../../request/context.ts'
import type { Tenant } from '../../storage/tenant.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { parsedWithRoom } from '../../webhooks/answer-room.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { documentRoomOf } from './document-room.ts'

export type RemoteService = KubeObject & APIService

/**
 * Milliseconds: how long an answer is valid, and how long a failure; how long a server may take; how long a request
 * waits.
 */
const FRESH = 30_000
const FAILED = 5_000
const ANSWER_MS = 5_000
const PATIENCE = 1_000

/** Milliseconds after which a question in two forms counts as lost, with the request that asked it. */
const LOST_AFTER = 3 * ANSWER_MS

/** A question that a request has asked, for all that need the answer. */
interface Asking {
  readonly spec: string
  readonly since: number
  /** Settles: with the answer, or never where the engine dropped the request that asked. All wait PATIENCE at most. */
  readonly done: Promise<void>
}

/** What an answer says, and its characters. */
interface Found<T> {
  readonly value: T
  readonly length: number
}

interface Kept<T> {
  readonly spec: string
  readonly value: T | undefined
  readonly isCurrent: boolean
  readonly wasAvailable: boolean
  readonly asked: number
  readonly size: number
}

export interface Known<T> {
  readonly service: RemoteService
  /** Undefined where no document is known. */
  readonly value: T | undefined
  /** The last call of the server succeeded. */
  readonly isCurrent: boolean
}

const lists = new WeakMap<readonly RemoteService[], readonly RemoteService[]>()

export async function remoteServices(request: ApiRequest): Promise<readonly RemoteService[]> {
  const all = (await controlSnapshot(request)).list<RemoteService>(API_SERVICES)
  let remote = lists.get(all)
  if (remote === undefined) lists.set(all, (remote = all.filter(isRemote)))
  return remote
}

/** One form of a question. */
interface Form<T> {
  readonly path: (service: RemoteService) => string
  readonly accept: string
  /** @throws CallFailed where the answer cannot be used */
  read(answer: WholeAnswer, service: RemoteService): T | Promise<T>
}

export interface Question<T> extends Form<T> {
  readonly maxBytes: number
  /** The most characters of all answers whose documents are kept. A document that is kept parsed takes many times its text. */
  readonly mostKept: number
  /** How many of them a document stands for. Absent: all of its answer. */
  readonly sizeOf?: (value: T) => number
  /** Whether a server is asked whose APIService is not available. No request waits for it. */
  readonly asksUnavailable?: boolean
  /** A form to ask in before. Undefined means that the server does not know it. */
  readonly before?: Form<T | undefined>
}

export class RemoteDocuments<T> {
  /** By control plane and UID, because restoring a backup gives another control plane the same UIDs. */
  private readonly kept: BoundedMap<string, Kept<T>>

  /** By the keys of `kept`. Each service is asked once at a time, however many requests need its document. */
  private readonly asking = new BoundedMap<string, Asking>({ entries: 500 })

  constructor(private readonly question: Question<T>) {
    this.kept = new BoundedMap({ entries: 500, size: question.mostKept, sizeOf: (_, { size }) => size })
  }

  /** @param services the services to ask; absent: all */
  async known(request: ApiRequest, services?: readonly RemoteService[]): Promise<Known<T>[]> {
    services ??= await remoteServices(request)
    const missing: Promise<void>[] = []
    for (const service of services) {
      const available = isAvailable(service)
      const kept = this.keptOf(request.tenant, service)
      const isKnown = kept?.wasAvailable === available && isFresh(kept, request.clock())
      if (isKnown || (!available && this.question.asksUnavailable !== true)) continue
      const asked = this.askOnce(request, service)
      const hasBeenAsked = kept !== undefined && (kept.wasAvailable || kept.value !== undefined)
      if (available && !hasBeenAsked) missing.push(asked)
    }
    if (missing.length > 0) await inTime(Promise.all(missing))
    return services.map((service) => {
      const kept = this.keptOf(request.tenant, service)
      // a server that has become unavailable since has to answer again
      const isCurrent = kept?.isCurrent === true && (isAvailable(service) || !kept.wasAvailable)
      return { service, value: kept?.value, isCurrent }
    })
  }

  private keptOf(tenant: Tenant, service: RemoteService): Kept<T> | undefined {
    const kept = this.kept.get(keyOf(tenant, service))
    return kept?.spec === JSON.stringify(service.spec) ? kept : undefined
  }

  /** Settles when the service has answered the request that asked it. */
  private askOnce(request: ApiRequest, service: RemoteService): Promise<void> {
    const key = keyOf(request.tenant, service)
    const spec = JSON.stringify(service.spec)
    const since = request.clock()
    const before = this.asking.get(key)
    if (before?.spec === spec && isRecent(before.since, since, LOST_AFTER)) return before.done
    const { promise: done, resolve } = settledByOthers<void>()
    this.asking.set(key, { spec, since, done })
    const asked = this.ask(request, service).finally(() => {
      if (this.asking.get(key)?.done === done) this.asking.delete(key)
      resolve()
    })
    request.waitUntil(asked)
    return done
  }

  private async ask(request: ApiRequest, service: RemoteService): Promise<void> {
    const asked = request.clock()
    const spec = JSON.stringify(service.spec)
    const wasAvailable = isAvailable(service)
    const keep = (value: T | undefined, isCurrent: boolean, size: number) =>
      this.kept.set(keyOf(request.tenant, service), { spec, value, isCurrent, wasAvailable, asked, size })
    try {
      const place = await placeOfApiService(request, service)
      const { before, sizeOf } = this.question
      const found = before === undefined ? undefined : await this.unlessTooLong(request, service, place, before)
      const { value, length } = found ?? (await this.answered(request, service, place, this.question))
      keep(value, true, sizeOf?.(value) ?? length)
    } catch (error) {
      if (!(error instanceof CallFailed)) logError(`documents of ${service.metadata.name}: ${String(error)}`)
      const old = this.keptOf(request.tenant, service)
      keep(old?.value, false, old?.size ?? 0)
    }
  }

  private async unlessTooLong(
    request: ApiRequest,
    service: RemoteService,
    place: ServicePlace,
    form: Form<T | undefined>,
  ): Promise<Found<T> | undefined> {
    try {
      const { value, length } = await this.answered(request, service, place, form)
      return value === undefined ? undefined : { value, length }
    } catch (error) {
      if (error instanceof AnswerTooLong) return undefined
      throw error
    }
  }

  private async answered<V>(
    request: ApiRequest,
    service: RemoteService,
    place: ServicePlace,
    { path, accept, read }: Form<V>,
  ): Promise<Found<V>> {
    const { maxBytes } = this.question
    // later requests use the answer too, so the call does not end with this client
    const plane = { env: request.env, tenant: request.tenant }
    let leave = (): void => {}
    try {
      const answer = await askApiService(plane, service, place, {
        method: 'GET',
        target: path(service),
        headers: [['Accept', accept]],
        user: AGGREGATOR,
        timeoutMs: ANSWER_MS,
      })
      const take = async (): Promise<void> => {
        leave = await documentRoomOf(request.tenant).take(maxBytes)
      }
      const whole = await wholeAnswer(answer, maxBytes, take)
      const { length } = whole.text
      const parse = async (): Promise<V> => read(whole, service)
      return { value: await (length > LARGE ? parsedWithRoom(length, parse) : parse()), length }
    } finally {
      leave()
    }
  }
}

const keyOf = ({ uid }: Tenant, { metadata }: RemoteService): string => JSON.stringify([uid, metadata.uid])

const isFresh = ({ asked, isCurrent }: Kept<unknown>, now: number): boolean =>
  isRecent(asked, now, isCurrent ? FRESH : FAILED)

/** @returns when the work is done, or PATIENCE is over */
async function inTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, PATIENCE)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}

/** Schemas have a few dozen levels. The limit protects the recursive code that walks them. */
const MAX_DEPTH = 500

/**
 * The most values of a document. A parsed value takes some ten times the three characters that it may have. Kubernetes'
 * own OpenAPI v2 has an eighth of these values.
 */
const MOST_VALUES = 600_000

/** Each value but the first one comes behind one of these, which may also be in a text. */
const BEFORE_VALUE = new Set([...'[,{'].map((char) => char.charCodeAt(0)))

function hasManyValues(text: string): boolean {
  if (text.length <= MOST_VALUES) return false
  let count = 0
  for (let at = 0; at < text.length; at++)
    if (BEFORE_VALUE.has(text.charCodeAt(at)) && ++count > MOST_VALUES) return true
  return false
}

/** @throws CallFailed where the answer is no JSON, or has too many values */
export async function okJson({ status, text }: WholeAnswer): Promise<unknown> {
  if (status !== 200) throw new CallFailed(`the answer has status ${status}`)
  if (hasManyValues(text)) throw new CallFailed(`the answer has more than ${MOST_VALUES} values`)
  try {
    return await inTurns(parsingPlainJson(text, MAX_DEPTH))
  } catch (error) {
    throw new CallFailed(String(error))
  }
}
