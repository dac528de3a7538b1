/** PodSecurityConfiguration: the standards where labels name none, and what no standard is asked of. */
import * as z from 'zod/mini'
import { dns1123Label, dns1123Subdomain } from '../api/dns-names.ts'
import type { FieldError } from '../api/field.ts'
import { duplicate, invalidValue, messageOf, path } from '../api/field.ts'
import { readVersioned } from './versioned.ts'

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const

/** From the laxest to the strictest. */
export type Level = (typeof LEVELS)[number]

/** A minor version of Kubernetes 1, or Infinity for the latest. */
export type Version = number

export const LATEST: Version = Infinity

export interface Standard {
  readonly level: Level
  readonly version: Version
}

export type Mode = 'enforce' | 'audit' | 'warn'

export type Policy = Readonly<Record<Mode, Standard>>

export const LEVEL_RULE = `must be one of ${LEVELS.join(', ')}`
export const VERSION_RULE = 'must be "latest" or "v1.x"'

export const parseLevel = (text: string): Level | undefined => LEVELS.find((level) => level === text)

export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return LATEST
  const minor = /^v1\.(0|[1-9]\d*)$/.exec(text)?.[1]
  return minor === undefined || !Number.isSafeInteger(Number(minor)) ? undefined : Number(minor)
}

export interface PodSecuritySetting {
  readonly defaults: Policy
  readonly exempt: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

const text = z._default(z.string(), '')
const texts = z._default(z.array(z.string()), [])
const configuration = z.strictObject({
  defaults: z.optional(
    z.strictObject({
      enforce: text,
      'enforce-version': text,
      audit: text,
      'audit-version': text,
      warn: text,
      'warn-version': text,
    }),
  ),
  exemptions: z.optional(z.strictObject({ usernames: texts, namespaces: texts, runtimeClasses: texts })),
})

const TYPE = {
  group: 'pod-security.admission.config.k8s.io',
  versions: ['v1', 'v1beta1', 'v1alpha1'],
  kind: 'PodSecurityConfiguration',
}

/** @param raw undefined where nothing is configured @throws Error */
export function readPodSecurity(raw: unknown): PodSecuritySetting {
  const { defaults, exemptions } = raw === undefined ? {} : readVersioned(configuration, raw, TYPE)
  const problems: string[] = []
  const read = <T>(
    name: string,
    value: string | undefined,
    parse: (text: string) => T | undefined,
    rule: string,
    unset: T,
  ): T => {
    if (value === undefined || value === '') return unset
    const parsed = parse(value)
    if (parsed === undefined) problems.push(`${name}: ${rule}`)
    return parsed ?? unset
  }
  const standard = (mode: Mode): Standard => ({
    level: read(mode, defaults?.[mode], parseLevel, LEVEL_RULE, 'privileged'),
    version: read(`${mode}-version`, defaults?.[`${mode}-version`], parseVersion, VERSION_RULE, LATEST),
  })
  const policy = { enforce: standard('enforce'), audit: standard('audit'), warn: standard('warn') }
  if (problems.length > 0)
    throw new Error(
      `PodSecurity configuration error: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`,
    )
  const { namespaces = [], runtimeClasses = [], usernames = [] } = exemptions ?? {}
  const errors = [
    ...nameErrors('namespaces', namespaces, dns1123Label),
    ...nameErrors('runtimeClasses', runtimeClasses, dns1123Subdomain),
    ...nameErrors('usernames', usernames, (name) => (name === '' ? ['username must not be empty'] : [])),
  ]
  if (errors.length > 0) throw new Error(messageOf(errors))
  return {
    defaults: policy,
    exempt: {
      usernames: new Set(usernames),
      namespaces: new Set(namespaces),
      runtimeClasses: new Set(runtimeClasses),
    },
  }
}

function nameErrors(field: string, names: readonly string[], rule: (name: string) => readonly string[]): FieldError[] {
  const seen = new Set<string>()
  return names.flatMap((name, index) => {
    const at = path('exemptions', field).index(index)
    const problems = rule(name)
    if (problems.length > 0) return [invalidValue(at, name, problems.join(', '))]
    if (seen.has(name)) return [duplicate(at, name)]
    seen.add(name)
    return []
  })
}
