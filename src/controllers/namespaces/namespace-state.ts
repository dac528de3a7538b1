import { managerClients } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'

/** Whether a namespace exists and is not being deleted. */
export async function isActiveNamespace(context: ControllerContext, name: string): Promise<boolean> {
  const namespace = await managerClients(context).resource({ group: '', resource: 'namespaces' }).get(name)
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined
}
