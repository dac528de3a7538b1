// The server for all cases, and the identities that try. Each has exactly the rights that its line names.
import { createPrivateKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { startKedge } from '../../cli/kedge-process.ts'
import { IDENTITIES } from './row.ts'
import type { Headers, Received, Row, Who } from './row.ts'

interface Access {
  readonly host: string
  readonly port: number
  readonly agent: Agent
  /** The token of the administrator, unless a certificate identifies it. */
  readonly token?: string
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

const READ = ['get', 'list', 'watch']
const RBAC = 'rbac.authorization.k8s.io'
const GRANTS: Rule = {
  apiGroups: [RBAC],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  verbs: [...READ, 'create', 'update', 'patch', 'delete'],
}

const CERTIFICATES: Rule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status'],
  verbs: ['*'],
}
const SIGNERS: Omit<Rule, 'verbs'> = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['signers'],
  resourceNames: ['example.com/x'],
}

/** Rights everywhere; "owner" has all of them in the namespace a alone. */
const RIGHTS: Readonly<Partial<Record<Who, readonly Rule[]>>> = {
  reader: [{ apiGroups: ['*'], resources: ['*'], verbs: READ }],
  watcher: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['watch'] }],
  main: [
    {
      apiGroups: ['', 'apps', 'certificates.k8s.io', 'policy'],
      resources: [
        'pods',
        'serviceaccounts',
        'namespaces',
        'services',
        'nodes',
        'replicationcontrollers',
        'persistentvolumeclaims',
        'deployments',
        'replicasets',
        'statefulsets',
        'certificatesigningrequests',
        'poddisruptionbudgets',
      ],
      verbs: ['*'],
    },
  ],
  granter: [GRANTS, { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
  binder: [
    GRANTS,
    { apiGroups: [RBAC], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['hostile-reader'] },
  ],
  escalator: [GRANTS, { apiGroups: [RBAC], resources: ['roles'], verbs: ['escalate'] }],
  impersonator: [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['alice'] },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['developers'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'], resourceNames: ['nobody'] },
    {
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes'],
      verbs: ['impersonate'],
      resourceNames: ['view'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['uids'], verbs: ['impersonate'], resourceNames: ['u-1'] },
  ],
  scraper: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  signer: [
    CERTIFICATES,
    { apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: ['*'], resourceNames: ['example.com/*'] },
  ],
  approver: [CERTIFICATES, { ...SIGNERS, verbs: ['approve'] }],
  issuer: [CERTIFICATES, { ...SIGNERS, verbs: ['sign'] }],
}

export class World {
  readonly access: Access
  readonly isKedge = !process.env['HOSTILE_KUBECONFIG']
  /** Signs service accounts' tokens. */
  readonly signingKey: KeyObject
  readonly #tokens = new Map<Who, string>()
  readonly #end: () => Promise<unknown>

  private constructor(access: Access, signingKey: KeyObject, end: () => Promise<unknown>) {
    this.access = access
    this.signingKey = signingKey
    this.#end = end
  }

  /**
   * Starts a new Kedge, or uses the kube-apiserver of $HOSTILE_KUBECONFIG with the key $HOSTILE_SA_KEY (PEM). The cases
   * hold for both.
   * @param flags of Kedge; a kube-apiserver has to have them already
   */
  static async start(...flags: readonly string[]): Promise<World> {
    const kubeconfig = process.env['HOSTILE_KUBECONFIG']
    if (kubeconfig) {
      const key = createPrivateKey(readFileSync(process.env['HOSTILE_SA_KEY'] ?? '', 'utf8'))
      return new World(accessOf(kubeconfig), key, () => Promise.resolve())
    }
    return World.startIn(mkdtempSync(join(tmpdir(), 'kedge-hostile-')), ...flags)
  }

  /** Starts a Kedge on a data directory that may have data already. The directory is deleted at the end. */
  static async startIn(directory: string, ...flags: readonly string[]): Promise<World> {
    const server = await startKedge(['--data-dir', directory, '--port', '0', ...flags])
    const jwk = readFileSync(join(directory, 'pki/service-account.jwk'), 'utf8')
    // Kedge has written the file
    const key = createPrivateKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' })
    return new World(accessOf(server.kubeconfig), key, async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    })
  }

  async stop(): Promise<void> {
    this.access.agent.destroy()
    await this.#end()
  }

  headersOf(who: Who): Headers {
    if (who === 'anonymous') return {}
    const token = this.#tokens.get(who)
    if (token !== undefined) return { Authorization: `Bearer ${token}` }
    const admin: Headers = this.access.token ? { Authorization: `Bearer ${this.access.token}` } : {}
    return who === 'node'
      ? { ...admin, 'Impersonate-User': 'system:node:n1', 'Impersonate-Group': 'system:nodes' }
      : admin
  }

  tokenOf(who: Who): string {
    const token = this.#tokens.get(who)
    if (token === undefined) throw new Error(`${who} has no token`)
    return token
  }

  async run(row: Row): Promise<Received> {
    const { headers, body, query = '' } = (typeof row.sent === 'function' ? await row.sent(this) : row.sent) ?? {}
    const space = row.request.indexOf(' ')
    return this.send(row.who, row.request.slice(0, space), row.request.slice(space + 1) + query, body, headers)
  }

  send(who: Who, method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Received> {
    const content = bytesOf(body)
    const all = {
      ...(content ? { 'Content-Type': 'application/json', 'Content-Length': String(content.length) } : {}),
      ...this.headersOf(who),
      ...headers,
    }
    const certificate = (who === 'admin' || who === 'node') && !this.access.token
    const { host, port } = this.access
    const agent = certificate ? this.access.agent : this.#plain
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host, port, agent, method, path, headers: mutable(all), rejectUnauthorized: false },
        (answer) => {
          let text = ''
          const done = (): void => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text })
          answer.setEncoding('utf8')
          // the first event of a watch shows that the server accepted it
          answer
            .on('data', (part: string) => (text += part))
            .on('end', done)
            .on('close', done)
            .on('error', done)
        },
      )
      // the server accepted the WebSocket
      outgoing.on('upgrade', ({ headers }, socket) => {
        socket.destroy()
        resolve({ status: 101, headers, text: '' })
      })
      outgoing.on('error', reject).end(content)
    })
  }
  readonly #plain = new Agent({ keepAlive: true, rejectUnauthorized: false })

  /** Sends the object as the administrator, and throws unless the request succeeds. */
  async make(path: string, object: object, method = 'POST'): Promise<Record<string, never>> {
    const { status, text } = await this.send('admin', method, path, object)
    if (status >= 300 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Record<string, never> // an object of the API
  }

  async token(namespace: string, name: string, spec: object = {}): Promise<string> {
    const made = await this.make(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, { spec })
    return (made as unknown as { status: { token: string } }).status.token // a TokenRequest that was granted
  }

  async prepare(): Promise<void> {
    for (const name of ['a', 'b']) {
      await this.make('/api/v1/namespaces', { metadata: { name } })
      await this.make(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'one' }, data: { k: name } })
      for (const secret of ['one', 'two'])
        await this.make(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: secret }, stringData: { k: name } })
      await this.make(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } })
    }
    for (const who of IDENTITIES) {
      if (['admin', 'anonymous', 'node'].includes(who)) continue
      await this.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: who } })
      await this.#grant(who, RIGHTS[who] ?? [])
      this.#tokens.set(who, await this.token('a', who))
    }
    const rbac = `/apis/${RBAC}/v1`
    const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
    await this.make(`${rbac}/namespaces/a/roles`, { metadata: { name: 'owner' }, rules: [all] })
    await this.make(`${rbac}/namespaces/a/rolebindings`, {
      metadata: { name: 'owner' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'owner' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'a', name: 'owner' }],
    })
    for (const name of ['n1', 'n2']) {
      await this.make('/api/v1/nodes', { metadata: { name } })
      await this.make('/api/v1/namespaces/a/pods', {
        metadata: { name: `pod-${name}` },
        spec: {
          nodeName: name,
          serviceAccountName: 'default',
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'i' }],
        },
      })
    }
    await this.make('/api/v1/namespaces/a/pods', {
      metadata: { name: 'unbound' },
      spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
    })
    // the authorizer of kube-apiserver sees a grant when its informer does
    for (let tries = 0; tries < 600; tries++) {
      const { status } = await this.send('owner', 'GET', '/api/v1/namespaces/a/secrets/one')
      if (status === 200) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('the owner of a namespace got no rights')
  }

  async #grant(who: Who, rules: readonly Rule[]): Promise<void> {
    if (rules.length === 0) return
    const name = `hostile-${who}`
    await this.make(`/apis/${RBAC}/v1/clusterroles`, { metadata: { name }, rules })
    await this.make(`/apis/${RBAC}/v1/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'a', name: who }],
    })
  }
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const mutable = (headers: Headers): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, typeof v === 'string' ? v : [...v]]))

function accessOf(kubeconfig: string): Access {
  // A kubeconfig with one user, who has a token or files of a certificate.
  const config = load(readFileSync(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: { server: string } }]
    users: [{ user: { token?: string; 'client-certificate'?: string; 'client-key'?: string } }]
  }
  const { hostname, port } = new URL(config.clusters[0].cluster.server)
  const { token, 'client-certificate': cert, 'client-key': key } = config.users[0].user
  const files = cert && key ? { cert: readFileSync(cert), key: readFileSync(key) } : {}
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, ...files })
  return { host: hostname, port: Number(port), agent, ...(token ? { token } : {}) }
}
