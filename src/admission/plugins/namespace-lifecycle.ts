import { groupResourceText } from '../../api/group-version.ts'
import { forbidden, notFound } from '../../api/status.ts'
import { isRecent } from '../../base/clock.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const LOCAL_REVIEWS = 'localsubjectaccessreviews.authorization.k8s.io'
/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/** Milliseconds for which a create goes by the first look at its namespace. */
const MAX_AGE = 1_000

/**
 * NamespaceLifecycle: refuses creates in a namespace that does not exist or is being deleted, and refuses to delete
 * the namespaces that the system needs.
 */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: ({ operation }) => operation !== 'CONNECT',
  admit: checkNamespace,
}

/**
 * Looks again before a create is stored that took long, as its body, a webhook or a quota may: the namespace may have
 * gone meanwhile, and nobody sweeps it again (controllers/namespaces/namespace.ts). Runs last.
 */
export const namespaceStillThere: AdmissionPlugin = {
  name: namespaceLifecycle.name,
  handles: ({ operation, request }) =>
    operation === 'CREATE' && !isRecent(request.now.getTime(), request.clock(), MAX_AGE),
  validate: checkNamespace,
}

async function checkNamespace({ operation, resource, name, namespace, request, object }: Attributes): Promise<void> {
  const isNamespace = resource.group === '' && resource.resource === 'namespaces'
  if (operation === 'DELETE' && isNamespace && IMMORTAL.has(name))
    throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
  if (namespace === '' || isNamespace) return
  // updates, too, are allowed in a namespace that is being deleted, but not in one that never existed
  if (operation === 'DELETE') return
  // a LocalSubjectAccessReview is not stored, so its namespace need not exist
  if (groupResourceText(resource) === LOCAL_REVIEWS) return
  const found = await namespaceOf(request, namespace)
  if (found === undefined) throw notFound(NAMESPACES, namespace)
  if (operation !== 'CREATE' || found.status?.phase !== 'Terminating') return
  throw forbidden(
    resource,
    name || (object?.metadata.generateName ?? ''),
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  )
}
