/** The answer of a port of a simulated pod. */
import type { Container, Pod } from '../../../api/core/v1.ts'
import { statusNamed } from './containers.ts'

/** A client that sends nothing for this many milliseconds is waiting for the server to begin. */
const SILENCE = 1000
/** The most octets of a request's first line; more do not change the decision. */
const LONGEST_BEGINNING = 8192
/** The most octets of its method, with the blank behind it. */
const LONGEST_METHOD = 21

/** The container that declares the port and runs; undefined if no container listens. */
export function listenerOf(pod: Pod, port: number): Container | undefined {
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  return [...containers, ...initContainers].find(
    ({ name = '', ports = [] }) =>
      ports.some(({ containerPort, protocol = 'TCP' }) => containerPort === port && protocol === 'TCP') &&
      statusNamed(pod, name)?.state?.running !== undefined,
  )
}

/** A kubelet's error where no container listens. */
export function refusalOf({ metadata: { name, uid } }: Pod, port: number): string {
  const why = `dial tcp4 127.0.0.1:${port}: connect: connection refused`
  return `error forwarding port ${port} to pod ${name}, uid ${uid}: ${why} (simulated: no container that runs declares this port)`
}

export const textOf = ({ name, image }: Container, port: number): string =>
  `simulated: container ${name} of image ${image} runs no process, nothing listens on port ${port}\n`

/** One connection. It answers once, in HTTP where the client speaks HTTP, and ends. */
export class SimulatedPort {
  private beginning = ''
  private isOver = false
  private readonly silence: ReturnType<typeof setTimeout>

  constructor(
    private readonly container: Container,
    private readonly port: number,
    private readonly answer: (bytes: Uint8Array) => void,
  ) {
    this.silence = setTimeout(() => this.say(this.text), SILENCE)
  }

  data(bytes: Uint8Array): void {
    if (this.isOver) return
    const more = new TextDecoder('latin1').decode(bytes.subarray(0, LONGEST_BEGINNING))
    const isWithinLine = this.beginning.length > LONGEST_METHOD && !this.beginning.endsWith('\r')
    this.beginning += more
    // octets within the line decide nothing, and may come one by one
    if (isWithinLine && this.beginning.length <= LONGEST_BEGINNING && !/[\r\n]/.test(more)) return
    const [line, method] = /^([A-Z]{1,20}) \S{1,8000} HTTP\/1\.[01]\r?\n/.exec(this.beginning) ?? []
    if (line !== undefined) this.say(this.httpAnswer(method === 'HEAD'))
    // waits as long as the bytes may still become the first line of a request
    else if (!/^[A-Z]{1,20}(?: [^\r\n]*\r?)?$/.test(this.beginning) || this.beginning.length > LONGEST_BEGINNING)
      this.say(this.text)
  }

  /** The client sends no more. */
  ended(): void {
    this.say(this.text)
  }

  /** The client has disconnected. */
  stop(): void {
    this.isOver = true
    this.beginning = ''
    clearTimeout(this.silence)
  }

  private get text(): string {
    return textOf(this.container, this.port)
  }

  private httpAnswer(isHead: boolean): string {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${new TextEncoder().encode(this.text).length}\r\nConnection: close\r\n\r\n`
    return isHead ? head : head + this.text
  }

  private say(text: string): void {
    if (this.isOver) return
    this.stop()
    this.answer(new TextEncoder().encode(text))
  }
}
