// Stages as somebody types them: the one that docs/workloads.md shows, one that fails when it is played, and one that is not played.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { kubectlServer } from './kubectl-server.ts'

const kubectl = kubectlServer('--workloads', 'simulated', '--nodes', '1')

const documented = /```yaml\n(apiVersion: kwok\.x-k8s\.io[^]*?)```/.exec(
  readFileSync(join(import.meta.dirname, '../../docs/workloads.md'), 'utf8'),
)![1]!

const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stages.kwok.x-k8s.io}
spec:
  group: kwok.x-k8s.io
  scope: Cluster
  names: {plural: stages, singular: stage, kind: Stage, listKind: StageList}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const stage = (name: string, app: string, next: string): string => `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ${name}}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchLabels: {app: ${app}}
    matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]
  next: ${next}
`

const pod = (app: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${app}, labels: {app: ${app}}}
spec:
  restartPolicy: Never
  containers: [{name: main, image: anything}]
`

const apply = (text: string) => kubectl.run('apply -f -', text)

/** What kubectl prints of a pod, when it does. */
const shows = (path: string, app: string, expected: string) =>
  eventually(async () => expect(await kubectl.run(`get pod ${app} -o jsonpath={${path}}`)).toBe(expected))

beforeEach(async () => {
  await apply(DEFINITION)
  // kubectl ends at once where the definition has no conditions yet, as on kube-apiserver
  await eventually(() => kubectl.run('wait --for=condition=Established crd/stages.kwok.x-k8s.io --timeout=60s'))
})

test('the Stage of the docs ends a pod that it is for, and says so in an Event; others run on', async () => {
  await apply(documented)
  await apply(pod('hungry'))
  await apply(pod('modest'))
  await shows('.status.reason', 'hungry', 'OOMKilled')
  await shows('.status.containerStatuses[0].state.terminated.exitCode', 'hungry', '137')
  expect(await kubectl.run('events --for pod/hungry')).toMatch(
    /Warning +OOMKilling +Pod\/hungry +the simulated memory is used up/,
  )
  await shows('.status.phase', 'modest', 'Running')
})

test('a Stage that fails when it is played leaves the pod as it was, and says why in an Event of it', async () => {
  await apply(stage('broken', 'unlucky', '{statusTemplate: "phase: [Failed"}'))
  await apply(pod('unlucky'))
  await eventually(async () =>
    expect(await kubectl.run('events --for pod/unlucky')).toMatch(/Warning +StageFailed .*stage broken: .*no YAML/),
  )
  await shows('.status.phase', 'unlucky', 'Running')
})

test('a Stage with something that is not played gets a Warning that names it, and is not played at all', async () => {
  const both = '{statusTemplate: "phase: Failed", apply: {template: "kind: Pod"}}'
  const { stderr } = await kubectl.try(['apply', '-f', '-'], stage('half', 'spared', both))
  expect(stderr).toMatch(/Warning: .*apply/)
  await apply(pod('spared'))
  await shows('.status.phase', 'spared', 'Running')
  // what is played has been played by the time that a later pod has ended
  await apply(stage('whole', 'later', '{statusTemplate: "phase: Failed"}'))
  await apply(pod('later'))
  await shows('.status.phase', 'later', 'Failed')
  expect(await kubectl.run('get pod spared -o jsonpath={.status.phase}')).toBe('Running')
})
