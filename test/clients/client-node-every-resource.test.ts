// @kubernetes/client-node with every resource in discovery, through the client's API class for it.
import * as k8s from '@kubernetes/client-node'
import type { KubeConfig } from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { minimalObjects } from './minimal-objects.ts'

const NAMESPACE = 'clients'
const objects = minimalObjects(NAMESPACE)

interface Resource {
  readonly groupVersion: string
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}
type Method = (parameters: object) => Promise<k8s.KubernetesObject & { items?: k8s.KubernetesObject[] }>

let server: KedgeProcess
let resources: readonly Resource[]
const config: KubeConfig = new k8s.KubeConfig()
beforeAll(async () => {
  server = await startKedge()
  config.loadFromFile(server.kubeconfig)
  await config.makeApiClient(k8s.CoreV1Api).createNamespace({ body: { metadata: { name: NAMESPACE } } })
  resources = await discover()
})
afterAll(async () => {
  await server.stop()
})

/** Every resource of every group version, as the legacy discovery documents list them; subresources left out. */
async function discover(): Promise<readonly Resource[]> {
  const groups = await config.makeApiClient(k8s.ApisApi).getAPIVersions()
  const versions = ['v1', ...groups.groups.flatMap((group) => group.versions.map((version) => version.groupVersion))]
  const lists = await Promise.all(
    versions.map(async (groupVersion) => {
      const list = await apiOf(groupVersion)['getAPIResources']!({})
      const { resources: all } = list as unknown as k8s.V1APIResourceList // the client's own type of this document
      return all.filter((resource) => !resource.name.includes('/')).map((resource) => ({ ...resource, groupVersion }))
    }),
  )
  return lists.flat()
}

/** `rbac.authorization.k8s.io/v1` is RbacAuthorizationV1Api; the core group is Core. */
function className(groupVersion: string): string {
  const [version = '', group = 'core'] = groupVersion.split('/').reverse()
  const words = [...group.replace(/\.k8s\.io$/, '').split('.'), version]
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + 'Api'
}

/** The methods of an API class by name. */
function apiOf(groupVersion: string): Record<string, Method> {
  const constructors = k8s as unknown as Record<string, k8s.ApiConstructor<k8s.ApiType>> // looked up by name
  const constructor = constructors[className(groupVersion)]
  if (constructor === undefined) throw new Error(`the client has no ${className(groupVersion)}`)
  const api = config.makeApiClient(constructor) as unknown as Record<string, Method>
  return new Proxy(api, { get: (target, name: string) => target[name]?.bind(target) })
}

/** Converts a body to the client's types, where dates are Dates. */
function typed(kind: string, body: object): object {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    kind === 'Event' && key === 'eventTime' ? new k8s.V1MicroTime(String(value)) : value,
  ) as object
}

test('discovery names what the table has, and nothing else that can be created', () => {
  const creatable = resources.filter(({ verbs }) => verbs.includes('create'))
  // A binding needs a pod that waits for a node, so it has no minimal object.
  const named = creatable
    .map(({ groupVersion, name }) => `${groupVersion}/${name}`)
    .filter((id) => id !== 'v1/bindings')
  expect(named.toSorted()).toEqual(Object.keys(objects).toSorted())
})

for (const [id, body] of Object.entries(objects)) {
  test(`${id}: create, list, read, delete`, async () => {
    const groupVersion = id.slice(0, id.lastIndexOf('/'))
    const resource = resources.find((r) => `${r.groupVersion}/${r.name}` === id)
    if (resource === undefined) throw new Error(`discovery does not name ${id}`)
    const api = apiOf(groupVersion)
    const where = resource.namespaced ? { namespace: NAMESPACE } : {}
    const noun = (resource.namespaced ? 'Namespaced' : '') + resource.kind
    const made = await api[`create${noun}`]!({ ...where, body: typed(resource.kind, body) })
    expect(made).toMatchObject({ apiVersion: groupVersion, kind: resource.kind })
    if (!resource.verbs.includes('list')) return // reviews are answers and not stored
    const name = body.metadata?.name
    expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/)
    const list = await api[`list${noun}`]!(where)
    expect(list.kind).toBe(`${resource.kind}List`)
    expect(list.items?.map((item) => item.metadata?.name)).toContain(name)
    const read = await api[`read${noun}`]!({ ...where, name })
    expect(read.metadata).toMatchObject({ uid: made.metadata?.uid })
    await api[`delete${noun}`]!({ ...where, name, gracePeriodSeconds: 0 })
    // Some objects, such as namespaces and volumes, wait for a finalizer first.
    const after = await api[`read${noun}`]!({ ...where, name }).catch((error: unknown) => error)
    const code = (after as { code?: number }).code // a field of the client's ApiException
    if (code !== 404) expect((after as k8s.KubernetesObject).metadata?.deletionTimestamp).toBeDefined()
  })
}
