/**
 * POST serviceaccounts/NAME/token issues a token for a ServiceAccount. A TokenRequest can bind the token to a pod, a
 * secret or a node.
 */
import type { TokenRequest, TokenRequestSpec } from '../../api/authentication/v1.ts'
import type { Node, Pod, Secret, ServiceAccount } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { badRequest, conflict, invalid, notFound } from '../../api/status.ts'
import { issueToken } from '../../authentication/service-account.ts'
import type { ObjectIdentity, ServiceAccountClaims } from '../../authentication/service-account.ts'
import { serverAudiences } from '../../authentication/service-account-key.ts'
import { tokenLifetime } from '../../authentication/token-lifetime.ts'
import type { ApiRequest } from '../../request/context.ts'
import { timeText } from '../../schema/time.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { checkKeyName } from '../key-name.ts'

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' }

const DEFAULT_SECONDS = 3600
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
/**
 * A kubelet that asks for exactly this duration gets a token for a year, because old clients never reload their token.
 * The `warnafter` claim of the token marks the end of this duration.
 */
const WARN_SECONDS = 3607

/**
 * @param object a TokenRequest as the client sent it, with defaults, after mutating admission
 * @param admitted runs validating admission
 * @throws StatusError
 */
export async function createToken(
  request: ApiRequest,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  object: KubeObject,
  admitted: () => Promise<void>,
): Promise<KubeObject> {
  const { env, now } = request
  const asked = object as KubeObject & TokenRequest // only a TokenRequest has this path
  checkNames(asked, namespace, name)
  const account = await find<ServiceAccount>(request, 'serviceaccounts', name, namespace)
  const uid = account.metadata.uid ?? ''
  if (asked.metadata.uid !== undefined && asked.metadata.uid !== uid)
    throw conflict(
      { group: KIND.group, resource: KIND.kind },
      name,
      `the UID in the token request (${asked.metadata.uid}) does not match the UID of the service account (${uid})`,
    )
  const spec = withDefaults(asked.spec ?? {}, serverAudiences(env))
  const errors = durationErrors(spec)
  if (errors.length > 0) throw invalid(KIND, '', errors)
  // validating admission sees the audiences and the account of the token
  asked.metadata = { ...asked.metadata, name, namespace, creationTimestamp: timeText(now) }
  asked.spec = spec
  await admitted()
  const bound = await boundObject(request, spec, name, namespace)
  const asksFor = Number(spec.expirationSeconds)
  const { longest, extendedTo } = await tokenLifetime(request)
  if (asksFor > longest) {
    request.warnings.push(`requested expiration of ${asksFor} seconds shortened to ${longest} seconds`)
    spec.expirationSeconds = longest
  }
  const seconds = Math.min(asksFor, longest)
  const extended =
    extendedTo !== undefined && bound.pod !== undefined && isForServerAlone(spec, env) && seconds === WARN_SECONDS
  const issued = Math.floor(now.getTime() / 1000)
  const claims: ServiceAccountClaims = {
    namespace,
    serviceaccount: { name, uid },
    ...bound,
    ...(extended ? { warnafter: issued + seconds } : {}),
  }
  const expirationSeconds = extended ? extendedTo : seconds
  const id = crypto.randomUUID()
  request.record?.annotate('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`)
  const token = await issueToken({ ...request, id, audiences: spec.audiences ?? [], expirationSeconds, claims })
  const answer: KubeObject & TokenRequest = {
    ...asked,
    metadata: { ...asked.metadata, uid },
    status: { token, expirationTimestamp: timeText(new Date((issued + seconds) * 1000)) },
  }
  return answer
}

function checkNames({ metadata }: KubeObject, namespace: string, name: string): void {
  const differs = (field: 'name' | 'namespace', wanted: string, detail: string): void => {
    const given = metadata[field]
    if (given !== undefined && given !== '' && given !== wanted)
      throw invalid(KIND, name, [invalidValue(path('metadata', field), given, detail)])
  }
  differs('name', name, 'must match the service account name if specified')
  differs('namespace', namespace, 'must match the service account namespace if specified')
}

function withDefaults(spec: TokenRequestSpec, own: readonly string[]): TokenRequestSpec {
  const { audiences = [], expirationSeconds, boundObjectRef } = spec
  return {
    audiences: audiences.length === 0 ? [...own] : audiences,
    expirationSeconds: expirationSeconds ?? DEFAULT_SECONDS,
    ...(boundObjectRef === undefined ? {} : { boundObjectRef }),
  }
}

function durationErrors({ expirationSeconds }: TokenRequestSpec): FieldError[] {
  const at = path('spec', 'expirationSeconds')
  const seconds = Number(expirationSeconds)
  if (seconds < MIN_SECONDS)
    return [invalidValue(at, expirationSeconds, 'may not specify a duration less than 10 minutes')]
  if (seconds > MAX_SECONDS)
    return [invalidValue(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
  return []
}

const isForServerAlone = ({ audiences = [] }: TokenRequestSpec, env: ApiRequest['env']): boolean =>
  // few: audiences of the server's own setting
  audiences.every((audience) => serverAudiences(env).includes(audience))

type Bound = Pick<ServiceAccountClaims, 'pod' | 'secret' | 'node'>

async function boundObject(
  request: ApiRequest,
  { boundObjectRef: reference }: TokenRequestSpec,
  account: string,
  namespace: string,
): Promise<Bound> {
  if (reference === undefined || reference === null) return {}
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
  const same = <O extends KubeObject>(object: O): O => {
    if (uid !== '' && object.metadata.uid !== uid)
      throw conflict(
        { group, resource: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      )
    return object
  }
  if (group === '')
    switch (kind) {
      case 'Pod': {
        const pod = await find<Pod>(request, 'pods', name, namespace)
        if (pod.spec?.serviceAccountName !== account)
          throw badRequest(
            `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
          )
        const node = await nodeOfPod(request, pod)
        return { pod: identityOf(same(pod)), ...(node === undefined ? {} : { node }) }
      }
      case 'Node':
        return { node: identityOf(same(await find<Node>(request, 'nodes', name))) }
      case 'Secret':
        return { secret: identityOf(same(await find<Secret>(request, 'secrets', name, namespace))) }
    }
  const groupVersion = group === '' ? `/${version}` : `${group}/${version}`
  throw badRequest(`cannot bind token to object of type ${groupVersion}, Kind=${kind}`)
}

/** The token names the node of the pod, even if there is no Node object. */
async function nodeOfPod(request: ApiRequest, { spec }: Pod): Promise<ObjectIdentity | undefined> {
  const name = spec?.nodeName ?? ''
  if (name === '') return undefined
  const node = await storedObject<Node>(request, { group: '', resource: 'nodes' }, name)
  return { name, uid: node?.metadata.uid ?? '' }
}

const identityOf = ({ metadata }: KubeObject): ObjectIdentity => ({
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
})

async function find<O>(request: ApiRequest, resource: string, name: string, namespace?: string) {
  checkKeyName(name)
  const key = namespace === undefined ? name : `${namespace}/${name}`
  const object = await storedObject<O>(request, { group: '', resource }, key)
  if (object === undefined) throw notFound({ group: '', resource }, name)
  return object
}
