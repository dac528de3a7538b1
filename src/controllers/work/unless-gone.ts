import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { DeletionOptions, Judged, ResourceClient } from '../client/resource-client.ts'

/** An object as the caller read it. */
interface Read {
  readonly metadata: Judged['metadata'] & { readonly resourceVersion?: string }
}

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
  if (!(await isGone(client, { metadata }, error))) throw error
}

/** Whether a write failed because its object is gone, or has been replaced. */
export async function isGone<O extends KubeObject>(
  client: Pick<ResourceClient<O>, 'get'>,
  { metadata }: Judged,
  error: unknown,
): Promise<boolean> {
  if (!isOfOthers(error)) return false
  const live = await client.get(metadata.name ?? '')
  return live === undefined || live.metadata.uid !== metadata.uid
}

/**
 * Whether a write failed because its object is gone, has been replaced, or has changed since the caller read it. For
 * callers to whom a change is new work.
 */
export async function isOvertaken<O extends KubeObject>(
  client: Pick<ResourceClient<O>, 'get'>,
  { metadata }: Read,
  error: unknown,
): Promise<boolean> {
  if (!isOfOthers(error)) return false
  const live = await client.get(metadata.name ?? '')
  // a head says nothing of its version (client/pod-head.ts)
  const { resourceVersion = live?.metadata.resourceVersion } = metadata
  return live?.metadata.uid !== metadata.uid || live?.metadata.resourceVersion !== resourceVersion
}

/** Creates the object, unless there is one of its name. A webhook may refuse with the same code. */
export async function createUnlessThere<O extends KubeObject>(
  client: Pick<ResourceClient<O>, 'add' | 'get'>,
  object: O,
): Promise<void> {
  try {
    await client.add(object)
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 409) throw error
    if ((await client.get(object.metadata.name ?? '')) === undefined) throw error
  }
}

/**
 * Whether the log tells of a failure. Objects go and change while a controller works on them, and its next try sees
 * that. So a first failure of this sort is none.
 * @param attempts failures before this one
 */
export const isTold = (error: unknown, attempts: number): boolean => attempts > 0 || !isOfOthers(error)

/** Whether the write may have failed because of what others did. */
const isOfOthers = (error: unknown): error is StatusError =>
  error instanceof StatusError && (error.code === 404 || error.code === 409)

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
