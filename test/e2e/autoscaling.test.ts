// kubectl top and kubectl autoscale on simulated nodes.
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '1')
const container = (name: string) => ({ name, image: 'nginx', resources: { requests: { cpu: '100m', memory: '64Mi' } } })
const deployment = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: {
        labels: { app: 'web' },
        annotations: { 'kedge.dev/usage-cpu': '90m', 'kedge.dev/usage-memory.side': '1Gi' },
      },
      spec: { containers: [container('main'), container('side')] },
    },
  },
}

beforeAll(async () => {
  if (findKubectlOrNot().kubectl === undefined) return // and every test is skipped
  await kubectl.run('apply -f -', JSON.stringify(deployment))
  await kubectl.run('wait deployment/web --for=condition=Available --timeout=180s')
})

test('kubectl top nodes', async () => {
  expect(await kubectl.run('top nodes')).toMatch(/^NAME +CPU\(cores\).*\nnode-1 +180m +2% +1056Mi +3%/)
})

test('kubectl top pods', async () => {
  expect(await kubectl.run('top pods')).toMatch(/^NAME +CPU\(cores\).*\nweb-\S+ +180m +1056Mi/)
  expect(await kubectl.run('top pods -l app=web --all-namespaces --no-headers')).toMatch(/^default +web-\S+ +180m/)
  expect(await kubectl.run('top pods --containers --no-headers')).toMatch(
    /^web-\S+ +main +90m +32Mi +\nweb-\S+ +side +90m +1024Mi/,
  )
})

test('a user with the role view sees the metrics of pods, and not those of nodes', async () => {
  await kubectl.run('create rolebinding viewer --clusterrole=view --user=jane')
  const may = async (what: string) => (await kubectl.try(['auth', 'can-i', ...what.split(' '), '--as=jane'])).stdout
  await eventually(async () => expect(await may('list pods.metrics.k8s.io')).toBe('yes\n'))
  expect((await kubectl.try(['top', 'nodes', '--as=jane'])).stderr).toContain('nodes.metrics.k8s.io is forbidden')
})

test('kubectl autoscale', async () => {
  await kubectl.run('autoscale deployment web --cpu=50% --min=1 --max=3')
  await eventually(async () =>
    expect(await kubectl.run('get deployment web -o jsonpath={.status.readyReplicas}')).toBe('3'),
  )
  const shown = async (line: string, pattern: RegExp) =>
    eventually(async () => expect(await kubectl.run(line)).toMatch(pattern))
  await shown('get hpa web --no-headers', /^web +Deployment\/web +cpu: 90%\/50% +1 +3 +[123] /)
  await shown('describe hpa web', /SuccessfulRescale .*above target/)
})
