/**
 * The feature gates of kube-apiserver 1.36, and the setting that changes them, which has the syntax of --feature-gates.
 * As in kube-apiserver, gates of components that Kedge does not have (kubelet, scheduler) are accepted without an
 * effect: gates-without-effect.ts lists them.
 */
import { lazy } from '../base/lazy.ts'
import { ownValue } from '../base/own.ts'
import table from './feature-gates-table.json' with { type: 'json' }
import rules from './feature-gate-rules-table.json' with { type: 'json' }

export type FeatureStage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED'

export interface FeatureGate {
  readonly name: string
  readonly stage: FeatureStage
  readonly enabled: boolean
}

export interface FeatureGates {
  /** Whether a gate is on. An unknown name is a mistake in our code, so it throws. */
  readonly enabled: (gate: string) => boolean
  /** All gates, sorted by name. */
  readonly all: readonly FeatureGate[]
}

const stages: Readonly<Record<string, FeatureStage>> = { A: 'ALPHA', B: 'BETA', G: 'GA', D: 'DEPRECATED' }

/** The gates of our generated table. Each has a stage letter, then + or -. */
const defaults = lazy(
  (): ReadonlyMap<string, FeatureGate> =>
    new Map(
      Object.entries(table).map(([name, code]) => [
        name,
        { name, stage: ownValue(stages, code[0]!)!, enabled: code[1] === '+' },
      ]),
    ),
)

const lockedGates = lazy(() => new Set(rules.locked))

/**
 * Parses `Gate=true,Other=false`. AllAlpha and AllBeta change every gate of their stage that the setting does not name.
 * @throws Error with kube-apiserver's message for an unknown gate, a value that is no boolean, a locked gate, or one that
 *   needs a gate that is off
 */
export function parseFeatureGates(setting: string | undefined): FeatureGates {
  const wanted = new Map<string, boolean>()
  const wrong: string[] = []
  for (const [name, text] of assignments(setting)) {
    const gate = defaults().get(name)
    if (gate === undefined) throw new Error(`unrecognized feature gate: ${name}`)
    const value = parseBoolean(text)
    if (value === undefined)
      throw new Error(`invalid value of ${name}=${text}, err: strconv.ParseBool: parsing "${text}": invalid syntax`)
    if (value !== gate.enabled && lockedGates().has(name))
      wrong.push(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.enabled}`)
    wanted.set(name, value)
  }
  refuse(wrong)
  const states =
    wanted.size === 0
      ? defaults()
      : new Map([...defaults()].map(([name, gate]) => [name, { ...gate, enabled: stateOf(gate, wanted) }]))
  refuse(unmetNeeds(states))
  return {
    all: [...states.values()],
    enabled: (name) => {
      const gate = states.get(name)
      if (gate === undefined) throw new Error(`assertion failed: ${name} is no feature gate`)
      return gate.enabled
    },
  }
}

/** Gates that are on although one is off without which they cannot be. */
function unmetNeeds(states: ReadonlyMap<string, FeatureGate>): string[] {
  return Object.entries(rules.needs).flatMap(([name, needs]) => {
    const off = states.get(name)?.enabled ? needs.filter((needed) => !states.get(needed)?.enabled) : []
    return off.length === 0 ? [] : [`${name} is enabled, but depends on features that are disabled: [${off.join(' ')}]`]
  })
}

/** Several problems are one text, as Go's aggregate of errors. */
function refuse(wrong: readonly string[]): void {
  if (wrong.length > 0) throw new Error(wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`)
}

function stateOf(gate: FeatureGate, wanted: ReadonlyMap<string, boolean>): boolean {
  const named = wanted.get(gate.name)
  if (named !== undefined) return named
  const ofStage =
    gate.stage === 'ALPHA' ? wanted.get('AllAlpha') : gate.stage === 'BETA' ? wanted.get('AllBeta') : undefined
  return ofStage ?? gate.enabled
}

/** The pairs of `a=1, b=2`. A name without `=` has an empty value. In a Map the last pair of a name wins. */
export function assignments(setting: string | undefined): readonly (readonly [name: string, value: string])[] {
  return (setting ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? ([part, ''] as const) : ([part.slice(0, at).trim(), part.slice(at + 1).trim()] as const)
    })
}

/** Go's strconv.ParseBool. Undefined: the text is no boolean. */
export function parseBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false
  return undefined
}
