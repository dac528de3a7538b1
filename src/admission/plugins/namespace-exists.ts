import { notFound } from '../../api/status.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }

/**
 * NamespaceExists: refuses writes in a namespace that does not exist. NamespaceLifecycle does the same for creates
 * only.
 */
export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  handles: ({ operation, namespace, kind }) =>
    operation !== 'CONNECT' && namespace !== '' && !(kind.group === '' && kind.kind === 'Namespace'),
  async validate({ request, namespace }) {
    if ((await namespaceOf(request, namespace)) === undefined) throw notFound(NAMESPACES, namespace)
  },
}
