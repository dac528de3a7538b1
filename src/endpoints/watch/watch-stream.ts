/**
 * The client's end of a watch: formats the events of storage, and ends the connection in time. All
 * timers of a watch run here in the Worker, because a timer in the shard would keep it awake.
 */
import { noteFault } from '../../request/fault.ts'
import type { Place } from '../../base/fair-places.ts'
import { watchShareOf } from '../../flowcontrol/open-watches.ts'
import { largeItems } from '../../base/few-at-once.ts'
import { inPartsAwaiting } from '../../base/parts.ts'
import { LARGE, turnOfOthers } from '../../base/slices.ts'
import { decoratedText } from '../../codec/encode/decorate.ts'
import { Source } from '../../codec/encode/present.ts'
import type { WatchFramer } from '../../codec/encode/watch-framer.ts'
import { expired, resourceVersionTooLarge, StatusError } from '../../api/status.ts'
import { countedAs } from '../../request/user-info.ts'
import { ConversionError } from '../../registry/custom-resources/conversion-webhook.ts'
import { StorageError } from '../../storage/errors.ts'
import type { Watch, WatchBatch, WatchQuery } from '../../storage/storage.ts'
import { asksToRead, convertedTexts } from '../../registry/converted.ts'
import { turnOf } from '../../request/turns.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { statusFor } from '../../storage/storage-status.ts'
import { ClientGone, turnUnlessGone } from '../../base/client-gone.ts'
import type { WatchSink } from './watch-sink.ts'

/** How often a client that asked for bookmarks gets one, and when the last ones come before the end of the watch. */
const BOOKMARK_MS = 60_000
/** How often the shard hears of the watch of a client that asked for none. */
const PING_MS = 30_000
/**
 * A watch that begins with the objects as of a revision waits for that, also beyond its own length: a client is told
 * that the revision does not come.
 */
const LONGEST_WAIT_MS = 10_000
const LAST_BOOKMARKS_MS = [2_000, 1_000]

export interface WatchPlan {
  readonly query: WatchQuery
  /**
   * Existing objects come first, in their present state: the request has no `resourceVersion`, or wants initial
   * events.
   */
  readonly isOfNow: boolean
  readonly bookmarks: boolean
  /** The length of the watch. */
  readonly seconds: number
}

export async function pumpWatch(
  scope: RequestScope,
  framer: WatchFramer,
  sink: WatchSink,
  plan: WatchPlan,
  place: Place,
): Promise<void> {
  let watch: Watch | undefined
  const share = watchShareOf(scope.request, () => sink.abort())
  const timers = new Timers()
  const end = () => {
    timers.clear()
    place.leave()
    share.leave()
    watch?.cancel()
    sink.close()
  }
  place.onEnd = end
  if (plan.seconds < 0) return end()
  const length = plan.seconds * 1000
  const began = scope.request.clock()
  const waits = plan.query.notOlderThan !== undefined
  timers.after(waits ? Math.max(length, LONGEST_WAIT_MS) : length, end)
  sink.onGone(end)
  try {
    const owner = countedAs(scope.request.user)
    watch = await scope.storage.watch(scope.collection, { ...plan.query, owner, share })
    const stream = watch
    if (waits) timers.after(Math.max(began + length - scope.request.clock(), 0), end)
    if (plan.bookmarks) {
      timers.every(BOOKMARK_MS, () => {
        stream.ping()
        place.renew()
      })
      for (const before of LAST_BOOKMARKS_MS) if (length > before) timers.after(length - before, () => stream.ping())
    } else
      timers.every(PING_MS, () => {
        // keeps a quiet watch ahead of compaction, and notices a lost shard
        stream.ping()
        place.renew()
      })
    let show = plan.query.from === undefined && scope.resource.strategy.decorator !== undefined
    let isInitial = plan.isOfNow
    let isStuck = false
    const turn = () => turnOf(scope.request)
    const send = (frame: Uint8Array) => share.sending(sink.send(frame, () => share.taken()))
    for await (const batch of watch.messages) {
      if (isStuck) continue
      try {
        const decorate = show ? (text: string) => decoratedText(scope.resource, text) : undefined
        await forward(framer, sink, await inRequestVersions(scope, batch), plan.bookmarks, { turn, send }, decorate)
      } catch (error) {
        if (!(error instanceof ConversionError)) throw error
        if (isInitial) {
          await sink.send(framer.error(await notYet(scope)))
          break
        }
        // no more events and no bookmarks: the client's next watch then begins before the event that it missed
        isStuck = true
      }
      if (batch.mark?.kind === 'synced') show = isInitial = false
    }
  } catch (error) {
    // the requested version is not reached yet: no events until the stream ends
    if (error instanceof StorageError && error.code === 'FutureRevision' && plan.query.from !== undefined) return
    if (isMistake(error)) noteFault('watch', error, scope.request)
    const status = watchError(scope, error)
    if (status !== undefined) await sink.send(framer.error(status)).catch(() => {})
  }
  end()
}

