/**
 * Stages of KWOK (kwok.x-k8s.io/v1alpha1 Stage), as far as simulated nodes support them: selectors, delays and steps. A
 * client that writes an unsupported Stage gets a warning with the reason.
 */
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import type { Budget } from '../../base/budget.ts'
import { ownValue } from '../../base/own.ts'
import { builtIns } from '../../go/template/functions.ts'
import type { Node as Template } from '../../go/template/parse.ts'
import { parseTemplate } from '../../go/template/parse.ts'
import { TemplateError } from '../../go/template/tokens.ts'
import type { Query } from './stage-query.ts'
import { QueryError, parseQuery } from './stage-query.ts'

/** Functions that templates may call besides those of Go templates. */
export const KWOK_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['Quote', 'Now', 'StartTime', 'YAML', 'Version', 'NodeConditions', 'NodeIP', 'NodeName', 'NodePort'],
  ...['NodeIPWith', 'PodIP', 'PodIPWith', 'NodeIPs', 'NodeIPsWith', 'PodIPs', 'PodIPsWith'],
])
const functions = { has: (name: string): boolean => KWOK_FUNCTIONS.has(name) || builtIns.has(name) }

export interface Stage {
  readonly name: string
  matches(pod: Json, budget: Budget): boolean
  /** Undefined if the result of the expression is no number. */
  weight(pod: Json, budget: Budget): number | undefined
  /** The bounds of the delay in milliseconds. @param since when the pod last changed: milliseconds since 1970 */
  delay(pod: Json, since: number, budget: Budget): readonly [least: number, most: number]
  readonly steps: readonly StageStep[]
}

export interface StageStep {
  readonly event?: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  readonly finalizers?: FinalizerChange
  readonly deletes?: true
  readonly patch?: StagePatch
}

export interface FinalizerChange {
  readonly add: readonly string[]
  readonly remove: readonly string[]
  readonly isEmptied: boolean
}

export interface StagePatch {
  readonly type: 'json' | 'merge' | 'strategic'
  readonly subresource: '' | 'status'
  /** The member whose value the template renders; '' if the template renders the whole patch. */
  readonly root: string
  readonly template: readonly Template[]
}

/** Bytes. No Stage that a person writes is larger. */
const LARGEST = 65_536
const MOST_STEPS = 32
const LONGEST_DELAY = 7 * 24 * 3_600_000

/** Reads a Stage, or returns the reasons why it is unsupported: `spec.selector.matchExpressions[0].key: …`. */
export function readStage(object: KubeObject): { readonly stage: Stage } | { readonly problems: readonly string[] } {
  const reader = new StageReader()
  const stage = reader.read(object)
  return reader.problems.length > 0 ? { problems: reader.problems } : { stage }
}

class StageReader {
  readonly problems: string[] = []

  read(object: KubeObject): Stage {
    const spec = members((object as unknown as JsonObject)['spec'])
    if (JSON.stringify(spec).length > LARGEST) this.refuse('spec', `more than ${LARGEST} characters`)
    const reference = members(spec['resourceRef'])
    const isCore = (reference['apiGroup'] ?? 'v1') === 'v1'
    if (isCore && reference['kind'] === 'Node')
      this.refuse(
        'spec.resourceRef',
        'only stages of Pods are played: a simulated node is ready, and needs no heartbeats',
      )
    else if (reference['kind'] !== 'Pod' || !isCore) this.refuse('spec.resourceRef', 'only stages of Pods are played')
    if (spec['selector'] === undefined) this.refuse('spec.selector', 'a Stage without one is for no object')
    const delay = members(spec['delay'])
    const [least, most] = [
      this.duration(delay, 'durationMilliseconds', 'durationFrom'),
      this.duration(delay, 'jitterDurationMilliseconds', 'jitterDurationFrom'),
    ]
    return {
      name: object.metadata.name ?? '',
      matches: this.selector(members(spec['selector'])),
      weight: this.weight(spec),
      delay: (pod, since, budget) => {
        const shortest = least(pod, since, budget)
        const longest = most(pod, since, budget)
        if (shortest === undefined) return [0, 0]
        // as in KWOK: if the second duration is shorter, it is the delay
        if (longest === undefined) return [shortest, shortest]
        return longest < shortest ? [longest, longest] : [shortest, longest]
      },
      steps: [...this.next(members(spec['next'])), ...this.steps(items(spec['steps']))].slice(0, MOST_STEPS),
    }
  }

