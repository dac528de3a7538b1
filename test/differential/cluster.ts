/** One control plane, Kedge's or another: reads and writes of the scenarios. */
import { ApiClient } from '../e2e/api-client.ts'
import type { Answer } from '../e2e/api-client.ts'
import { Session } from '../e2e/session.ts'
import type { KubeObject, State } from './normal-form.ts'
import { stateOf } from './normal-form.ts'
import type { Action, Manifest, Scenario, Target } from './scenario.ts'
import { actionsOf } from './scenario.ts'

/** The kinds whose objects are compared. */
const COMPARED = [
  'v1/pods',
  'v1/endpoints',
  'v1/replicationcontrollers',
  'v1/persistentvolumeclaims',
  'v1/services',
  'apps/v1/deployments',
  'apps/v1/replicasets',
  'apps/v1/statefulsets',
  'apps/v1/daemonsets',
  'apps/v1/controllerrevisions',
  'batch/v1/jobs',
  'batch/v1/cronjobs',
  'discovery.k8s.io/v1/endpointslices',
  'policy/v1/poddisruptionbudgets',
  'autoscaling/v2/horizontalpodautoscalers',
  'resource.k8s.io/v1/resourceclaims',
]
const CLUSTER_WIDE = new Set([
  'Node',
  'PriorityClass',
  'PersistentVolume',
  'StorageClass',
  'DeviceClass',
  'ResourceSlice',
])

