import type { KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import type { DeletionOptions, Judged, ResourceClient } from './resource-client.ts'

/**
 * Ignores the error of a write whose object is gone, or has been replaced. A webhook may refuse with the same codes, and
 * a write may lose against others too often: then the object is still there, and the write is to be tried again.
 * @throws the error where the object is still there
 */
export async function unlessGone<O extends KubeObject>(
  client: Pick<ResourceClient<O>, 'get'>,
  { metadata }: Judged,
  error: unknown,
): Promise<void> {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
  const live = await client.get(metadata.name ?? '')
  if (live !== undefined && live.metadata.uid === metadata.uid) throw error
}

/**
 * Deletes the object with this uid. An object that is gone counts as deleted.
 * @param known the object that the caller just read, as for `delete`
 */
export async function deleteIfThere<O extends KubeObject>(
  client: ResourceClient<O>,
  object: Judged,
  options: DeletionOptions = {},
  known?: O,
): Promise<'deleted' | 'gone'> {
  try {
    await client.delete(object, options, known)
    return 'deleted'
  } catch (error) {
    await unlessGone(client, object, error)
    return 'gone'
  }
}
