// Publishes the objects that nodes need to join, as `kubeadm init` does, and makes tokens for them (`kubeadm join`,
// kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details).
import { createHash, createPublicKey, randomInt } from 'node:crypto'
import * as z from 'zod/mini'
import { ask } from '../ask.ts'
import type { Server } from './backup.ts'
import { checked } from '../checked.ts'
import { pemBlocks, pemText } from '../../x509/pem.ts'

const KUBERNETES_VERSION = 'v1.36.3'
/** kubeadm's group for users of bootstrap tokens. */
const JOINING = 'system:bootstrappers:kubeadm:default-node-token'
const NODES = 'system:nodes'

const CREATED = 201
const NOT_FOUND = 404
const EXISTS = 409

export interface Joining {
  /** HOST:PORT at which nodes reach the server. */
  readonly endpoint: string
  /** Seconds; 0 means forever. */
  readonly seconds: number
  readonly description: string
}

/** @returns the token */
export async function createBootstrapToken(server: Server, joining: Joining, now: Date): Promise<string> {
  await publish(server, joining.endpoint)
  const [id, secret] = [randomText(6), randomText(16)]
  const ends = new Date(now.getTime() + joining.seconds * 1000)
  const token = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': JOINING,
      ...(joining.seconds === 0 ? {} : { expiration: `${ends.toISOString().slice(0, 19)}Z` }),
      ...(joining.description === '' ? {} : { description: joining.description }),
    },
  }
  await ask(server, 'POST', '/api/v1/namespaces/kube-system/secrets', token, [CREATED])
  return `${id}.${secret}`
}

/** The command with the CA's hash, so that `kubeadm join` trusts no other CA. */
export function joinCommand({ authority }: Server, endpoint: string, token: string): string {
  const hashes = certificatesIn(authority).map((pem) => {
    const key = createPublicKey(pem).export({ type: 'spki', format: 'der' })
    return ` --discovery-token-ca-cert-hash sha256:${createHash('sha256').update(key).digest('hex')}`
  })
  return `kubeadm join ${endpoint} --token ${token}${hashes.join('')}`
}

const certificatesIn = (pem: string): string[] =>
  pemBlocks(pem)
    .filter(({ type }) => type === 'CERTIFICATE')
    .map(({ type, bytes }) => pemText(type, bytes))

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const randomText = (length: number): string => Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** Creates the objects. Existing ones stay, except for the address and the CA in cluster-info. */
async function publish(server: Server, endpoint: string): Promise<void> {
  const networking = await networkOf(server)
  for (const [path, object] of [
    ...roles(),
    configMap('kubeadm-config', { ClusterConfiguration: JSON.stringify(clusterConfiguration(endpoint, networking)) }),
    configMap('kubelet-config', { kubelet: JSON.stringify(kubeletConfiguration(networking.dnsAddress)) }),
  ])
    await ask(server, 'POST', path, object, [CREATED, EXISTS])
  await publishClusterInfo(server, endpoint)
}

interface Network {
  readonly serviceSubnet: string
  readonly dnsAddress: string
}

const serviceCidr = z.object({ spec: z.object({ cidrs: z.array(z.string()) }) })

async function networkOf(server: Server): Promise<Network> {
  const path = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes'
  const { cidrs } = checked(serviceCidr, await ask(server, 'GET', path), path).spec
  return { serviceSubnet: cidrs.join(','), dnsAddress: tenthAddress(cidrs[0] ?? '') }
}

/** The conventional address of cluster DNS: the tenth of the range. */
function tenthAddress(cidr: string): string {
  const address = cidr.slice(0, cidr.indexOf('/'))
  if (address.includes(':')) return `${address.replace(/::$/, '')}::a`
  const [a, b, c, d] = address.split('.').map(Number)
  return [a, b, c, (d ?? 0) + 10].join('.')
}

/** kubeadm.k8s.io/v1beta4. */
const clusterConfiguration = (controlPlaneEndpoint: string, { serviceSubnet }: Network) => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  kubernetesVersion: KUBERNETES_VERSION,
  controlPlaneEndpoint,
  networking: { dnsDomain: 'cluster.local', serviceSubnet },
})

