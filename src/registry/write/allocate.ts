import type { KubeObject } from '../../api/object.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { undoing } from './undo.ts'
import type { Undo } from './undo.ts'

/**
 * Runs after everything that may change the object: validating admission.
 * @returns what takes back what was done beside the object, for a write that fails
 */
export type Validating = (object: KubeObject, old?: KubeObject) => Promise<Undo | undefined | void>

export interface WriteMode {
  readonly dryRun: boolean
}

/** What the object needs beside it is taken before it is looked at, and given back when the write fails. */
export async function allocating(
  scope: ResourceScope,
  object: KubeObject,
  old: KubeObject | undefined,
  { dryRun }: WriteMode,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const {
    resource: { strategy },
    place: { subresource },
  } = scope
  const allocation =
    subresource === '' ? await strategy.allocate?.(object, old, scope.strategyContext(dryRun)) : undefined
  if (allocation === undefined) return write()
  const written = await undoing(scope.request, write, () => allocation.revert())
  await allocation.commit()
  return written
}

/** What admission did beside the object is taken back when the write fails. */
export async function admitted(
  scope: ResourceScope,
  validating: Validating,
  object: KubeObject,
  old: KubeObject | undefined,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const undo = await validating(object, old)
  return undo ? undoing(scope.request, write, undo) : write()
}
