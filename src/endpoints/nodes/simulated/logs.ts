/** /containerLogs: the log of a simulated container. */
import type { ContainerState, ContainerStatus, Pod } from '../../../api/core/v1.ts'
import { goQuote } from '../../../go/quote.ts'
import { Script } from '../../../controllers/simulation/annotations.ts'
import type { ExchangeAnswer } from '../../../outgoing/exchange.ts'
import { containerNamed, statusNamed } from './containers.ts'
import { followPod } from './follow-pod.ts'
import type { Asked } from './kubelet.ts'
import { answer } from './plain-answer.ts'

/** The longest timer in milliseconds; a follower disconnects before. */
const LONGEST_TIMER = 2 ** 31 - 1

interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly text: string
}

export function containerLogs({ request, query, pod, container }: Asked): ExchangeAnswer {
  const status = statusNamed(pod, container)
  const previous = query.get('previous') === 'true'
  const run = runOf(status, previous)
  if (run === undefined) return answer(400, whyNoLogs(pod, container, status, previous))
  const now = request.now.getTime()
  // simulated containers write to their standard output
  const asked = (lines: readonly LogLine[]): readonly LogLine[] => (query.get('stream') === 'Stderr' ? [] : lines)
  const all = asked(linesOf(pod, container, run))
  const lines = all.filter(({ at }) => at <= now || run.terminated !== undefined)
  const shown = selected(lines, query, now)
  const showsTime = query.get('timestamps') === 'true'
  const limit = Number(query.get('limitBytes') ?? Number.POSITIVE_INFINITY)
  const text = new TextEncoder().encode(shown.map((line) => textOf(line, showsTime)).join(''))
  const beginning = text.subarray(0, Math.min(limit, text.length))
  const goesOn = query.get('follow') === 'true' && run.running !== undefined && beginning.length < limit
  const headers = [['Content-Type', 'text/plain']] as const
  if (!goesOn) return { status: 200, headers, body: new Blob([beginning]).stream() }
  const rest = async (send: (data: Uint8Array) => void): Promise<void> => {
    let [told, left] = [lines.length, limit - beginning.length]
    const tell = (more: readonly LogLine[]): void => {
      const bytes = new TextEncoder().encode(more.map((line) => textOf(line, showsTime)).join(''))
      told += more.length
      send(bytes.subarray(0, Math.min(left, bytes.length)))
      left = Math.max(0, left - bytes.length)
    }
    // one at a time: thousands may follow a pod that prints hundreds of lines
    let timer: ReturnType<typeof setTimeout> | undefined
    const wait = (since: number): void => {
      const line = all[told]
      if (line === undefined) return
      const next = (): void => {
        tell([line])
        wait(line.at)
      }
      timer = setTimeout(next, Math.min(line.at - since, LONGEST_TIMER))
    }
    wait(now)
    const ended = await followed.ended
    if (timer !== undefined) clearTimeout(timer)
    if (ended === undefined) return
    tell(asked(linesOf(ended, container, runOf(statusNamed(ended, container), false) ?? {})).slice(told))
  }
  const followed = followPod(request, pod, (now) => statusNamed(now, container)?.state?.running === undefined)
  return { status: 200, headers, body: streamOf(beginning, rest, followed.stop) }
}

function streamOf(
  beginning: Uint8Array,
  rest: (send: (data: Uint8Array) => void) => Promise<void>,
  stop: () => void,
): ReadableStream<Uint8Array> {
  let isGone = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (beginning.length > 0) controller.enqueue(beginning)
      const end = (): void => {
        if (!isGone) controller.close()
      }
      void rest((data) => {
        if (!isGone && data.length > 0) controller.enqueue(data)
      }).then(end, end)
    },
    cancel() {
      isGone = true
      stop()
    },
  })
}

/** The run whose logs are shown: the current one, or the one before. */
function runOf(status: ContainerStatus | undefined, previous: boolean): ContainerState | undefined {
  const last = status?.lastState?.terminated
  if (previous) return last?.containerID ? { terminated: last } : undefined
  const { running, terminated } = status?.state ?? {}
  if (running !== undefined) return { running }
  const ended = terminated?.containerID ? terminated : last
  return ended?.containerID ? { terminated: ended } : undefined
}

/** A kubelet's error for a container without logs. */
function whyNoLogs(pod: Pod, container: string, status: ContainerStatus | undefined, previous: boolean): string {
  const [of, inPod] = [`container ${goQuote(container)}`, `in pod ${goQuote(pod.metadata.name ?? '')}`]
  if (status === undefined) return `${of} ${inPod} is not available`
  if (previous) return `previous terminated ${of} ${inPod} not found`
  if (status.state?.terminated !== undefined || status.lastState?.terminated !== undefined)
    return `${of} ${inPod} is terminated`
  const reason = status.state?.waiting?.reason
  if (status.state?.waiting === undefined) return `${of} ${inPod} is waiting to start - no logs yet`
  const why =
    reason === 'ErrImagePull'
      ? `image can't be pulled`
      : reason === 'ImagePullBackOff'
        ? 'trying and failing to pull image'
        : (reason ?? '')
  return `${of} ${inPod} is waiting to start: ${why}`
}

/** The first line of every output of a container. */
export function firstLine(pod: Pod, name: string): string {
  const image = containerNamed(pod, name)?.image ?? ''
  return `simulated: container ${name} of image ${image} runs no process, this is no output of it`
}

/** The lines of a command that is simulated. For others the first line says that nothing ran. */
function linesOf(pod: Pod, name: string, { running, terminated }: ContainerState): LogLine[] {
  const at = Date.parse(running?.startedAt ?? terminated?.startedAt ?? '') || 0
  const printed = new Script(pod).printedBy(name)?.map(({ after, line }) => ({ at: at + after, text: line }))
  const end = terminated === undefined ? Infinity : Date.parse(terminated.finishedAt ?? '') || Infinity
  if (printed !== undefined) return printed.filter((line) => line.at <= end)
  const written = new Script(pod).logOf(name)
  const lines = [firstLine(pod, name), ...written].map((text) => ({ at, text }))
  if (terminated === undefined) return lines
  const last = `simulated: container ${name} ended with exit code ${terminated.exitCode}`
  return [...lines, { at: Date.parse(terminated.finishedAt ?? '') || at, text: last }]
}

function selected(lines: readonly LogLine[], query: URLSearchParams, now: number): readonly LogLine[] {
  const sinceSeconds = query.get('sinceSeconds')
  const sinceTime = query.get('sinceTime')
  // a container's times have whole seconds
  const since = sinceSeconds !== null ? now - Number(sinceSeconds) * 1000 : Date.parse(sinceTime ?? '') || 0
  const recent = lines.filter(({ at }) => at >= Math.floor(since / 1000) * 1000)
  const tail = query.get('tailLines')
  return tail === null || Number(tail) >= recent.length ? recent : recent.slice(recent.length - Number(tail))
}

const textOf = ({ at, text }: LogLine, showsTime: boolean): string =>
  `${showsTime ? `${new Date(at).toISOString().slice(0, -1)}000000Z ` : ''}${text}\n`
