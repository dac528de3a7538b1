// Machines join with the real kubeadm and kubelet, with a container runtime that runs no containers.
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { ask } from '../../src/cli/ask.ts'
import { serverOf } from '../../src/cli/commands/backup.ts'
import { issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { Machine, findTools } from './kubeadm/machine.ts'

const tools = findTools()
const isMissing = typeof tools === 'string'
const title = (what: string): string => (isMissing ? `${what} (skipped: ${tools})` : what)
const LIMIT = 240_000

const data = join(mkdtempSync(join(tmpdir(), 'kedge-kubeadm-')), 'data')
let kedge: KedgeProcess
beforeAll(async () => {
  if (!isMissing) kedge = await startKedge(['--port', '0', '--data-dir', data])
})
afterAll(() => kedge?.stop())

let machine: Machine | undefined
afterEach(async () => {
  await machine?.end()
  machine = undefined
})
async function newMachine(name: string): Promise<Machine> {
  if (isMissing) throw new Error(tools)
  return (machine = await Machine.start(tools, name))
}

const get = async (path: string): Promise<any> => ask(serverOf(join(data, 'kubeconfig')), 'GET', path, undefined, [404])
const tokenCreate = async (...args: string[]): Promise<string> =>
  (
    await promisify(execFile)(process.execPath, [LAUNCHER, 'token', 'create', '--data-dir', data, ...args])
  ).stdout.trim()

/** Kubelet settings that work on this machine whatever its control groups and ports are. */
const CONFIGURATION = {
  cgroupDriver: 'cgroupfs',
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failCgroupV1: false,
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  port: 20_250 + (process.pid % 10_000),
  healthzPort: 31_250 + (process.pid % 10_000),
}

const isReady = ({ type, status }: { type: string; status: string }): boolean => type === 'Ready' && status === 'True'
/** A registered machine has a Node object, a Lease, and a certificate that the server signed. */
async function expectRegistered({ name, log, clientCertificate }: Machine): Promise<void> {
  await eventually(async () => {
    const node = await get(`/api/v1/nodes/${name}`)
    expect(node?.status?.conditions?.some(isReady), readFileSync(log, 'utf8').slice(-3000)).toBe(true)
    const lease = await get(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`)
    expect(lease?.spec?.holderIdentity).toBe(name)
  })
  const certificate = new X509Certificate(clientCertificate)
  expect(certificate.subject.split('\n').sort()).toEqual([`CN=system:node:${name}`, 'O=system:nodes'])
  const authority = new X509Certificate(readFileSync(join(data, 'pki/ca.crt')))
  expect(certificate.verify(authority.publicKey)).toBe(true)
}

interface Request {
  readonly spec: { readonly username: string; readonly signerName: string }
  readonly status: { readonly conditions?: { readonly type: string }[]; readonly certificate?: string }
}
/** The number of approved and signed certificate requests of a user. */
async function signedFor(username: string): Promise<number> {
  const { items }: { items: Request[] } = await get('/apis/certificates.k8s.io/v1/certificatesigningrequests')
  return items.filter(
    ({ spec, status }) =>
      spec.username === username &&
      spec.signerName === 'kubernetes.io/kube-apiserver-client-kubelet' &&
      status.conditions?.[0]?.type === 'Approved' &&
      status.certificate !== undefined,
  ).length
}

const DAY = 86_400_000

/** A client certificate of the node near its expiry, so that the kubelet renews it. */
async function nearlyOver({ name }: Machine): Promise<string> {
  const read = (file: string): string => readFileSync(join(data, 'pki', file), 'utf8')
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const began = new Date(Date.now() - 9.7 * DAY)
  const authority = { certificate: read('ca.crt'), key: read('ca.key') }
  const { certificate, key } = await issue(authority, { subject, usage: 'client', days: 10 }, began)
  return certificate + key
}

test.skipIf(isMissing)(
  title('kubeadm join by token; the kubelet is certified, registers, and renews its certificate'),
  async () => {
    const [program, verb, ...args] = (await tokenCreate('--print-join-command')).split(' ')
    expect([program, verb]).toEqual(['kubeadm', 'join'])
    const node = await newMachine('by-token')
    const { code, output } = await node.join(args, CONFIGURATION)
    expect(code, output).toBe(0)
    expect(output).toContain('This node has joined the cluster')
    await expectRegistered(node)
    const [id] = (args[args.indexOf('--token') + 1] ?? '').split('.')
    expect(await signedFor(`system:bootstrap:${id}`)).toBe(1)

    await node.stopKubelet()
    const old = await nearlyOver(node)
    node.clientCertificate = old
    node.startKubelet()
    await eventually(() => expect(node.clientCertificate).not.toBe(old))
    // the kubelet authenticates as the node, not with the bootstrap token
    expect(await signedFor('system:node:by-token')).toBe(1)
    await expectRegistered(node)
  },
  LIMIT,
)

test.skipIf(isMissing)(
  title('kubeadm join by file'),
  async () => {
    const token = await tokenCreate('--ttl', '1h')
    const { data: info } = await get('/api/v1/namespaces/kube-public/configmaps/cluster-info')
    const node = await newMachine('by-file')
    const file = join(mkdtempSync(join(tmpdir(), 'kedge-discovery-')), 'cluster-info.conf')
    writeFileSync(file, info.kubeconfig)
    const { code, output } = await node.join(['--discovery-file', file, '--tls-bootstrap-token', token], CONFIGURATION)
    expect(code, output).toBe(0)
    await expectRegistered(node)
  },
  LIMIT,
)

test.skipIf(isMissing)(
  title('kubeadm join does not trust another CA than the one that it was told'),
  async () => {
    const args = (await tokenCreate('--print-join-command')).split(' ').slice(2)
    const wrong = args.map((arg) => (arg.startsWith('sha256:') ? `sha256:${'0'.repeat(64)}` : arg))
    const node = await newMachine('deceived')
    const { code, output } = await node.join(wrong, {})
    expect(code).not.toBe(0)
    expect(output).toContain('are pinned')
    expect(await get('/api/v1/nodes/deceived')).toBeUndefined()
  },
  LIMIT,
)

test.skipIf(isMissing)(
  title('a kubelet alone registers by TLS bootstrapping'),
  async () => {
    const token = await tokenCreate()
    const node = await newMachine('alone')
    const { kubeconfig } = (await get('/api/v1/namespaces/kube-public/configmaps/cluster-info')).data
    const { clusters } = JSON.parse(kubeconfig)
    const bootstrap = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...clusters[0], name: 'kedge' }],
      users: [{ name: 'token', user: { token } }],
      contexts: [{ name: 'token', context: { cluster: 'kedge', user: 'token' } }],
      'current-context': 'token',
    }
    node.write('/etc/kubernetes/bootstrap-kubelet.conf', JSON.stringify(bootstrap))
    const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
    const authentication = { x509: { clientCAFile: join(data, 'pki/ca.crt') } }
    node.write(
      '/var/lib/kubelet/config.yaml',
      JSON.stringify({ ...kind, ...CONFIGURATION, authentication, rotateCertificates: true }),
    )
    node.startKubelet()
    await eventually(() => expect(node.clientCertificate).not.toBe(''))
    await expectRegistered(node)
    expect(await signedFor(`system:bootstrap:${token.split('.')[0]}`)).toBe(1)
  },
  LIMIT,
)
