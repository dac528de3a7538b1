import { StatusError } from '../../api/status.ts'
import { deleteObject } from './delete.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { Admission } from './admission.ts'

/** A DELETE without options by the server itself. It only marks an object with finalizers. */
export async function removeIfThere(scope: ResourceScope, name: string, admission: Admission): Promise<void> {
  try {
    await deleteObject(scope, name, {}, admission)
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error
  }
}