const groupPath = (groupVersion: string): string =>
  groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`

const pluralOf = (kind: string): string => {
  const name = kind.toLowerCase()
  return name.endsWith('s')
    ? name.endsWith('ss')
      ? `${name}es`
      : name
    : name.endsWith('y')
      ? `${name.slice(0, -1)}ies`
      : `${name}s`
}

export class Cluster {
  readonly #api: ApiClient
  constructor(private readonly kubeconfig: string) {
    this.#api = new ApiClient(kubeconfig)
  }

  close(): void {
    this.#api.close()
  }

  /** Sends it; throws with the answer where that is an error other than `except`. */
  async send(method: string, path: string, body?: unknown, except: readonly number[] = []): Promise<Answer['body']> {
    const { status, body: answer } = await this.#api.send(method, path, body)
    if (status >= 400 && !except.includes(status)) throw new Error(`${method} ${path}: ${status} ${answer.message}`)
    return answer
  }

  async list(path: string): Promise<readonly KubeObject[]> {
    const {
      items = [],
      apiVersion,
      kind = '',
    } = (await this.send('GET', path)) as Answer['body'] & {
      readonly apiVersion?: string
    }
    return items.map((item) => ({ apiVersion, kind: kind.replace(/List$/, ''), ...item }) as unknown as KubeObject)
  }

  async state(namespace: string, { comparesNodes = false, byChance = [] }: Scenario): Promise<State> {
    const lists = await Promise.all(
      COMPARED.map((resource) => {
        const end = resource.lastIndexOf('/')
        return this.list(`${groupPath(resource.slice(0, end))}/namespaces/${namespace}/${resource.slice(end + 1)}`)
      }),
    )
    const events = await this.list(`/api/v1/namespaces/${namespace}/events`)
    return stateOf(lists.flat(), events, { comparesNodes, namespace, byChance })
  }

  async namespaces(): Promise<string[]> {
    return (await this.list('/api/v1/namespaces')).map(({ metadata }) => metadata.name ?? '')
  }

  /** Makes the namespace, and waits for what every namespace has. */
  async begin(namespace: string, { namespaceLabels }: Scenario): Promise<void> {
    const metadata = { name: namespace, ...(namespaceLabels === undefined ? {} : { labels: namespaceLabels }) }
    await this.send('POST', '/api/v1/namespaces', { metadata })
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
    for (let tries = 0; (await this.#api.send('GET', account)).status !== 200; tries++) {
      if (tries > 300) throw new Error(`${namespace} has no service account`)
      await pause(100)
    }
  }

  async end(namespace: string, { steps }: Scenario): Promise<void> {
    await this.send('DELETE', `/api/v1/namespaces/${namespace}`, undefined, [404, 409])
    for (const action of steps.flatMap(actionsOf))
      if ('createGlobal' in action)
        for (const manifest of action.createGlobal)
          await this.send('DELETE', `${collectionOf(manifest, namespace)}/${manifest.metadata.name}`, undefined, [404])
  }

  async act(action: Action, namespace: string): Promise<void> {
    if ('create' in action) for (const manifest of action.create) await this.#create(manifest, namespace)
    else if ('createGlobal' in action)
      for (const manifest of action.createGlobal) await this.#create(manifest, namespace)
    else if ('patch' in action) await this.patch(await this.#pathOf(action.patch, namespace), action.with)
    else if ('patchGlobal' in action) await this.patch(await this.#pathOf(action.patchGlobal, undefined), action.with)
    else if ('delete' in action)
      await this.send('DELETE', await this.#pathOf(action.delete, namespace), {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: action.propagation ?? 'Background',
        ...(action.graceSeconds === undefined ? {} : { gracePeriodSeconds: action.graceSeconds }),
      })
    else if ('deleteGlobal' in action) await this.send('DELETE', await this.#pathOf(action.deleteGlobal, undefined))
    else if ('post' in action) await this.#api.send('POST', await this.#pathOf(action.post, namespace), action.body)
    else {
      const kubectl = new Session(this.kubeconfig)
      kubectl.namespace = namespace
      await kubectl.run(action.kubectl).finally(() => kubectl.close())
    }
  }

  async #create(manifest: Manifest, namespace: string): Promise<void> {
    await this.send('POST', collectionOf(manifest, namespace), manifest)
    const { status } = manifest as { readonly status?: unknown }
    if (status !== undefined)
      await this.patch(`${collectionOf(manifest, namespace)}/${manifest.metadata.name}/status`, { status })
    if (manifest.kind === 'Node') await this.#nodeIsReady(manifest.metadata.name)
  }

  /** The recorder waited until nothing changed any more; without this a Pod may come before the Node can take it. */
  async #nodeIsReady(name: string): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      const node = (await this.send('GET', `/api/v1/nodes/${name}`)) as unknown as NodeOfCluster
      const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
      if (isReady === true && !node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready')) return
      await pause(100)
    }
    throw new Error(`${name} does not get ready`)
  }

  async patch(path: string, patch: unknown): Promise<void> {
    const response = await this.#api.open('PATCH', path, patch, { 'Content-Type': 'application/merge-patch+json' })
    response.resume()
    if ((response.statusCode ?? 500) >= 400) throw new Error(`PATCH ${path}: ${response.statusCode}`)
  }

  async #pathOf(target: Target, namespace: string | undefined): Promise<string> {
    const parts = target.split('/')
    const version = parts.findIndex((part) => /^v\d/.test(part)) + 1
    const [resource = '', name = '', ...rest] = parts.slice(version)
    const place = namespace === undefined ? '' : `/namespaces/${namespace}`
    const collection = `${groupPath(parts.slice(0, version).join('/'))}${place}/${resource}`
    const [pattern = '', label] = name.split('?')
    const found = pattern.includes('*') ? await this.#first(collection, pattern, label) : name
    return [collection, found, ...rest].filter((part) => part !== '').join('/')
  }

  async #first(collection: string, pattern: string, label = ''): Promise<string> {
    const [start = ''] = pattern.split('*')
    const names = (await this.list(`${collection}?labelSelector=${encodeURIComponent(label)}`))
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith(start))
    const [first] = names.sort()
    if (first === undefined) throw new Error(`nothing is called ${pattern} in ${collection}`)
    return first
  }
}

interface NodeOfCluster {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const collectionOf = ({ apiVersion, kind }: Manifest, namespace: string): string =>
  `${groupPath(apiVersion)}${CLUSTER_WIDE.has(kind) ? '' : `/namespaces/${namespace}`}/${pluralOf(kind)}`

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** As many at once as given, in order. */
export async function atOnce<Item>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: most }, worker))
}
