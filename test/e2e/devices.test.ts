// Devices of simulated nodes, and pods that claim them, with kubectl.
import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '2')

const SUPPLY = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpus}
spec:
  selectors:
  - cel: {expression: 'device.driver == "simulated.kedge.dev" && device.attributes["simulated.kedge.dev"].type == "gpu"'}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: large}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpus
          selectors:
          - cel: {expression: 'device.capacity["simulated.kedge.dev"].memory.isGreaterThan(quantity("40Gi"))'}
`

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: train}
spec:
  replicas: 3
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: large}]
      containers: [{name: c, image: train, resources: {claims: [{name: gpu}]}}]
`

const devices = async () =>
  (
    await kubectl.run(
      'get resourceclaims -o jsonpath={range.items[*]}{.status.allocation.devices.results[0].pool}/{.status.allocation.devices.results[0].device}{"\\n"}{end}',
    )
  )
    .split('\n')
    .filter((line) => line !== '' && line !== '/')
    .sort()

const ready = async (count: string) =>
  eventually(async () =>
    expect(await kubectl.run('get deployment train -o jsonpath={.status.readyReplicas}')).toBe(count),
  )

test('pods of a Deployment get the listed devices; a pod too many says why it waits, until a node lists one more', async () => {
  await kubectl.runArgs(['annotate', 'node', 'node-1', 'kedge.dev/devices=gpu=2;memory:80Gi, nic=4'])
  await kubectl.runArgs(['annotate', 'node', 'node-2', 'kedge.dev/devices=gpu=1;memory:16Gi'])
  await kubectl.run('apply -f -', SUPPLY)
  await kubectl.run('apply -f -', DEPLOYMENT)
  await ready('2')
  expect(await devices()).toEqual(['node-1/gpu-0', 'node-1/gpu-1'])
  await eventually(async () =>
    expect(await kubectl.run('get events --field-selector=reason=FailedScheduling')).toContain(
      '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable',
    ),
  )
  await kubectl.runArgs(['annotate', '--overwrite', 'node', 'node-2', 'kedge.dev/devices=gpu=1;memory:80Gi'])
  await ready('3')
  expect(await devices()).toEqual(['node-1/gpu-0', 'node-1/gpu-1', 'node-2/gpu-0'])
})

test('claims go with their pods, slices with their node', async () => {
  await kubectl.run('delete deployment train')
  await eventually(async () => expect(await kubectl.run('get resourceclaims -o name')).toBe(''))
  await kubectl.run('delete node node-2')
  await eventually(async () =>
    expect(await kubectl.run('get resourceslices -o name')).toBe(
      'resourceslice.resource.k8s.io/node-1-simulated.kedge.dev\n',
    ),
  )
})