/** kubelet.config.k8s.io/v1beta1 as kubeadm writes it: absent fields have their defaults. */
const kubeletConfiguration = (dnsAddress: string) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
  },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'systemd',
  clusterDNS: [dnsAddress],
  clusterDomain: 'cluster.local',
  healthzBindAddress: '127.0.0.1',
  healthzPort: 10248,
  rotateCertificates: true,
  staticPodPath: '/etc/kubernetes/manifests',
})

type Written = readonly [path: string, object: object]

const configMap = (name: string, data: Record<string, string>, namespace = 'kube-system'): Written => [
  `/api/v1/namespaces/${namespace}/configmaps`,
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data },
]

const RBAC = 'rbac.authorization.k8s.io'
const group = (name: string) => ({ apiGroup: RBAC, kind: 'Group', name })

function binding(name: string, role: string, subjects: readonly object[], namespace?: string): Written {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  const object = {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: RBAC, kind, name: role },
    subjects,
  }
  return [`${rbacPath(namespace)}/${kind.toLowerCase()}bindings`, object]
}

const rbacPath = (namespace: string | undefined): string =>
  `/apis/${RBAC}/v1${namespace === undefined ? '' : `/namespaces/${namespace}`}`

/** A role that may read one object, or all of a resource, with its subjects. */
function reading(name: string, resource: string, subjects: readonly object[], namespace?: string, object?: string) {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  const rule = {
    apiGroups: [''],
    resources: [resource],
    verbs: ['get'],
    ...(object === undefined ? {} : { resourceNames: [object] }),
  }
  const role: Written = [
    `${rbacPath(namespace)}/${kind.toLowerCase()}s`,
    {
      apiVersion: `${RBAC}/v1`,
      kind,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
      rules: [rule],
    },
  ]
  return [role, binding(name, name, subjects, namespace)]
}

/** They have kubeadm's names, so that kubeadm finds them. */
function roles(): Written[] {
  const both = [group(JOINING), group(NODES)]
  const anybody = [{ apiGroup: RBAC, kind: 'User', name: 'system:anonymous' }]
  const requests = 'system:certificates.k8s.io:certificatesigningrequests'
  return [
    ...reading('kubeadm:get-nodes', 'nodes', [group(JOINING)]),
    ...reading('kubeadm:nodes-kubeadm-config', 'configmaps', both, 'kube-system', 'kubeadm-config'),
    ...reading('kubeadm:kubelet-config', 'configmaps', both, 'kube-system', 'kubelet-config'),
    ...reading('kubeadm:bootstrap-signer-clusterinfo', 'configmaps', anybody, 'kube-public', 'cluster-info'),
    binding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', [group(JOINING)]),
    binding('kubeadm:node-autoapprove-bootstrap', `${requests}:nodeclient`, [group(JOINING)]),
    binding('kubeadm:node-autoapprove-certificate-rotation', `${requests}:selfnodeclient`, [group(NODES)]),
  ]
}

const stored = z.optional(z.looseObject({ data: z.optional(z.record(z.string(), z.string())) }))

/** A kubeconfig without a user. The bootstrap signer signs it for each token. */
async function publishClusterInfo(server: Server, endpoint: string): Promise<void> {
  const cluster = {
    server: `https://${endpoint}`,
    'certificate-authority-data': Buffer.from(server.authority).toString('base64'),
  }
  const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] })
  const [path, fresh] = configMap('cluster-info', { kubeconfig }, 'kube-public')
  const at = `${path}/cluster-info`
  const known = checked(stored, await ask(server, 'GET', at, undefined, [NOT_FOUND]), at)
  if (known === undefined) await ask(server, 'POST', path, fresh, [CREATED])
  else if (known.data?.['kubeconfig'] !== kubeconfig)
    await ask(server, 'PUT', at, { ...known, data: { ...known.data, kubeconfig } })
}
