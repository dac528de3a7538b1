// StatefulSets and DaemonSets as kubectl rolls them out, back and over nodes that are drained.
import { describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '3')

const listed = async (line: string): Promise<string[]> =>
  (await kubectl.run(line)).split(/\s/).filter((name) => name !== '')
const images = (kind: string) => listed(`get pods -l app=${kind} -o jsonpath={.items[*].spec.containers[0].image}`)

const statefulSet = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "db:1"}]}
`

describe('a StatefulSet', () => {
  test('comes up in order', async () => {
    await kubectl.run('apply -f -', statefulSet)
    expect(await kubectl.run('rollout status statefulset/db --timeout=180s')).toContain('roll out complete: 3 new pods')
    expect(await listed('get pods -l app=db -o name')).toEqual(['pod/db-0', 'pod/db-1', 'pod/db-2'])
  })

  test('rolls a new image out, and back', async () => {
    await kubectl.run('set image statefulset/db db=db:2')
    await kubectl.run('rollout status statefulset/db --timeout=180s')
    expect(await images('db')).toEqual(['db:2', 'db:2', 'db:2'])
    expect(await kubectl.run('rollout history statefulset/db')).toMatch(/1\s+<none>\s+2\s+<none>/)
    expect(await kubectl.run('rollout undo statefulset/db')).toContain('rolled back')
    await eventually(async () => expect(await images('db')).toEqual(['db:1', 'db:1', 'db:1']))
    expect(await kubectl.run('rollout status statefulset/db --timeout=180s')).toContain('roll out complete: 3 new pods')
  })

  test('is scaled', async () => {
    await kubectl.run('scale statefulset/db --replicas=1')
    await eventually(async () => expect(await listed('get pods -l app=db -o name')).toEqual(['pod/db-0']))
    await kubectl.run('scale statefulset/db --replicas=2')
    await kubectl.run('wait --for=jsonpath={.status.availableReplicas}=2 statefulset/db --timeout=180s')
  })
})

const withClaims = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kept}
spec:
  serviceName: kept
  replicas: 2
  selector: {matchLabels: {app: kept}}
  template:
    metadata: {labels: {app: kept}}
    spec: {containers: [{name: kept, image: "db:1", volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

test('claims that name no class get simulated volumes', async () => {
  await kubectl.run('apply -f -', withClaims)
  expect(await kubectl.run('rollout status statefulset/kept --timeout=180s')).toContain('roll out complete: 2 new pods')
  expect(await listed('get pvc -o jsonpath={.items[*].status.phase}')).toEqual(['Bound', 'Bound'])
  expect(await listed('get pvc -o jsonpath={.items[*].spec.storageClassName}')).toEqual(['simulated', 'simulated'])
})

const daemonSet = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
`

describe('a DaemonSet', () => {
  test('has a pod on every node', async () => {
    await kubectl.run('apply -f -', daemonSet)
    expect(await kubectl.run('rollout status daemonset/agent --timeout=180s')).toContain('successfully rolled out')
    const nodes = await listed('get pods -l app=agent -o jsonpath={.items[*].spec.nodeName}')
    expect(nodes.sort()).toEqual(['node-1', 'node-2', 'node-3'])
  })

  test('rolls a new image out, and back', async () => {
    await kubectl.run('set image daemonset/agent agent=agent:2')
    await kubectl.run('rollout status daemonset/agent --timeout=180s')
    expect(await images('agent')).toEqual(['agent:2', 'agent:2', 'agent:2'])
    expect(await kubectl.run('rollout history daemonset/agent')).toMatch(/1\s+<none>\s+2\s+<none>/)
    expect(await kubectl.run('rollout undo daemonset/agent')).toContain('rolled back')
    await kubectl.run('rollout status daemonset/agent --timeout=180s')
    expect(await images('agent')).toEqual(['agent:1', 'agent:1', 'agent:1'])
  })

  test('stays on a node that is drained, as a StatefulSet does not', async () => {
    const [node = ''] = await listed('get pod db-0 -o jsonpath={.spec.nodeName}')
    await kubectl.run(`drain ${node} --ignore-daemonsets --delete-emptydir-data --force --timeout=180s`)
    await kubectl.run('wait --for=jsonpath={.status.availableReplicas}=2 statefulset/db --timeout=180s')
    expect(await listed('get pod db-0 -o jsonpath={.spec.nodeName}')).not.toEqual([node])
    expect(await listed('get pods -l app=agent -o name')).toHaveLength(3)
  })
})

test('a ReplicationController is scaled', async () => {
  const template = '{"metadata":{"labels":{"app":"rc"}},"spec":{"containers":[{"name":"c","image":"i"}]}}'
  const spec = `{"replicas":2,"selector":{"app":"rc"},"template":${template}}`
  const rc = `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"rc"},"spec":${spec}}`
  await kubectl.run('apply -f -', rc)
  await kubectl.run('wait --for=jsonpath={.status.availableReplicas}=2 rc/rc --timeout=180s')
  await kubectl.run('scale rc/rc --replicas=3')
  await kubectl.run('wait --for=jsonpath={.status.availableReplicas}=3 rc/rc --timeout=180s')
})

test('a disruption budget holds a drain back until there is another pod', async () => {
  await kubectl.run('create deployment guarded --image=nginx --replicas=2')
  await kubectl.run('create poddisruptionbudget guarded --selector=app=guarded --min-available=2')
  await kubectl.run('rollout status deployment/guarded --timeout=180s')
  await kubectl.run('wait --for=jsonpath={.status.currentHealthy}=2 pdb/guarded --timeout=180s')
  const [pod = ''] = await listed('get pods -l app=guarded -o name')
  const [node = ''] = await listed(`get ${pod} -o jsonpath={.spec.nodeName}`)
  const drain = kubectl.start(['drain', node, '--ignore-daemonsets', '--force'])
  await eventually(() =>
    expect(drain.printed.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget."),
  )
  await kubectl.run('scale deployment/guarded --replicas=4')
  expect(await drain.ended, drain.printed.stderr).toBe(0)
})
