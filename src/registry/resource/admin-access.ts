import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, internalFieldError } from '../../api/field.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import type { StrategyContext } from '../strategy.ts'

const LABEL = 'resource.kubernetes.io/admin-access'

/**
 * A claim may ask for devices in use only in a namespace that an administrator has labelled for admin access.
 * @param at the field that asks for them; undefined if none does
 */
export async function adminAccessErrors(at: FieldPath | undefined, context: StrategyContext): Promise<FieldError[]> {
  if (at === undefined) return []
  const namespace = await namespaceOf(context, context.namespace)
  if (namespace === undefined) {
    const why = `namespaces "${context.namespace}" not found`
    return [internalFieldError(at, `could not retrieve namespace to verify admin access: ${why}`)]
  }
  if (namespace.metadata.labels?.[LABEL] === 'true') return []
  const why = `admin access to devices requires the \`${LABEL}: true\` label on the containing namespace`
  return [forbiddenField(at, why)]
}
