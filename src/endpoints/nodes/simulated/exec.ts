/** /exec and /attach over a WebSocket (v4 and v5.channel.k8s.io, KEP-4006): each message begins with its channel. */
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import { Script } from '../../../controllers/simulation/annotations.ts'
import { goQuote } from '../../../go/quote.ts'
import { statusNamed } from './containers.ts'
import { followPod } from './follow-pod.ts'
import type { Asked } from './kubelet.ts'
import { firstLine } from './logs.ts'
import { answer } from './plain-answer.ts'
import { acceptSocket } from './socket.ts'

const [STDOUT, STDERR, ERROR] = [1, 2, 3]
const PROTOCOLS: ReadonlySet<string> = new Set(['v5.channel.k8s.io', 'v4.channel.k8s.io'])

/** Says what it was asked to run, and ends with the exit code of the annotation. */
export function exec(asked: Asked): ExchangeAnswer | Upgraded {
  const { query, pod, container } = asked
  return streamed(asked, (socket) => {
    const command = query.getAll('command').join(' ')
    const text = `simulated: container ${container} runs no process, this is no output of: ${command}\n`
    say(socket, query, text)
    end(socket, new Script(pod).execExitCode(container))
  })
}

/** Says what the logs say, until the container ends or the client goes. */
export function attach(asked: Asked): ExchangeAnswer | Upgraded {
  const { request, query, pod, container } = asked
  return streamed(asked, (socket) => {
    say(socket, query, `${firstLine(pod, container)}\n`)
    const followed = followPod(request, pod, (now) => statusNamed(now, container)?.state?.running === undefined)
    socket.addEventListener('close', () => followed.stop())
    socket.addEventListener('error', () => followed.stop())
    const over = (): void => end(socket, 0)
    void followed.ended.then(over, over)
  })
}

function streamed({ call, pod, container }: Asked, run: (socket: WebSocket) => void): ExchangeAnswer | Upgraded {
  // as a kubelet says it
  if (statusNamed(pod, container)?.state?.running === undefined)
    return answer(500, `container not found (${goQuote(container)})`)
  const accepted = acceptSocket(call, PROTOCOLS)
  if ('refused' in accepted) return accepted.refused
  run(accepted.socket)
  return accepted.answer
}

function message(channel: number, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  const whole = new Uint8Array(bytes.length + 1)
  whole[0] = channel
  whole.set(bytes, 1)
  return whole
}

function say(socket: WebSocket, query: URLSearchParams, text: string): void {
  // a terminal has no other line end
  const shown = query.get('tty') === '1' ? text.replaceAll('\n', '\r\n') : text
  if (query.get('output') === '1') socket.send(message(STDOUT, shown))
  else if (query.get('error') === '1') socket.send(message(STDERR, shown))
}

/** How it ended, as a Status. */
function end(socket: WebSocket, exitCode: number): void {
  const status =
    exitCode === 0
      ? { metadata: {}, status: 'Success' }
      : {
          metadata: {},
          status: 'Failure',
          message: `command terminated with non-zero exit code: exit status ${exitCode}`,
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
        }
  try {
    socket.send(message(ERROR, JSON.stringify(status)))
    socket.close(1000)
  } catch {
    // the client has gone
  }
}
