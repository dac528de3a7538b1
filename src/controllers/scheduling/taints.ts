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

export function untolerated(
  taints: readonly Taint[] = [],
  tolerations: readonly Toleration[] = [],
  effects: readonly string[],
): Taint[] {
  const left: Taint[] = []
  for (const taint of taints) {
    const isMeant = effects.includes(taint.effect ?? '') // few: there are three effects
    // few: the taints of one node
    if (isMeant && !tolerations.some((toleration) => tolerates(toleration, taint))) left.push(taint)
  }
  return left
}
