import { authorize } from '../authorization/authorize.ts'
import type { ResourceScope } from './resource-scope.ts'

/** A write that turns out to create needs the permission to create too. @throws 403 */
export async function authorizeCreate({ request, name }: ResourceScope): Promise<void> {
  await authorize({ ...request, info: { ...request.info, verb: 'create', name } })
}
