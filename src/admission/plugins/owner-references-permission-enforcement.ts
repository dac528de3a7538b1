/**
 * OwnerReferencesPermissionEnforcement: a user may set owners only on objects that the user may delete, and may set
 * blockOwnerDeletion only for owners that the user may finalize.
 */
import { parseApiVersion } from '../../api/group-version.ts'
import type { Json, KubeObject, OwnerReference } from '../../api/object.ts'
import { goQuote } from '../../go/quote.ts'
import { valuesEqual } from '../../json/value-order.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import type { AuthorizationAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import { freshServedResources, servedResources } from '../../registry/served/served.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods } from './pod-attributes.ts'

export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: 'OwnerReferencesPermissionEnforcement',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
    // the strategy of pods/status keeps the owners of the stored pod
    !(attributes.subresource === 'status' && isOfPods(attributes, 'status')) &&
    changesOwners(attributes),
  async validate(attributes) {
    const { operation } = attributes
    if (operation === 'UPDATE')
      await check(attributes, deletionOf(attributes), "cannot set an ownerRef on a resource you can't delete")
    const blocking = newBlocking(attributes)
    if (blocking.length === 0) return
    if ((await verdictOn(attributes.request, finalizersOf(attributes, { resource: '*', name: '*' }))).allowed) return
    for (const reference of blocking)
      for (const { group, version, resource, namespaced } of await resourcesOf(attributes, reference))
        await check(
          attributes,
          finalizersOf(attributes, {
            apiGroup: group,
            apiVersion: version,
            resource,
            name: reference.name ?? '',
            namespace: namespaced ? attributes.namespace : '',
          }),
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
        )
  },
}

/** Objects without metadata, such as the options of a CONNECT, have no owners. */
const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] => {
  const metadata: KubeObject['metadata'] | undefined = object?.metadata
  return metadata?.ownerReferences ?? []
}

function changesOwners({ object, oldObject }: Attributes): boolean {
  const [now, before] = [ownersOf(object), ownersOf(oldObject)]
  // API objects are JSON
  return now.length !== before.length || now.some((one, index) => !sameOwner(one, before[index]!))
}

// references are JSON
const sameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  valuesEqual(a as unknown as Json, b as unknown as Json)

function newBlocking({ object, oldObject }: Attributes): OwnerReference[] {
  const before = new Map(ownersOf(oldObject).map((one) => [one.uid, one.blockOwnerDeletion === true]))
  return ownersOf(object).filter((one) => one.blockOwnerDeletion === true && before.get(one.uid) !== true)
}

const deletionOf = ({ user, namespace, name, resource, subresource }: Attributes): AuthorizationAttributes =>
  resourceAttributes(user, 'delete', {
    apiGroup: resource.group,
    apiVersion: resource.version,
    resource: resource.resource,
    namespace,
    name,
    subresource,
  })

const finalizersOf = ({ user }: Attributes, of: Partial<AuthorizationAttributes>): AuthorizationAttributes =>
  resourceAttributes(user, 'update', { apiGroup: '*', apiVersion: '*', ...of, subresource: 'finalizers' })

async function check(attributes: Attributes, asked: AuthorizationAttributes, why: string): Promise<void> {
  const { allowed, reason } = await verdictOn(attributes.request, asked)
  // kube-apiserver also prints the error, which is nil
  if (!allowed) throw admissionForbidden(attributes, `${why}: ${reason}, <nil>`)
}

/**
 * The resources of a kind: there may be several.
 * @throws StatusError where there is none
 */
async function resourcesOf(attributes: Attributes, { apiVersion = '', kind = '' }: OwnerReference) {
  const parsed = parseApiVersion(apiVersion)
  const isMeant = (entry: ResourceEntry): boolean =>
    entry.kind === kind && parsed !== undefined && entry.version === parsed.version
  for (const served of [servedResources, freshServedResources]) {
    const found = (await served(attributes.request)).inGroup(parsed?.group ?? '').filter(isMeant)
    if (found.length > 0) return found
  }
  throw admissionForbidden(
    attributes,
    `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${goQuote(kind)} in version ${goQuote(apiVersion)}`,
  )
}
