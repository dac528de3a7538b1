/** A server in memory with policies, and the admission attributes of requests to it. */
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import type { AdmissionPlugin, Attributes } from '../../../src/admission/attributes.ts'
import type { MemoryServer } from '../../request-in-memory.ts'
import { memoryServer } from '../../request-in-memory.ts'

export const CONFIG_MAPS: JsonObject = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
  matchPolicy: 'Equivalent',
}

export interface Given {
  /** The `spec` of policies by name. Policies without matchConstraints match ConfigMaps. */
  readonly policies?: Readonly<Record<string, JsonObject>>
  /** The `spec` of bindings by name. If absent, each policy has a binding with Deny. */
  readonly bindings?: Readonly<Record<string, JsonObject>>
  /** `RESOURCE.GROUP`, or `RESOURCE`: objects. */
  readonly objects?: Readonly<Record<string, readonly (KubeObject & JsonObject)[]>>
}

export async function policyServer(
  type: 'validating' | 'mutating',
  { policies = {}, bindings, objects = {} }: Given,
  settings: Parameters<typeof memoryServer>[0] = {},
): Promise<MemoryServer> {
  const server = memoryServer(settings)
  const group = 'admissionregistration.k8s.io'
  for (const [name, spec] of Object.entries(policies)) {
    const metadata = { name, generation: 1 }
    const whole = { matchConstraints: CONFIG_MAPS, failurePolicy: 'Fail', ...spec }
    await server.put(group, `${type}admissionpolicies`, { metadata, spec: whole })
  }
  const bound: Readonly<Record<string, JsonObject>> =
    bindings ??
    Object.fromEntries(
      Object.keys(policies).map((policyName) => [`${policyName}-b`, { policyName, validationActions: ['Deny'] }]),
    )
  for (const [name, spec] of Object.entries(bound))
    await server.put(group, `${type}admissionpolicybindings`, { metadata: { name }, spec })
  await server.put('', 'namespaces', { metadata: { name: 'blue', labels: { colour: 'blue' } } })
  for (const [resource, list] of Object.entries(objects)) {
    const [name = '', ...rest] = resource.split('.')
    for (const object of list) await server.put(rest.join('.'), name, object)
  }
  return server
}

export const configMap = (more: JsonObject = {}): KubeObject & JsonObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'blue' },
  ...more,
})

export function attributesOf(server: MemoryServer, more: Partial<Attributes> = {}): Attributes {
  const request = { ...server.request('/'), user: { name: 'eve', uid: '', groups: ['dev'], extra: {} } }
  return {
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    subresource: '',
    namespace: 'blue',
    name: 'a',
    object: configMap({ data: { a: 'b' } }),
    options: {},
    dryRun: false,
    user: request.user,
    request,
    ...more,
  }
}

/** Runs the plugin as the chain does. */
export async function run(plugin: AdmissionPlugin, attributes: Attributes): Promise<void> {
  if (!plugin.handles(attributes)) return
  await plugin.admit?.(attributes)
  await plugin.validate?.(attributes)
}
