import type { KubeObject } from '../../api/object.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { Admission } from './admission.ts'
import { undoing } from './undo.ts'

/** How a write is done, whatever it writes. */
export interface WriteMode {
  readonly options: { readonly dryRun: boolean }
  /** What has a say in it, and in what the server writes beside the object. */
  readonly admission: Admission
}

/** What the object needs beside it is taken before it is looked at, and given back when the write fails. */
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
