/**
 * Recordings on disk, a file for each area. Every object stands there once, in a line of its own, however many states
 * have it; a state names its objects by number, `7x3` for three alike.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, State } from './normal-form.ts'

/** The states after each step, by the names of scenarios. */
export type Recordings = Readonly<Record<string, readonly State[]>>

interface Stored {
  readonly objects: readonly Json[]
  readonly scenarios: Readonly<
    Record<string, readonly { readonly objects: readonly string[]; readonly events: readonly string[] }[]>
  >
}

const folder = join(import.meta.dirname, 'recordings')
const fileOf = (area: string): string => join(folder, `${area}.json`)

export function readRecordings(area: string): Recordings {
  const { objects, scenarios } = JSON.parse(readFileSync(fileOf(area), 'utf8')) as Stored
  const objectsOf = (place: string): Json[] => {
    const [number = '', times = '1'] = place.split('x')
    return Array.from({ length: Number(times) }, () => objects[Number(number)] ?? null)
  }
  const states = Object.entries(scenarios).map(
    ([name, steps]) =>
      [name, steps.map((step) => ({ objects: step.objects.flatMap(objectsOf), events: step.events }))] as const,
  )
  return Object.fromEntries(states)
}

export function writeRecordings(area: string, recordings: Recordings): void {
  const numbers = new Map<string, number>()
  const numberOf = (object: Json): number => {
    const text = JSON.stringify(object)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const counted = (objects: readonly Json[]): string[] => {
    const counts = new Map<number, number>()
    for (const object of objects) {
      const number = numberOf(object)
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
    return [...counts].map(([number, count]) => (count === 1 ? String(number) : `${number}x${count}`))
  }
  const scenarios = Object.entries(recordings).map(([name, states]) => {
    const stored = states.map(({ objects, events }) => ({ objects: counted(objects), events }))
    return `  ${JSON.stringify(name)}: ${JSON.stringify(stored)}`
  })
  const objects = [...numbers.keys()].map((text) => `  ${text}`)
  mkdirSync(folder, { recursive: true })
  const text = `{\n "scenarios": {\n${scenarios.join(',\n')}\n },\n "objects": [\n${objects.join(',\n')}\n ]\n}\n`
  writeFileSync(fileOf(area), text)
}
