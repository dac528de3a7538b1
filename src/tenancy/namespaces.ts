import type { Namespace } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { ControlPlane } from './control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from './control-snapshot.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }

/**
 * A namespace as this isolate knows it. A missing one is read again. Changes by another isolate are seen within a
 * second. An object that is created meanwhile in a terminating namespace is deleted later by the namespace
 * controller.
 */
export async function namespaceOf(plane: ControlPlane, name: string): Promise<Namespace | undefined> {
  const known = (await controlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
  return known ?? (await freshControlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
}
