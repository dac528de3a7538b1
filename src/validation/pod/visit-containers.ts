import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldPath } from '../../api/field.ts'
import { kept, mapParts } from '../../api/parts.ts'

export interface VisitedContainer {
  readonly container: CoreV1.Container
  readonly at: FieldPath
}

/** All containers of a pod: those that run before the others first, those for looking into it last. */
export function visitContainers(spec: CoreV1.PodSpec, at: FieldPath): VisitedContainer[] {
  // checks walk over the list, and come to it again
  return kept(spec, () =>
    (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
      mapParts(spec[field] ?? [], (container, index) => ({ container, at: at.child(field).index(index) })),
    ),
  )
}
