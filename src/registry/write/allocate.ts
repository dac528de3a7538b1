import type { KubeObject } from '../../api/object.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { Admission } from './admission.ts'
import { undoing } from './undo.ts'

/** How a write is done, whatever its object. */
export interface WriteMode {
  readonly options: { readonly dryRun: boolean }
  /** The admission of the write, and of the writes that the server makes beside it. */
  readonly admission: Admission
}

/** Reserves what the object needs beside it before validation, and gives it back when the write fails. */
export async function allocating(
  scope: ResourceScope,
  object: KubeObject,
  old: KubeObject | undefined,
  { options, admission }: WriteMode,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const {
    resource: { strategy },
    place: { subresource },
  } = scope
  const context = { ...scope.strategyContext(options.dryRun), admission, isLarge: scope.request.isLarge }
  const allocation = subresource === '' ? await strategy.allocate?.(object, old, context) : undefined
  if (allocation === undefined) return write()
  const written = await undoing(scope.request, write, () => allocation.revert())
  await allocation.commit()
  return written
}

/**
 * Validating admission, after everything that may change the object, and then the write. What admission did beside the
 * object is taken back when the write fails.
 */
export async function admitted(
  scope: ResourceScope,
  { options, admission }: WriteMode,
  object: KubeObject,
  old: KubeObject | undefined,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const operation = old === undefined ? 'CREATE' : 'UPDATE'
  const undo = await admission.validate(scope, operation, options, { object, oldObject: old })
  return undo ? undoing(scope.request, write, undo) : write()
}
