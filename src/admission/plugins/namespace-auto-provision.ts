/** NamespaceAutoProvision: creating an object in a namespace that does not exist creates the namespace. */
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { defaultingOf } from '../../registry/resource-scope.ts'
import { loopbackScope } from '../../registry/scope.ts'
import { BY_SERVER } from '../../registry/write/actor.ts'
import type { Admission } from '../../registry/write/admission.ts'
import { create } from '../../registry/write/create.ts'
import type { ApiCall } from '../../request/context.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }

/** @param admission the chain through which the new namespace goes */
export const namespaceAutoProvision = (admission: Admission): AdmissionPlugin => ({
  name: 'NamespaceAutoProvision',
  handles: ({ operation, namespace, kind, dryRun }) =>
    operation === 'CREATE' && namespace !== '' && !dryRun && !(kind.group === '' && kind.kind === 'Namespace'),
  async admit(attributes) {
    const { request, namespace } = attributes
    if ((await namespaceOf(request, namespace)) !== undefined) return
    try {
      await createNamespace(admission, request, namespace)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.status.reason === 'AlreadyExists') return
      throw error.status.reason === 'Forbidden' ? error : admissionForbidden(attributes, error.message)
    }
  },
})

async function createNamespace(admission: Admission, asked: ApiCall, name: string): Promise<void> {
  const scope = loopbackScope(asked, 'create', NAMESPACES)
  const object: KubeObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }
  // an API object is JSON
  applyDefaults(scope.resource.type, object as unknown as JsonObject, defaultingOf(scope))
  await create(scope, object, BY_SERVER, admission)
}
