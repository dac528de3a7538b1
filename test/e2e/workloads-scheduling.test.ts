// Who is scheduled where and when, with kubectl: priorities, gates, volumes; and Services that are load balancers.
import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '1')

const apply = (...items: readonly object[]) =>
  kubectl.run('apply -f -', JSON.stringify({ kind: 'List', apiVersion: 'v1', items }))

const pod = (name: string, cpu: string, spec: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu } } }], ...spec },
})

const get = (what: string, path: string) => kubectl.run(`get ${what} -o jsonpath={${path}}`)

test('a pod of higher priority gets the place of another', async () => {
  await apply(
    { kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name: 'high' }, value: 1000 },
    pod('low', '6'),
  )
  await kubectl.run('wait --for=condition=Ready pod/low --timeout=180s')
  await apply(pod('high', '6', { priorityClassName: 'high' }))
  await kubectl.run('wait --for=condition=Ready pod/high --timeout=180s')
  expect(await kubectl.run('get pod low --ignore-not-found -o name')).toBe('')
  await eventually(async () =>
    expect(await kubectl.run('get events --field-selector reason=Preempted')).toContain('pod/low'),
  )
  await kubectl.run('delete pod high')
})

test('a pod with a gate waits for it', async () => {
  await apply(pod('gated', '1', { schedulingGates: [{ name: 'example.com/wait' }] }))
  expect(await get('pod gated', '.spec.nodeName')).toBe('')
  await kubectl.runArgs([
    'patch',
    'pod',
    'gated',
    '--type=json',
    '-p',
    '[{"op":"remove","path":"/spec/schedulingGates"}]',
  ])
  await kubectl.run('wait --for=condition=Ready pod/gated --timeout=180s')
})

test('a claim gets its volume with its first consumer', async () => {
  await apply(
    {
      kind: 'StorageClass',
      apiVersion: 'storage.k8s.io/v1',
      metadata: { name: 'simulated' },
      provisioner: 'kedge.dev/simulated',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'data' },
      spec: {
        storageClassName: 'simulated',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
  )
  await eventually(async () => expect(await kubectl.run('describe pvc data')).toContain('waiting for first consumer'))
  await apply(pod('mounting', '1', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }))
  await kubectl.run('wait --for=condition=Ready pod/mounting --timeout=180s')
  expect(await get('pvc data', '.status.phase')).toBe('Bound')
  expect(await get('pv', '.items[*].status.phase')).toBe('Bound')
  await kubectl.run('delete pod/mounting pvc/data')
  await eventually(async () => expect(await kubectl.run('get pv -o name')).toBe(''))
})

test('a load balancer has an address, which goes with it', async () => {
  await kubectl.run('create service loadbalancer web --tcp=80')
  await eventually(async () =>
    expect(await get('service web', '.status.loadBalancer.ingress[0].ip')).toBe('198.18.0.1'),
  )
  await kubectl.run('delete service web --timeout=180s')
})
