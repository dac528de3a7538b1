// The real kube-controller-manager and kube-scheduler take their Leases. Kedge's controllers pause until they are gone.
import type { ChildProcess } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'
import { endReference, skipWithout, startReference } from './reference-program.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '1')
let other: ChildProcess | undefined
afterEach(async () => {
  if (other !== undefined) await endReference(other, 'SIGKILL')
  other = undefined
})

const holder = (lease: string) =>
  kubectl.run(`-n kube-system get lease ${lease} --ignore-not-found -o jsonpath={.spec.holderIdentity}`)

/** @returns the revision of a Deployment, which a Deployment controller sets */
const revisionOf = (name: string) =>
  kubectl.run(`get deployment ${name} -o jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}`)

test('Kedge pauses while a kube-controller-manager leads, and does the waiting work when it is gone', async (context) => {
  skipWithout('kube-controller-manager', context)
  // It leads without a Deployment controller. Deployments stay alone only if Kedge pauses.
  other = startReference('kube-controller-manager', kubectl.kubeconfig, ['--controllers=ttl-controller'])
  await eventually(async () => expect(await holder('kube-controller-manager')).not.toBe(''))
  // The Lease and a Deployment bring work by two ways, so Kedge may look at one more Deployment before it pauses.
  let last = 0
  await eventually(async () => {
    await kubectl.run(`create deployment first-${++last} --image=nginx`)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(await revisionOf(`first-${last}`)).toBe('')
  })
  await endReference(other, 'SIGTERM')
  const status = `rollout status deployment/first-${last} --timeout=180s`
  expect(await kubectl.run(status)).toContain('successfully rolled out')
})

test('a killed kube-controller-manager leads until its Lease ends', async (context) => {
  skipWithout('kube-controller-manager', context)
  other = startReference('kube-controller-manager', kubectl.kubeconfig, ['--controllers=ttl-controller'])
  const before = await holder('kube-controller-manager')
  await eventually(async () => expect(await holder('kube-controller-manager')).not.toBe(before || ''))
  await endReference(other, 'SIGKILL')
  await kubectl.run('create deployment second --image=nginx')
  const revision = await revisionOf('second')
  const lease =
    'get lease kube-controller-manager -n kube-system -o jsonpath={.spec.renewTime}|{.spec.leaseDurationSeconds}'
  const [renewed = '', seconds] = (await kubectl.run(lease)).split('|')
  // On a busy machine this read may come after the end of the Lease.
  if (Date.now() < Date.parse(renewed) + Number(seconds) * 1_000) expect(revision).toBe('')
  expect(await kubectl.run('rollout status deployment/second --timeout=180s')).toContain('successfully rolled out')
})

test('a kube-scheduler that leads gives pods their nodes', async (context) => {
  skipWithout('kube-scheduler', context)
  other = startReference('kube-scheduler', kubectl.kubeconfig, [])
  await eventually(async () => expect(await holder('kube-scheduler')).not.toBe(''))
  await kubectl.run('run theirs --image=nginx')
  await kubectl.run('wait --for=condition=Ready pod/theirs --timeout=180s')
  const by =
    'get events --field-selector involvedObject.name=theirs,reason=Scheduled -o jsonpath={.items[*].reportingInstance}'
  await eventually(async () =>
    expect(await kubectl.run(by)).toBe(`default-scheduler-${(await holder('kube-scheduler')).split('_')[0]}`),
  )
  await endReference(other, 'SIGKILL')
  await kubectl.run('run ours --image=nginx')
  await kubectl.run('wait --for=condition=Ready pod/ours --timeout=180s')
})
