import type { Namespace } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { ControlPlane } from './control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from './control-snapshot.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }

/**
 * A namespace as this isolate knows it; asked for again before it is called missing. What another isolate did to it is
 * seen within a second: what is created in that time in a namespace that goes, its controller sweeps away afterwards.
 */
export async function namespaceOf(plane: ControlPlane, name: string): Promise<Namespace | undefined> {
  const known = (await controlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
  return known ?? (await freshControlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
}
