/** What cold-start.ts measures of the schema: the types of a Pod, all of them, asked for the first time. */
import { builtInType } from '../../src/schema/built-in.ts'
import type { Structural, StructType } from '../../src/schema/structural.ts'

/** @returns how many types with fields a Pod consists of */
export function expandPod(): number {
  const seen = new Set<StructType>()
  const walk = (type: Structural): void => {
    if (type.shape === 'list') walk(type.element)
    else if (type.shape === 'map') walk(type.value)
    else if (type.shape === 'struct' && !seen.has(type)) {
      seen.add(type)
      for (const field of type.fields) walk(field.type)
    }
  }
  walk(builtInType('io.k8s.api.core.v1.Pod'))
  return seen.size
}
