/** Configuration of PodTolerationRestriction (podtolerationrestriction.admission.k8s.io/v1alpha1). */
import * as z from 'zod/mini'
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue, notSupported, path } from '../api/field.ts'
import { labelKeyErrors, labelValueErrors } from '../api/label-syntax.ts'
import { readVersioned } from './versioned.ts'

const toleration = z.strictObject({
  key: z.optional(z.string()),
  operator: z.optional(z.string()),
  value: z.optional(z.string()),
  effect: z.optional(z.string()),
  tolerationSeconds: z.optional(z.int()),
})

type Toleration = z.infer<typeof toleration>

export interface PodTolerationSetting {
  /** For pods of namespaces that say nothing. */
  readonly defaults: readonly Toleration[]
  /** Empty: all may be tolerated. */
  readonly whitelist: readonly Toleration[]
}

const list = z._default(z.array(toleration), [])
const configuration = z.strictObject({ default: list, whitelist: list })
const TYPE = { group: 'podtolerationrestriction.admission.k8s.io', versions: ['v1alpha1'], kind: 'Configuration' }

/** @throws Error */
export function readPodTolerations(raw: unknown): PodTolerationSetting {
  if (raw === undefined) return { defaults: [], whitelist: [] }
  const { default: defaults, whitelist } = readVersioned(configuration, raw, TYPE)
  const at = path('podtolerationrestriction')
  const errors = [
    ...defaults.flatMap((one, index) => tolerationErrors(one, at.child('default').index(index))),
    ...whitelist.flatMap((one, index) => tolerationErrors(one, at.child('whitelist').index(index))),
  ]
  if (errors.length > 0)
    throw new Error(`invalid config: [${errors.map(({ field, message }) => `${field}: ${message}`).join(' ')}]`)
  return { defaults, whitelist }
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function tolerationErrors(
  { key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (key !== '') for (const why of labelKeyErrors(key)) errors.push(invalidValue(at.child('key'), key, why))
  else if (operator !== 'Exists')
    errors.push(
      invalidValue(
        at.child('operator'),
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    )
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.push(invalidValue(at.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
  if (operator === 'Equal' || operator === '')
    for (const why of labelValueErrors(value)) errors.push(invalidValue(at.child('operator'), value, why))
  else if (operator !== 'Exists') errors.push(notSupported(at.child('operator'), operator, ['Equal', 'Exists']))
  else if (value !== '')
    errors.push(invalidValue(at.child('operator'), value, "value must be empty when `operator` is 'Exists'"))
  if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(at.child('effect'), effect, EFFECTS))
  return errors
}
