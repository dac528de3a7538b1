// Clients that watch and count events.
import { open, pause } from './load.ts'
import type { Target } from './load.ts'

export interface Watchers {
  /** The number of events that all watchers received. */
  events(): number
  /** Called for each event. */
  onEvent: () => void
  /** Waits until this many events came since the watches opened; gives up after a while. */
  until(events: number): Promise<void>
  close(): void
}

const PATIENCE_MS = 60_000
/** Concurrent TLS handshakes. */
const OPENING = 50

export async function openWatchers(target: Target, path: string, count: number): Promise<Watchers> {
  let events = 0
  const watchers: Watchers = {
    events: () => events,
    onEvent: () => {},
    async until(wanted) {
      for (const end = performance.now() + PATIENCE_MS; events < wanted && performance.now() < end;) await pause(1)
    },
    close: () => responses.forEach((response) => response.destroy()),
  }
  const watch = async () => {
    const response = await open(target, { method: 'GET', path })
    // an event ends with a brace and a newline
    let last = 0
    response.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) {
        if ((at === 0 ? last : chunk[at - 1]) !== BRACE) continue
        events++
        watchers.onEvent()
      }
      last = chunk.at(-1) ?? last
    })
    response.on('error', () => {})
    return response
  }
  const responses = await watch().then((first) => [first])
  while (responses.length < count)
    responses.push(...(await Promise.all(Array.from({ length: Math.min(OPENING, count - responses.length) }, watch))))
  return watchers
}

const NEWLINE = 10
const BRACE = 125
