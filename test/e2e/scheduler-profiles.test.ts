// Two profiles of the scheduler, in a file that a flag names: pods choose one by its name.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-profiles-'))
const config = join(directory, 'scheduler.yaml')
writeFileSync(
  config,
  `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: bin-packing
  plugins:
    score:
      disabled: [{name: PodTopologySpread}, {name: NodeResourcesBalancedAllocation}]
      enabled: [{name: NodeResourcesFit, weight: 10}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}
`,
)
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '3', '--scheduler-config', config)

const deployment = (name: string, scheduler: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 6
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      schedulerName: ${scheduler}
      containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]
`

/** On which nodes the pods are, each once, when all are somewhere. */
async function nodesOf(app: string): Promise<string[]> {
  let nodes: string[] = []
  await eventually(async () => {
    const text = await kubectl.run(`get pods -l app=${app} -o jsonpath={range.items[*]}{.spec.nodeName}{"\\n"}{end}`)
    nodes = text.split('\n').filter((node) => node !== '')
    expect(nodes).toHaveLength(6)
  })
  return [...new Set(nodes)].sort()
}

/** Who says that pods are scheduled, each once. */
async function bindersOf(app: string): Promise<string[]> {
  const said = '{range .items[?(@.reason=="Scheduled")]}{.involvedObject.name}={.reportingComponent}{"\\n"}{end}'
  const lines = (await kubectl.runArgs(['get', 'events', '-o', `jsonpath=${said}`])).split('\n')
  return [...new Set(lines.filter((line) => line.startsWith(`${app}-`)).map((line) => line.split('=')[1] ?? ''))]
}

test('each pod is placed by the profile that it names, which its Event names, too', async () => {
  await kubectl.run('wait --for=condition=Ready nodes --all --timeout=180s')
  await kubectl.run('apply -f -', deployment('packed', 'bin-packing'))
  expect(await nodesOf('packed')).toHaveLength(1)
  await kubectl.run('apply -f -', deployment('spread', 'default-scheduler'))
  expect(await nodesOf('spread')).toEqual(['node-1', 'node-2', 'node-3'])
  expect(await bindersOf('packed')).toEqual(['bin-packing'])
  expect(await bindersOf('spread')).toEqual(['default-scheduler'])
})

test('a pod that names neither is left alone', async () => {
  await kubectl.run('apply -f -', deployment('other', 'somebody-elses'))
  await eventually(async () =>
    expect((await kubectl.run('get pods -l app=other -o name')).trim().split('\n')).toHaveLength(6),
  )
  // whatever was there to be scheduled is scheduled before what comes later
  await kubectl.run('apply -f -', deployment('later', 'bin-packing'))
  await nodesOf('later')
  expect(await kubectl.run('get pods -l app=other -o jsonpath={.items[*].spec.nodeName}')).toBe('')
  expect(await kubectl.run('get pods -l app=other -o jsonpath={.items[*].status.conditions}')).toBe('')
})
