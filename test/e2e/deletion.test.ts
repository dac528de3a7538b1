// Deletions that controllers finish, as Kubernetes' own end-to-end tests and users request them.
import { expect, test } from 'vitest'
import { kubectlServerUnderTest } from './kubectl-server.ts'

const kubectl = kubectlServerUnderTest()

interface Meta {
  readonly name: string
  readonly uid: string
}

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'web', image: 'registry.k8s.io/pause:3.10.1' }] },
})

// "should not be blocked by dependency circle"
test('a circle of owners that block one another goes when one of them is deleted in the foreground', async () => {
  await kubectl.run('create namespace circle')
  kubectl.namespace = 'circle'
  await kubectl.run('wait --for=create serviceaccount/default --timeout=180s')
  const names = ['pod1', 'pod2', 'pod3']
  const pods: Meta[] = []
  for (const name of names) {
    const { metadata } = await kubectl.json<{ metadata: Meta }>('create -f -', JSON.stringify(pod(name)))
    pods.push(metadata)
  }
  for (const [at, { name }] of pods.entries()) {
    const owner = pods[(at + pods.length - 1) % pods.length]!
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'Pod', name: owner.name, uid: owner.uid, controller: true, blockOwnerDeletion: true },
    ]
    await kubectl.runArgs(['patch', 'pod', name, '-p', JSON.stringify({ metadata: { ownerReferences } })])
  }
  await kubectl.run('delete pod pod1 --cascade=foreground --wait=false')
  await kubectl.run('wait --for=delete pod/pod1 pod/pod2 pod/pod3 --timeout=180s')
  expect(await kubectl.json('get pods')).toMatchObject({ items: [] })
  kubectl.namespace = undefined
})

const MANIFEST = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'own' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: 'own' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'own' }, data: { colour: 'blue' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'own' }, stringData: { key: 'value' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'own' }, spec: { ports: [{ port: 80 }] } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'own' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: pod('web').spec },
    },
  },
]

test('a manifest that begins with its own Namespace is deleted without an error', async () => {
  const manifest = MANIFEST.map((object) => JSON.stringify(object)).join('\n---\n')
  await kubectl.run('create -f -', manifest)
  const { code, stdout, stderr } = await kubectl.try(['delete', '-f', '-', '--timeout=180s'], manifest)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.match(/ deleted/g)).toHaveLength(MANIFEST.length)
  expect((await kubectl.try(['get', 'namespace', 'own'])).stderr).toContain('NotFound')
})
