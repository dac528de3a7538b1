/**
 * /exec and /attach over a WebSocket, in each of the kubelet's sub-protocols and in v5.channel.k8s.io (KEP-4006). Each
 * message begins with its channel (channels.ts).
 */
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import { Script } from '../../../controllers/simulation/annotations.ts'
import { goQuote } from '../../../go/quote.ts'
import { codecOf } from './channels.ts'
import { statusNamed } from './containers.ts'
import { followPod } from './follow-pod.ts'
import type { Asked } from './kubelet.ts'
import { firstLine } from './logs.ts'
import { answer } from './plain-answer.ts'
import { acceptSocket } from './socket.ts'

const [STDOUT, STDERR, ERROR] = [1, 2, 3]
const V5 = 'v5.channel.k8s.io'
const WITH_STATUS = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io']
/** Before version 4 of the protocol a failure is sent as text, and success as nothing. */
const WITH_TEXT = ['', 'channel.k8s.io', 'base64.channel.k8s.io']
const PROTOCOLS: ReadonlySet<string> = new Set([...WITH_TEXT, ...WITH_STATUS])

/** Prints the command, and ends with the exit code of the annotation. */
export function exec(asked: Asked): ExchangeAnswer | Upgraded {
  const { query, pod, container } = asked
  return streamed(asked, (session) => {
    const command = query.getAll('command').join(' ')
    session.say(`simulated: container ${container} runs no process, this is no output of: ${command}\n`)
    session.end(new Script(pod).execExitCode(container))
  })
}

/** Sends the logs until the container ends or the client disconnects. */
export function attach(asked: Asked): ExchangeAnswer | Upgraded {
  const { request, pod, container } = asked
  return streamed(asked, (session) => {
    session.say(`${firstLine(pod, container)}\n`)
    const followed = followPod(request, pod, (now) => statusNamed(now, container)?.state?.running === undefined)
    session.onGone(() => followed.stop())
    const over = (): void => session.end(0)
    void followed.ended.then(over, over)
  })
}

function streamed({ call, query, pod, container }: Asked, run: (session: Session) => void): ExchangeAnswer | Upgraded {
  const streams = streamsOf(query)
  if (!streams.stdin && !streams.stdout && !streams.stderr)
    return answer(400, 'you must specify at least 1 of stdin, stdout, stderr')
  // a kubelet's answer
  if (statusNamed(pod, container)?.state?.running === undefined)
    return answer(500, `container not found (${goQuote(container)})`)
  const accepted = acceptSocket(call, PROTOCOLS, V5)
  if ('refused' in accepted) return accepted.refused
  run(new Session(accepted.socket, accepted.protocol, streams))
  return accepted.answer
}

interface Streams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** With a terminal there is one output stream. */
function streamsOf(query: URLSearchParams): Streams {
  const is = (name: string): boolean => query.get(name) === '1'
  return { stdin: is('input'), stdout: is('output'), stderr: is('error') && !is('tty'), tty: is('tty') }
}

class Session {
  private readonly codec: ReturnType<typeof codecOf>

  constructor(
    private readonly socket: WebSocket,
    private readonly protocol: string,
    private readonly streams: Streams,
  ) {
    this.codec = codecOf(protocol)
    // an empty message tells the client that the connection stands
    this.send(streams.stdout ? STDOUT : streams.stderr ? STDERR : ERROR, '')
  }

  say(text: string): void {
    const { stdout, stderr, tty } = this.streams
    // terminals need CR LF
    const shown = tty ? text.replaceAll('\n', '\r\n') : text
    if (stdout) this.send(STDOUT, shown)
    else if (stderr) this.send(STDERR, shown)
  }

  end(exitCode: number): void {
    const message = `command terminated with non-zero exit code: exit status ${exitCode}`
    const failure = {
      metadata: {},
      status: 'Failure',
      message,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
    }
    // few: the sub-protocols
    if (!WITH_TEXT.includes(this.protocol))
      this.send(ERROR, JSON.stringify(exitCode === 0 ? { metadata: {}, status: 'Success' } : failure))
    else if (exitCode !== 0) this.send(ERROR, message)
    try {
      this.socket.close(1000)
    } catch {
      // the client has gone
    }
  }

  onGone(work: () => void): void {
    this.socket.addEventListener('close', work)
    this.socket.addEventListener('error', work)
  }

  private send(channel: number, text: string): void {
    try {
      this.socket.send(this.codec.written(channel, new TextEncoder().encode(text)))
    } catch {
      // the client has gone
    }
  }
}
