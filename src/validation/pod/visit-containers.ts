import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldPath } from '../../api/field.ts'
import { kept, mapParts } from '../../base/parts.ts'

export interface VisitedContainer {
  readonly container: CoreV1.Container
  readonly at: FieldPath
}

/** All containers of a pod: init containers, containers, ephemeral containers. */
export function visitContainers(spec: CoreV1.PodSpec, at: FieldPath): VisitedContainer[] {
  // checks walk over the list (base/parts.ts), so each run needs the same one
  return kept(spec, () =>
    (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
      mapParts(spec[field] ?? [], (container, index) => ({ container, at: at.child(field).index(index) })),
    ),
  )
}
