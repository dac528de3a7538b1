/**
 * The objects that a binding names as parameters of its policy (CollectParams of apiserver's plugin/policy/generic).
 */
import type { ParamKind, ParamRef } from '../../api/admissionregistration/v1.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import { freshServedResources, servedResources } from '../../registry/served/served.ts'
import type { ApiCall } from '../../request/context.ts'
import type { LabelSelector } from '../../storage/selectors/label-selector.ts'
import { labelSelectorRequirements } from '../../storage/selectors/label-selector.ts'
import { everything } from '../../storage/selectors/selection.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { MOST_TOGETHER, objectsTogether } from '../../tenancy/stored-objects.ts'
import { asSeen, asServed } from './versioned-object.ts'

/** A policy or a binding cannot be used as it is written. */
export class ConfigurationError extends Error {}

/** Undefined where the policy has no parameters, or the binding names none. */
export type Param = KubeObject | undefined

/** The resource of a policy's paramKind. @throws ConfigurationError where it is not served */
export async function paramResource(request: ApiCall, { apiVersion = '', kind = '' }: ParamKind) {
  const version = parseApiVersion(apiVersion)
  if (version === undefined) throw new ConfigurationError(`failed to parse paramKind APIVersion: ${apiVersion}`)
  const named = { ...version, kind }
  const entry =
    (await servedResources(request)).findKind(named) ?? (await freshServedResources(request)).findKind(named)
  if (entry !== undefined) return entry
  const text = `${version.group}/${version.version}, Kind=${kind}`
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${text}'`)
}

/** A policy is evaluated once for each of its parameters. kube-apiserver has no limit. */
export const MAX_PARAMS = 1_000

const NO_PARAMS = 'no params found for policy binding with `Deny` parameterNotFoundAction'

/**
 * @param namespace of the request
 * @returns none where nothing matches and parameterNotFoundAction is Allow
 * @throws ConfigurationError
 */
export async function paramsOf(
  request: ApiCall,
  entry: ResourceEntry | undefined,
  ref: ParamRef | undefined,
  namespace: string,
): Promise<readonly Param[]> {
  if (entry === undefined || ref === undefined) return [undefined]
  const found = await objectsOf(request, entry, ref, namespaceOf(entry, ref, namespace))
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') throw new ConfigurationError(NO_PARAMS)
  return found
}

/** Undefined for a cluster-scoped kind. */
function namespaceOf(entry: ResourceEntry, ref: ParamRef, ofRequest: string): string | undefined {
  if (!entry.namespaced) {
    if (!ref.namespace) return undefined
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const namespace = ref.namespace || ofRequest
  if (namespace !== '') return namespace
  throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
}

async function objectsOf(
  request: ApiCall,
  entry: ResourceEntry,
  { name, selector }: ParamRef,
  namespace: string | undefined,
): Promise<readonly KubeObject[]> {
  if (!entry.persisted)
    throw new ConfigurationError(
      `paramKind kind \`&ParamKind{APIVersion:${apiVersionOf(entry)},Kind:${entry.kind},}\` not yet synced to use for admission`,
    )
  const shown = async (objects: readonly KubeObject[]) =>
    (await asServed(request, entry, objects)).map((served) => {
      if (entry.serving.informedWithoutManagedFields) delete served.metadata.managedFields
      return asSeen(served)
    })
  if (name) {
    const found = await storedObject(request, entry.storage, namespace === undefined ? name : `${namespace}/${name}`)
    return found === undefined ? [] : shown([found])
  }
  if (selector === undefined) throw new ConfigurationError('one of name or selector must be provided')
  // validation refuses selectors without keys or with unknown operators
  const labels = labelSelectorRequirements(selector as LabelSelector)
  const where = { namespace, selection: { ...everything, labels }, most: MAX_PARAMS }
  const found = await objectsTogether<object>(request, entry.storage, where)
  if (found === 'too many')
    throw new ConfigurationError(`paramRef.selector must not select more than ${MAX_PARAMS} objects`)
  if (found === 'too much')
    throw new ConfigurationError(`paramRef.selector must not select more than ${MOST_TOGETHER} characters of objects`)
  return shown(found)
}
