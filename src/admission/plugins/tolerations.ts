/** Which tolerations cover other tolerations (kube-apiserver's pkg/util/tolerations). */
import type { Toleration } from '../../api/core/v1.ts'

/**
 * Leaves out tolerations that another one covers. Of equal tolerations the first stays.
 * @param first each in a form that validation accepts
 */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = withoutRepeats([...first, ...second])
  // tolerations under one key differ only in their seconds and operator, and the widest covers the others
  const widest = new Map<string, number>()
  for (const [index, toleration] of all.entries()) {
    const key = ownKey(toleration)
    const known = widest.get(key)
    if (known === undefined || isWider(toleration, all[known]!)) widest.set(key, index)
  }
  return all.filter((toleration, index) =>
    coveringKeys(toleration).every((key) => {
      const position = widest.get(key)
      return position === undefined || position === index || !covers(all[position]!, toleration)
    }),
  )
}

function withoutRepeats(all: readonly Toleration[]): Toleration[] {
  const seen = new Set<string>()
  return all.filter((one) => {
    const text = textOf(one)
    return !seen.has(text) && seen.add(text)
  })
}

/** Whether `one` has more seconds. With equal seconds a toleration without operator is wider than one with Equal. */
const isWider = (one: Toleration, other: Toleration): boolean =>
  secondsOf(one) > secondsOf(other) ||
  (secondsOf(one) === secondsOf(other) && (one.operator ?? '') === '' && other.operator === 'Equal')

const textOf = ({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): string =>
  JSON.stringify([key, operator, value, effect, tolerationSeconds])

const bucket = (key = '', effect = '', value: string | undefined): string => JSON.stringify([key, effect, value])

const ownKey = ({ key, effect, operator, value = '' }: Toleration): string =>
  bucket(key, effect, operator === 'Exists' ? undefined : value)

/** The keys of all tolerations that may cover this one. */
function coveringKeys({ key = '', effect = '', operator, value = '' }: Toleration): string[] {
  const values = operator === 'Exists' ? [undefined] : [undefined, value]
  return [...new Set([key, ''])].flatMap((wideKey) =>
    [...new Set([effect, ''])].flatMap((wideEffect) => values.map((one) => bucket(wideKey, wideEffect, one))),
  )
}

const secondsOf = ({ effect, tolerationSeconds = Infinity }: Toleration): number | bigint =>
  effect === 'NoExecute' ? tolerationSeconds : Infinity

/** Returns a test whether one of these tolerations covers a toleration. */
export function coverageBy(all: readonly Toleration[]): (narrow: Toleration) => boolean {
  const texts = new Set(all.map(textOf))
  const widest = new Map<string, Toleration>()
  for (const one of all) {
    if (!OPERATORS.has(one.operator ?? '')) continue
    const known = widest.get(ownKey(one))
    if (known === undefined || isWider(one, known)) widest.set(ownKey(one), one)
  }
  return (narrow) =>
    texts.has(textOf(narrow)) ||
    coveringKeys(narrow).some((key) => {
      const wide = widest.get(key)
      return wide !== undefined && covers(wide, narrow)
    })
}

/** A toleration with another operator covers nothing. */
const OPERATORS: ReadonlySet<string> = new Set(['', 'Equal', 'Exists'])

/**
 * Whether `wide` tolerates everything that `narrow` does. As in kube-apiserver, an operator that is left out is not
 * covered by Equal.
 */
function covers(wide: Toleration, narrow: Toleration): boolean {
  const { key = '', effect = '', operator = '', value = '', tolerationSeconds } = wide
  if (textOf(wide) === textOf(narrow)) return true
  if (key !== (narrow.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrow.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined)
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > tolerationSeconds) return false
  if (operator === 'Exists') return true
  return (operator === 'Equal' || operator === '') && narrow.operator === 'Equal' && value === (narrow.value ?? '')
}
