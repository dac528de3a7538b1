import { notFound } from '../api/status.ts'
import { namespaceOf } from '../tenancy/namespaces.ts'
import type { AdmissionPlugin } from './attributes.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }

/** NamespaceExists: nothing is written in a namespace that is not there. NamespaceLifecycle says so of creates, too. */
export const namespaceExists: AdmissionPlugin = {
  name: 'NamespaceExists',
  handles: ({ operation, namespace, kind }) =>
    operation !== 'CONNECT' && namespace !== '' && !(kind.group === '' && kind.kind === 'Namespace'),
  async validate({ request, namespace }) {
    if ((await namespaceOf(request, namespace)) === undefined) throw notFound(NAMESPACES, namespace)
  },
}
