/**
 * A Worker for first-use.ts: in fresh isolates it expands all types of a Pod, or only those that a Pod's value uses.
 */
import { builtInType } from '../../src/schema/built-in.ts'
import type { Structural, StructType } from '../../src/schema/structural.ts'
import { warmUp } from '../../src/schema/warm-up.ts'
import { pod } from './pod.ts'

warmUp()

/** Expands every type with fields that the type contains. */
function expandAll(of: StructType): Set<StructType> {
  const seen = new Set<StructType>()
  const walk = (type: Structural): void => {
    if (type.shape === 'list') walk(type.element)
    else if (type.shape === 'map') walk(type.value)
    else if (type.shape === 'struct' && !seen.has(type)) {
      seen.add(type)
      for (const field of type.fields) walk(field.type)
    }
  }
  walk(of)
  return seen
}

/** Expands only the types of members that the value has. */
function expandTouched(of: StructType, object: object): Set<StructType> {
  const seen = new Set<StructType>()
  const walk = (type: Structural, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (type.shape === 'list') for (const element of value as unknown[]) walk(type.element, element)
    if (type.shape === 'map') for (const member of Object.values(value)) walk(type.value, member)
    if (type.shape !== 'struct') return
    seen.add(type)
    for (const [name, member] of Object.entries(value)) {
      const field = type.field(name)
      if (field !== undefined) walk(field.type, member)
    }
  }
  walk(of, object)
  return seen
}

const statusType = (): StructType => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.Status')
const podType = (): StructType => builtInType('io.k8s.api.core.v1.Pod')

export default {
  fetch(request: Request): Response {
    switch (new URL(request.url).pathname) {
      case '/all':
        return Response.json(expandAll(podType()).size)
      case '/touched':
        return Response.json(expandTouched(podType(), pod).size)
      default: // the cost of the walks alone, over types that are already expanded
        return Response.json(
          expandAll(statusType()).size + expandTouched(statusType(), { details: { causes: [{}] } }).size,
        )
    }
  },
}
