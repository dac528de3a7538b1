import type { Namespace } from '../api/core/v1.ts'
import type { KubeObject } from '../api/object.ts'
import type { ControlPlane } from './control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from './control-snapshot.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }

/**
 * A namespace as this isolate knows it. Before it is called missing it is read again. A change by another isolate is
 * seen within a second: the namespace controller later deletes objects that were created in that time in a namespace
 * that is being deleted.
 */
export async function namespaceOf(plane: ControlPlane, name: string): Promise<Namespace | undefined> {
  const known = (await controlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
  return known ?? (await freshControlSnapshot(plane)).get<Namespace & KubeObject>(NAMESPACES, name)
}
