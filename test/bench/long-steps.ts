// Finds what the longest steps of this thread did, with V8's sampling profiler.
import { Session } from 'node:inspector/promises'
import type { Profiler } from 'node:inspector'

/** In microseconds. */
const INTERVAL = 250
const SHOWN_STEPS = 5
const SHOWN_STACKS = 3

interface Step {
  /** Microseconds of the monotonic clock. */
  readonly from: number
  readonly to: number
  /** Microseconds of CPU. */
  readonly used: number
}

export class LongSteps {
  private readonly session = new Session()
  private readonly steps: Step[] = []

  static async start(): Promise<LongSteps> {
    const profiler = new LongSteps()
    profiler.session.connect()
    await profiler.session.post('Profiler.enable')
    await profiler.session.post('Profiler.setSamplingInterval', { interval: INTERVAL })
    await profiler.session.post('Profiler.start')
    return profiler
  }

  note(from: number, to: number, used: number): void {
    this.steps.push({ from, to, used })
  }

  async stop(): Promise<string> {
    const { profile } = await this.session.post('Profiler.stop')
    this.session.disconnect()
    const longest = this.steps.toSorted((a, b) => b.used - a.used).slice(0, SHOWN_STEPS)
    return longest.map((step) => describe(profile, step)).join('\n')
  }
}

function describe(
  { nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile,
  { from, to, used }: Step,
): string {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const counts = new Map<string, number>()
  let at = startTime
  samples.forEach((sample, index) => {
    at += timeDeltas[index] ?? 0
    if (at < from || at > to) return
    const names: string[] = []
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const { functionName, lineNumber } = byId.get(id)!.callFrame
      names.push(`${functionName || 'a function'}:${lineNumber}`)
    }
    const stack = names.slice(0, 12).join(' < ')
    counts.set(stack, (counts.get(stack) ?? 0) + 1)
  })
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, SHOWN_STACKS)
  return [`  ${(used / 1000).toFixed(1)} ms`, ...most.map(([stack, count]) => `    ${count}: ${stack}`)].join('\n')
}