  private refuse(path: string, why: string): void {
    this.problems.push(`${path}: ${why}`)
  }

  private selector(selector: JsonObject): Stage['matches'] {
    const all = [
      ...this.equals(selector, 'matchLabels', 'labels'),
      ...this.equals(selector, 'matchAnnotations', 'annotations'),
      ...items(selector['matchExpressions']).map((one, index) =>
        this.expression(members(one), `spec.selector.matchExpressions[${index}]`),
      ),
    ]
    // what was not looked at does not count as absent
    return (pod, budget) => all.every((matches) => matches(pod, budget)) && budget.spent <= budget.limit
  }

  private equals(selector: JsonObject, member: string, field: string): Stage['matches'][] {
    return Object.entries(members(ownValue(selector, member))).map(
      // own key: one of two names
      ([key, value]) =>
        (pod) =>
          ownValue(members(members(members(pod)['metadata'])[field]), key) === value, // own key: one of two names
    )
  }

  private expression(expression: JsonObject, path: string): Stage['matches'] {
    if (expression['cel'] !== undefined) this.refuse(`${path}.cel`, 'CEL is not supported in stages')
    const {
      key = '',
      operator,
      values,
    } = (expression['jq'] === undefined ? expression : members(expression['jq'])) as {
      key?: Json
      operator?: Json
      values?: Json
    }
    const wanted = new Set(items(values).map(String))
    if (!['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(String(operator)))
      this.refuse(`${path}.operator`, `${JSON.stringify(operator ?? '')} is not supported`)
    if ((operator === 'In' || operator === 'NotIn') !== wanted.size > 0)
      this.refuse(`${path}.values`, wanted.size > 0 ? 'must be empty for Exists and DoesNotExist' : 'must not be empty')
    const query = expression['cel'] === undefined ? this.query(String(key), `${path}.key`) : () => []
    const negates = operator === 'NotIn' || operator === 'DoesNotExist'
    return (pod, budget) => {
      const found = query(pod, budget) ?? []
      const isThere = wanted.size === 0 ? found.length > 0 : found.some((value) => wanted.has(String(value)))
      return isThere !== negates
    }
  }

  private query(text: string, path: string): Query {
    try {
      return parseQuery(text)
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      this.refuse(path, `${error.message} (${text})`)
      return () => []
    }
  }

  /** Returns the first result of an expression. Undefined if there is no expression. */
  private from(
    spec: JsonObject,
    member: string,
    path: string,
  ): ((pod: Json, budget: Budget) => Json | undefined) | undefined {
    const from = spec[member] // own key: a name of this file
    if (from === undefined) return undefined
    const { expressionFrom, jq, cel } = members(from)
    if (cel !== undefined) this.refuse(`${path}.cel`, 'CEL is not supported in stages')
    const text = expressionFrom ?? members(jq)['expression']
    if (text === undefined) return undefined
    const query = this.query(String(text), path)
    return (pod, budget) => query(pod, budget)?.[0]
  }

  private weight(spec: JsonObject): Stage['weight'] {
    const fixed = Number(spec['weight'] ?? 0)
    const from = this.from(spec, 'weightFrom', 'spec.weightFrom')
    return (pod, budget) => {
      const value = from?.(pod, budget)
      if (typeof value === 'number') return Math.trunc(value)
      if (typeof value !== 'string') return fixed
      return /^[-+]?\d{1,15}$/.test(value) ? Number(value) : undefined
    }
  }

  private duration(
    delay: JsonObject,
    fixedMember: string,
    fromMember: string,
  ): (pod: Json, since: number, budget: Budget) => number | undefined {
    const fixed = delay[fixedMember] === undefined ? undefined : Number(delay[fixedMember]) // own key: a name of this file
    const from = this.from(delay, fromMember, `spec.delay.${fromMember}`)
    const within = (ms: number): number => Math.min(Math.max(ms, 0), LONGEST_DELAY)
    return (pod, since, budget) => {
      const value = from?.(pod, budget)
      if (typeof value === 'string' && value !== '') {
        const found = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) - since : goDuration(value)
        if (found !== undefined && !Number.isNaN(found)) return within(found)
      }
      // a delay that has only an expression is zero if the expression finds nothing
      return fixed === undefined ? (fromMember === 'durationFrom' && from !== undefined ? 0 : undefined) : within(fixed)
    }
  }

  /** Reads `spec.next`, the older form of steps: one step does everything at once. */
  private next(next: JsonObject): StageStep[] {
    const path = 'spec.next'
    this.refuseUnknown(next, path, ['event', 'finalizers', 'delete', 'patches', 'statusTemplate', 'statusSubresource'])
    const steps: (StageStep | undefined)[] = [
      next['event'] === undefined ? undefined : this.step({ event: next['event'] }, path),
      next['finalizers'] === undefined ? undefined : this.step({ finalizers: next['finalizers'] }, path),
      next['delete'] === true ? { deletes: true } : undefined,
      ...items(next['patches']).map((patch, index) => this.step({ patch }, `${path}.patches[${index}]`)),
      typeof next['statusTemplate'] === 'string' && next['statusTemplate'].trim() !== ''
        ? this.statusTemplate(next['statusTemplate'])
        : undefined,
    ]
    return steps.filter((step) => step !== undefined)
  }

  private statusTemplate(template: string): StageStep {
    const parsed = this.template(template, 'spec.next.statusTemplate')
    return { patch: { type: 'strategic', subresource: 'status', root: 'status', template: parsed } }
  }

  private steps(steps: readonly Json[]): StageStep[] {
    if (steps.length > MOST_STEPS) this.refuse('spec.steps', `more than ${MOST_STEPS}`)
    return steps.slice(0, MOST_STEPS).map((step, index) => this.step(members(step), `spec.steps[${index}]`))
  }

  private step(step: JsonObject, path: string): StageStep {
    this.refuseUnknown(step, path, ['event', 'finalizers', 'delete', 'patch'])
    const { event, finalizers, patch } = step
    const { type, reason, message } = members(event)
    const { add, remove, empty } = members(finalizers)
    const values = (list: Json | undefined) => items(list).map((item) => String(members(item)['value'] ?? ''))
    return {
      ...(event === undefined
        ? {}
        : {
            event: {
              type: type === 'Warning' ? 'Warning' : 'Normal',
              reason: String(reason ?? ''),
              message: String(message ?? ''),
            },
          }),
      ...(finalizers === undefined
        ? {}
        : { finalizers: { add: values(add), remove: values(remove), isEmptied: empty === true } }),
      ...(step['delete'] === true ? { deletes: true } : {}),
      ...(patch === undefined ? {} : { patch: this.patch(members(patch), path) }),
    }
  }

  private patch(patch: JsonObject, path: string): StagePatch {
    this.refuseUnknown(patch, path, ['subresource', 'root', 'template', 'type'])
    const { subresource = '', root = '', template = '', type = 'strategic' } = patch
    if (subresource !== '' && subresource !== 'status')
      this.refuse(`${path}.subresource`, 'only status and the pod itself are patched')
    if (type !== 'json' && type !== 'merge' && type !== 'strategic')
      this.refuse(`${path}.type`, `${JSON.stringify(type)} is not supported`)
    return {
      type: type as StagePatch['type'], // the checks above refuse other types
      subresource: subresource === 'status' ? 'status' : '',
      root: String(root),
      template: this.template(String(template), `${path}.template`),
    }
  }

  private template(text: string, path: string): readonly Template[] {
    try {
      return parseTemplate(text.trim(), functions)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      this.refuse(path, error.message)
      return []
    }
  }

  private refuseUnknown(value: JsonObject, path: string, known: readonly string[]): void {
    for (const name of Object.keys(value))
      // few: a member of the format, beside six names
      if (!known.includes(name)) this.refuse(`${path}.${name}`, 'is not supported')
  }
}

const members = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const items = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const UNITS: ReadonlyMap<string, number> = new Map([
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['us', 0.001],
  ['µs', 0.001],
  ['ns', 0.000001],
])

/** Parses a duration as Go's time.ParseDuration does, in milliseconds. */
function goDuration(text: string): number | undefined {
  if (text.length > 64) return undefined
  if (text === '0') return 0
  let [sum, at] = [0, 0]
  for (const [all, digits, unit = ''] of text.matchAll(/(\d{1,15}(?:\.\d{1,9})?)(ms|us|µs|ns|h|m|s)/g)) {
    if (text.indexOf(all, at) !== at) return undefined
    at += all.length
    sum += Number(digits) * (UNITS.get(unit) ?? 0)
  }
  return at === text.length && at > 0 ? sum : undefined
}

/** The reasons why simulated nodes do not support a Stage. */
export function stageProblems(object: KubeObject): readonly string[] {
  const read = readStage(object)
  return 'problems' in read ? read.problems : []
}
