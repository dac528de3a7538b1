import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { ResourceClient } from '../resource-client.ts'

/** Deletes the object with this uid. An object that is gone counts as deleted. */
export async function deleteIfThere<O extends KubeObject>(client: ResourceClient<O>, object: O): Promise<void> {
  try {
    await client.delete(object)
  } catch (error) {
    if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
  }
}
