import { groupResourceText } from '../../api/group-version.ts'
import { forbidden, notFound } from '../../api/status.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const LOCAL_REVIEWS = 'localsubjectaccessreviews.authorization.k8s.io'
/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public'])

/**
 * NamespaceLifecycle: refuses creates in a namespace that does not exist or is being deleted, and refuses to delete
 * the namespaces that the system needs.
 */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  handles: ({ operation }) => operation !== 'CONNECT',
  async admit({ operation, resource, name, namespace, request, object }) {
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
  },
}
