import type { KubeObject } from '../../api/object.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import { finalObject } from '../converted.ts'
import type { ResourceScope } from '../resource-scope.ts'
import type { FinalObject } from '../stored-form.ts'
import type { Admission } from './admission.ts'
import { undoing } from './undo.ts'

/** The options and the admission of a write. */
export interface WriteMode {
  readonly options: { readonly dryRun: boolean }
  /** The admission of the write, and of other writes that the server makes for it. */
  readonly admission: Admission
  /** See AdmittedObjects. */
  readonly named?: string
}

/** Reserves resources of the object, such as addresses, before validation. A failed write gives them back. */
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
 * Runs validating admission after all changes of the object, and then the write. If the write fails, it reverts side
 * effects of admission.
 */
export async function admitted(
  scope: ResourceScope,
  { options, admission, named }: WriteMode,
  object: KubeObject,
  old: KubeObject | undefined,
  write: (final: FinalObject | undefined) => Promise<WriteResult>,
): Promise<WriteResult> {
  const operation = old === undefined ? 'CREATE' : 'UPDATE'
  const final = finalObject(scope, object)
  const undo = await admission.validate(scope, operation, options, { object, oldObject: old, final, named })
  return undo ? undoing(scope.request, () => write(final), undo) : write(final)
}
