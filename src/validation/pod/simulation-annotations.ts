/**
 * The annotations of a pod that control its simulation: their names, and Warnings about those that have no effect.
 * Durations are numbers of seconds, or in Go's form: 1m30s.
 */
import type { PodSpec } from '../../api/core/v1.ts'
import type { FieldPath } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'

export const SIMULATION = 'kedge.dev/'

/** Milliseconds; undefined if the text is no duration. */
export function duration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Number(text) * 1000
  const [all, hours = 0, minutes = 0, seconds = 0, millis = 0] =
    /^(?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,3})?)s)?(?:(\d{1,9})ms)?$/.exec(text) ?? []
  if (all === undefined) return undefined
  return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(millis)
}

/** An exit code, at most 255; undefined if the text is none. */
export const exitCode = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,3}$/.test(text) ? Math.min(Number(text), 255) : undefined

/** An amount of a resource; undefined if the text is none. */
export function amount(text: string | undefined): Quantity | undefined {
  const found = text === undefined ? undefined : Quantity.tryParse(text)
  return found === undefined || found.sign < 0 ? undefined : found
}

/** A value that a container may have, and what its text must be. */
interface Form {
  readonly wants: string
  readonly isRight: (text: string) => boolean
}

const time: Form = { wants: 'a duration', isRight: (text) => duration(text) !== undefined }
const code: Form = { wants: 'a number from 0 to 255', isRight: (text) => exitCode(text) !== undefined }
const usage: Form = { wants: 'a quantity', isRight: (text) => amount(text) !== undefined }
const probe: Form = {
  wants: 'fail, succeed or a duration',
  isRight: (text) => text === 'fail' || text === 'succeed' || duration(text) !== undefined,
}
const oneOf = (...texts: readonly string[]): Form => ({
  wants: texts.join(' or '),
  isRight: (text) => texts.includes(text), // two
})

const ofPods: Readonly<Record<string, Form>> = { 'start-delay': time, 'stop-delay': time }
/** For all containers, or with a dot and a name for one. */
const ofContainers: Readonly<Record<string, Form>> = {
  'exec-exit-code': code,
  'exit-code': code,
  'image-pull': oneOf('fail', 'succeed'),
  'liveness-probe': probe,
  log: { wants: 'a text', isRight: () => true },
  'readiness-probe': probe,
  ready: oneOf('true', 'false'),
  'ready-delay': time,
  duration: time,
  'startup-probe': probe,
  'usage-cpu': usage,
  'usage-memory': usage,
}

export const simulationNames: readonly string[] = [...Object.keys(ofPods), ...Object.keys(ofContainers)]

/** Tells of annotations of the simulation that no container heeds. */
export function simulationWarnings(
  at: FieldPath,
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
): string[] {
  return Object.entries(annotations).flatMap(([key, value]) => {
    const problem = key.startsWith(SIMULATION) ? problemOf(key.slice(SIMULATION.length), value, spec) : undefined
    return problem === undefined ? [] : [`${at.key(key).toString()}: has no effect: ${problem}`]
  })
}

function problemOf(key: string, value: string, spec: PodSpec): string | undefined {
  const dot = key.indexOf('.')
  const [name, container] = dot < 0 ? [key, undefined] : [key.slice(0, dot), key.slice(dot + 1)]
  const form = ownValue(ofContainers, name) ?? (container === undefined ? ownValue(ofPods, name) : undefined)
  if (form === undefined)
    return ownValue(ofPods, name) === undefined
      ? 'simulated nodes know no annotation of this name'
      : 'it is for the whole pod'
  if (!form.isRight(value)) return `simulated nodes want ${form.wants}`
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  // few: the containers of one pod
  const isThere = [...containers, ...initContainers, ...ephemeralContainers].some((one) => one.name === container)
  return container === undefined || isThere ? undefined : 'the pod has no container of this name'
}
