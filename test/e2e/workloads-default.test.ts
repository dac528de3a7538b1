// What `kedge start` gives somebody who says nothing of workloads: nodes on which pods run, but never in a control plane
// that is somebody's cluster already.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { LAUNCHER, startKedge, startWithDefaults } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import { Session, skipWithoutKubectl } from './session.ts'

let data: string
let kedge: KedgeProcess
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'kedge-default-'))
})
afterEach(async () => {
  await kedge.stop()
  rmSync(data, { recursive: true, force: true, maxRetries: 5 })
})

const flags = () => ['--port', '0', '--data-dir', data]

const nodeNames = async (): Promise<string[]> => {
  const { body } = await new ApiClient(kedge.kubeconfig).send('GET', '/api/v1/nodes')
  return (body as unknown as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
}

/** What is there when `kedge start` runs for the first time with what it does by default. */
async function before(...objects: [path: string, object: object][]): Promise<void> {
  kedge = await startKedge(flags())
  const client = new ApiClient(kedge.kubeconfig)
  for (const [path, object] of objects) expect((await client.send('POST', path, object)).status).toBe(201)
  await kedge.stop()
}

test('a Deployment runs, and the start says on what', async (context) => {
  skipWithoutKubectl(context)
  kedge = await startWithDefaults(flags())
  await eventually(() =>
    expect(kedge.output()).toContain(
      'Pods run on 2 simulated nodes, without containers. --workloads off serves the API alone.\n',
    ),
  )
  const kubectl = new Session(kedge.kubeconfig)
  await kubectl.run('create deployment web --image=nginx --replicas=3')
  await kubectl.run('wait --for=condition=Available deployment/web --timeout=180s')
  const phases = await kubectl.run('get pods -l app=web -o jsonpath={.items[*].status.phase}')
  expect(phases).toBe('Running Running Running')
  // one that was deleted stays so
  await kubectl.run('delete node node-2')
  kubectl.close()
  await kedge.stop()
  kedge = await startWithDefaults(flags())
  expect(await nodeNames()).toEqual(['node-1'])
})

test('data of before runs, too', async () => {
  await before(['/api/v1/namespaces/default/configmaps', { metadata: { name: 'kept' } }])
  kedge = await startWithDefaults(flags())
  expect(await nodeNames()).toEqual(['node-1', 'node-2'])
})

test.each([
  ['a node', '/api/v1/nodes', { metadata: { name: 'metal' } }, ['metal']],
  [
    'the Lease of a scheduler',
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
    { metadata: { name: 'kube-scheduler' }, spec: { holderIdentity: 'one', leaseDurationSeconds: 15 } },
    [],
  ],
])('a control plane that has %s gets no simulated nodes', async (_, path, object, names) => {
  await before([path, object])
  kedge = await startWithDefaults(flags())
  expect(await nodeNames()).toEqual(names)
  await eventually(() =>
    expect(kedge.output()).toContain('no node is simulated. --workloads off serves the API alone.'),
  )
})

test('what the start makes stands in no restore’s way', async () => {
  const cli = (...args: string[]) => promisify(execFile)(process.execPath, [LAUNCHER, ...args, '--data-dir', data])
  kedge = await startWithDefaults(flags())
  const client = new ApiClient(kedge.kubeconfig)
  await eventually(async () => {
    const { body } = await client.send('GET', '/api/v1/nodes/node-2')
    expect(JSON.stringify(body)).toContain('KubeletReady')
  })
  const file = join(data, 'backup.jsonl')
  await cli('backup', '-o', file)
  await cli('restore', file)
  expect(await nodeNames()).toEqual(['node-1', 'node-2'])
})
