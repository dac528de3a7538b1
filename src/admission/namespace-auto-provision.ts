/** NamespaceAutoProvision: a namespace is made when something is first created in it. */
import type { JsonObject, KubeObject } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import { builtInServed } from '../registry/served.ts'
import { resourceScope } from '../registry/scope.ts'
import { createObject } from '../registry/store.ts'
import { trackFields } from '../registry/track-fields.ts'
import type { ApiCall } from '../request/context.ts'
import { SYSTEM_MASTERS, authenticated } from '../request/user-info.ts'
import { applyDefaults } from '../schema/defaulting.ts'
import { namespaceOf } from '../tenancy/namespaces.ts'
import type { Undo } from '../registry/write/undo.ts'
import type { AdmissionPlugin, Attributes } from './attributes.ts'
import { admissionForbidden } from './forbidden.ts'

/** The server's own user, as which kube-apiserver asks itself. */
const SERVER = authenticated({ name: 'system:apiserver', groups: [SYSTEM_MASTERS] })

/** The chain that the new namespace goes through. */
interface Chain {
  admit(attributes: Attributes): Promise<void>
  validate(attributes: Attributes): Promise<Undo | undefined>
}

export const namespaceAutoProvision = (chain: Chain): AdmissionPlugin => ({
  name: 'NamespaceAutoProvision',
  handles: ({ operation, namespace, kind, dryRun }) =>
    operation === 'CREATE' && namespace !== '' && !dryRun && !(kind.group === '' && kind.kind === 'Namespace'),
  async admit(attributes) {
    const { request, namespace } = attributes
    if ((await namespaceOf(request, namespace)) !== undefined) return
    try {
      await createNamespace(chain, request, namespace)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      if (error.status.reason === 'AlreadyExists') return
      throw error.status.reason === 'Forbidden' ? error : admissionForbidden(attributes, error.message)
    }
  },
})

async function createNamespace(chain: Chain, asked: ApiCall, name: string): Promise<void> {
  // its warnings and its audit are not those of the request
  const request: ApiCall = { ...asked, user: SERVER, warnings: [], record: undefined }
  const entry = builtInServed(request.env).resources.find('', 'v1', 'namespaces')
  if (entry === undefined) throw new Error('assertion failed: namespaces are a resource')
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: '' })
  const object: KubeObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } }
  // an API object is JSON
  applyDefaults(scope.type, object as unknown as JsonObject, { now: request.now, enabled: scope.enabled })
  trackFields(scope, undefined, object, 'kube-apiserver')
  const attributesOf = (written: KubeObject): Attributes => ({
    operation: 'CREATE',
    resource: scope.resource,
    subresource: '',
    kind: scope.kind,
    namespace: name,
    name,
    object: written,
    options: {},
    dryRun: false,
    user: SERVER,
    request,
  })
  await chain.admit(attributesOf(object))
  await createObject(scope, object, { dryRun: false }, (written) => chain.validate(attributesOf(written)))
}
