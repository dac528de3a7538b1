import type { Attributes } from '../admission/attributes.ts'
import { admit } from '../admission/chain.ts'
import { managedFieldsProblem } from '../patch/managed-fields.ts'

/** Admission that may change the object, but not make a mess of its managedFields: those are put back. */
export async function admitMutating(attributes: Attributes): Promise<void> {
  const metadata = attributes.object?.metadata
  const before = metadata?.managedFields
  await admit(attributes)
  const after = attributes.object?.metadata
  // the server made what admission left alone
  if (after?.managedFields === before) return
  const problem = managedFieldsProblem(after?.managedFields)
  if (after === undefined || problem === undefined) return
  if (before === undefined) delete after.managedFields
  else after.managedFields = before
  attributes.request.warnings.push(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
}
