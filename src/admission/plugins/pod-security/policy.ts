/** The policy that a namespace's labels define for its pods (KEP-2579, the Pod Security Standards). */
import type { FieldError } from '../../../api/field.ts'
import { invalidValue, path } from '../../../api/field.ts'
import { ownValue } from '../../../base/own.ts'
import {
  LATEST,
  LEVELS,
  LEVEL_RULE,
  VERSION_RULE,
  parseLevel,
  parseVersion,
} from '../../../configuration/pod-security.ts'
import type { Level, Mode, Policy, Standard } from '../../../configuration/pod-security.ts'

export { LATEST } from '../../../configuration/pod-security.ts'
export type { Level, Mode, Policy, Standard, Version } from '../../../configuration/pod-security.ts'

const PRIVILEGED: Standard = { level: 'privileged', version: LATEST }

/** Holds where neither labels nor configuration say otherwise. */
export const DEFAULT_POLICY: Policy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED }

export const PREFIX = 'pod-security.kubernetes.io/'

/** The text in messages: `baseline:latest`, `restricted:v1.30`. */
export const standardText = ({ level, version }: Standard): string =>
  `${level}:${version === LATEST ? 'latest' : `v1.${version}`}`

export const isSame = (a: Standard, b: Standard): boolean => a.level === b.level && a.version === b.version

export const isStricter = (a: Level, b: Level): boolean => LEVELS.indexOf(a) > LEVELS.indexOf(b)

export const isPrivileged = ({ enforce, audit, warn }: Policy): boolean =>
  [enforce, audit, warn].every(({ level }) => level === 'privileged')

/**
 * As in kube-apiserver, an unreadable label means the strictest standard for `enforce`, and none for `audit` and
 * `warn`.
 */
export function policyOf(
  labels: Readonly<Record<string, string>> = {},
  defaults: Policy = DEFAULT_POLICY,
): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = []
  const read = <T>(label: string, parse: (text: string) => T | undefined, rule: string, otherwise: T, unset: T): T => {
    const text = ownValue(labels, `${PREFIX}${label}`)
    if (text === undefined) return unset
    const value = parse(text)
    if (value === undefined) errors.push(invalidValue(path('metadata', 'labels').key(`${PREFIX}${label}`), text, rule))
    return value ?? otherwise
  }
  const standard = (mode: Mode, unreadable: Level): Standard => ({
    level: read(mode, parseLevel, LEVEL_RULE, unreadable, defaults[mode].level),
    version: read(`${mode}-version`, parseVersion, VERSION_RULE, LATEST, defaults[mode].version),
  })
  const enforce = standard('enforce', 'restricted')
  const audit = standard('audit', 'privileged')
  const warn = standard('warn', 'privileged')
  const asksToEnforce = parseLevel(ownValue(labels, `${PREFIX}enforce`) ?? '') !== undefined
  const followsEnforce =
    asksToEnforce && ownValue(labels, `${PREFIX}warn`) === undefined && isStricter(enforce.level, warn.level)
  if (!followsEnforce) return { policy: { enforce, audit, warn }, errors }
  const version = ownValue(labels, `${PREFIX}warn-version`) === undefined ? enforce.version : warn.version
  return { policy: { enforce, audit, warn: { level: enforce.level, version } }, errors }
}