/** Converts the events of a batch together. */
async function inRequestVersions(scope: RequestScope, batch: WatchBatch): Promise<WatchBatch> {
  if (!asksToRead(scope) || scope.resource.storedAsServed) return batch
  const events = [...batch].filter((message) => message.kind === 'event')
  const given = events.map(({ text }) => text)
  const texts = await convertedTexts(scope, given)
  const converted = events.map((event, at) => ({ ...event, text: texts[at]! }))
  return {
    lines: new Uint8Array(),
    ...(batch.mark === undefined ? {} : { mark: batch.mark }),
    [Symbol.iterator]: () => converted.values(),
  }
}

interface Forwarding {
  /** Resolves when it is the turn of a part of a large event. */
  readonly turn: () => Promise<void>
  /** Resolves when the client has taken the frame. */
  readonly send: (frame: Uint8Array) => Promise<void>
}

/**
 * @param shown the text for clients by stored text, where the two differ
 */
async function forward(
  framer: WatchFramer,
  sink: WatchSink,
  batch: WatchBatch,
  bookmarks: boolean,
  { turn, send }: Forwarding,
  decorate?: (text: string) => string,
): Promise<void> {
  if (framer.passesLines && sink.takesLines && decorate === undefined) {
    if (batch.lines.length > 0) await send(batch.lines)
  } else {
    let length = 0
    for (const message of batch) {
      if (message.kind !== 'event') continue
      const { type, text } = message
      if (length > LARGE) {
        await turnOfOthers()
        length = 0
      }
      const weight = framer.weigh(text.length)
      length += weight
      const source = Source.ofText(decorate?.(text) ?? text)
      const made = () => framer.event(type, source)
      const inItsParts = () => inPartsAwaiting(made, turnUnlessGone(sink.hasGone, turn))
      const sent = weight > LARGE ? await largeItems.run(weight, inItsParts, sink.hasGone) : made()
      source.forget()
      await send(sent)
    }
  }
  const { mark } = batch
  if (mark !== undefined && bookmarks) await send(framer.bookmark(mark.revision, mark.kind === 'synced'))
}

/** Whether the error is the server's mistake: the client is still there, and no Status describes the error. */
const isMistake = (error: unknown): boolean =>
  !(error instanceof ClientGone || error instanceof StatusError || error instanceof StorageError)

/**
 * kube-apiserver's cache of a version stops before an object that the webhook cannot convert, so the answer is that
 * its version is too large.
 */
async function notYet({ storage, collection }: RequestScope): Promise<StatusError> {
  const revision = await storage.revision(collection)
  return resourceVersionTooLarge(revision, revision - 1, 1)
}

/** The ERROR event before the stream ends; undefined where the client only has to watch again. */
function watchError({ resource: { gvr: resource } }: RequestScope, error: unknown): StatusError | undefined {
  // an event that cannot be written in the client's form ends the stream without an ERROR event
  if (!(error instanceof StorageError)) return undefined
  if (error.code === 'Compacted') return expired(`too old resource version: ${error.revision} (${error.current})`)
  if (error.code === 'FutureRevision') return resourceVersionTooLarge(error.revision, error.current, 1)
  if (error.code === 'Overloaded') return undefined
  return statusFor(error, resource, '')
}

class Timers {
  /** Bound: the timers of one watch. */
  private readonly clears: (() => void)[] = []

  after(milliseconds: number, work: () => void): void {
    // a delay that is too long for a timer would fire at once
    const timer = setTimeout(work, Math.min(milliseconds, 2 ** 31 - 1))
    this.clears.push(() => clearTimeout(timer))
  }

  every(milliseconds: number, work: () => void): void {
    const timer = setInterval(work, milliseconds)
    this.clears.push(() => clearInterval(timer))
  }

  clear(): void {
    for (const clear of this.clears.splice(0)) clear()
  }
}
