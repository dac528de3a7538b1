import type { Taint, Toleration } from '../../api/core/v1.ts'
import { parseInt64 } from '../../go/int.ts'

/** Whether the toleration tolerates the taint (component-helpers' tolerations). */
export function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  const there = taint.value ?? ''
  switch (operator) {
    case '':
    case 'Equal':
      return value === there
    case 'Exists':
      return true
    case 'Lt':
    case 'Gt': {
      const [wanted, actual] = [parseInt64(value), parseInt64(there)]
      if (wanted === undefined || actual === undefined) return false
      return operator === 'Lt' ? actual < wanted : actual > wanted
    }
    default:
      return false
  }
}

/** What the tolerations of one key and effect tolerate. */
interface Tolerated {
  everything: boolean
  readonly values: Set<string>
  /** Taints with a smaller number are tolerated, and with a larger one. */
  below: bigint | undefined
  above: bigint | undefined
}

/**
 * The tolerations of a pod, by key and effect: a pod may have tens of thousands of them, and each node has taints. A
 * taint takes four looks, however many there are.
 */
export class Tolerations {
  /** Bound: the tolerations of one pod. */
  private readonly known = new Map<string, Tolerated>()

  constructor(tolerations: readonly Toleration[] = []) {
    for (const toleration of tolerations) this.add(toleration)
  }

  private add({ key = '', operator = '', value = '', effect = '' }: Toleration): void {
    const at = placeOf(key, effect)
    const known = this.known.get(at) ?? { everything: false, values: new Set(), below: undefined, above: undefined }
    this.known.set(at, known)
    if (operator === 'Exists') known.everything = true
    if (operator === '' || operator === 'Equal') known.values.add(value)
    if (operator !== 'Lt' && operator !== 'Gt') return
    const bound = parseInt64(value)
    if (bound === undefined) return
    if (operator === 'Lt') known.below = known.below === undefined || bound > known.below ? bound : known.below
    else known.above = known.above === undefined || bound < known.above ? bound : known.above
  }

  tolerate({ key = '', value = '', effect = '' }: Taint): boolean {
    for (const ofKey of [key, ''])
      for (const ofEffect of [effect, '']) {
        const known = this.known.get(placeOf(ofKey, ofEffect))
        if (known !== undefined && isTolerated(known, value)) return true
      }
    return false
  }

  /** @returns the taints with one of these effects that are not tolerated */
  untolerated(taints: readonly Taint[] = [], effects: readonly string[]): Taint[] {
    // few: there are three effects
    return taints.filter((taint) => effects.includes(taint.effect ?? '') && !this.tolerate(taint))
  }
}

const placeOf = (key: string, effect: string): string => `${effect} ${key}`

function isTolerated({ everything, values, below, above }: Tolerated, value: string): boolean {
  if (everything || values.has(value)) return true
  if (below === undefined && above === undefined) return false
  const actual = parseInt64(value)
  if (actual === undefined) return false
  return (below !== undefined && actual < below) || (above !== undefined && actual > above)
}

export const untolerated = (
  taints: readonly Taint[] = [],
  tolerations: readonly Toleration[] = [],
  effects: readonly string[],
): Taint[] => new Tolerations(tolerations).untolerated(taints, effects)
