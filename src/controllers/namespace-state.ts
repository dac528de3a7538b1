import { ApiClient } from './api-client.ts'
import type { ControllerContext } from './controller.ts'

/** Whether a namespace is there to be filled. */
export async function isActiveNamespace(context: ControllerContext, name: string): Promise<boolean> {
  const namespace = await new ApiClient(context, { group: '', resource: 'namespaces' }, '').get(name)
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined
}
