import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import { pods } from '../../../src/registry/core/pods/pods.ts'
import { deployments } from '../../../src/registry/apps/deployments.ts'
import type { StrategyContext } from '../../../src/registry/strategy.ts'
import { simulationNames } from '../../../src/validation/pod/simulation-annotations.ts'

const context = {} as StrategyContext // the warnings read only the object
const spec = {
  containers: [{ name: 'c', image: 'i' }],
  initContainers: [{ name: 'i', image: 'i' }],
  ephemeralContainers: [{ name: 'e', image: 'i' }],
}
const annotated = (annotations: Record<string, string>): Pod => ({ metadata: { name: 'p', annotations }, spec })

test.each<[what: string, key: string, value: string, problem: string | undefined]>([
  ['a name', 'exitcode', '1', 'simulated nodes know no annotation of this name'],
  ['a name of every object', 'constructor', '1', 'simulated nodes know no annotation of this name'],
  ['a delay', 'start-delay', 'soon', 'simulated nodes want a duration'],
  ['a delay of a container', 'start-delay.c', '5', 'it is for the whole pod'],
  ['a code', 'exit-code', 'x', 'simulated nodes want a number from 0 to 255'],
  ['a container', 'exit-code.d', '1', 'the pod has no container of this name'],
  ['a probe', 'readiness-probe', 'maybe', 'simulated nodes want fail, succeed or a duration'],
  ['an amount', 'usage-cpu', '-1', 'simulated nodes want a quantity'],
  ['a pull', 'image-pull', 'no', 'simulated nodes want fail or succeed'],
  ['readiness', 'ready', 'no', 'simulated nodes want true or false'],
  ['a right delay', 'start-delay', '1m30s', undefined],
  ['a right code', 'exit-code.i', '1', undefined],
  ['a right probe', 'liveness-probe.c', '30', undefined],
  ['the duration of an ephemeral container', 'duration.e', '5s', undefined],
  ['a right amount', 'usage-memory', '1Gi', undefined],
  ['any log', 'log', '', undefined],
])('a client that writes %s wrongly learns that it has no effect: %s', (_what, key, value, problem) => {
  const name = `kedge.dev/${key}`
  const wanted = (at: string) =>
    problem === undefined ? [] : [`${at}metadata.annotations[${name}]: has no effect: ${problem}`]
  const pod = annotated({ [name]: value, 'example.com/exit-code': 'x' })
  expect(pods.warningsOnCreate!(pod, context)).toEqual(wanted(''))
  expect(pods.warningsOnUpdate!(pod, annotated({}), context)).toEqual(wanted(''))
  expect(pods.warningsOnUpdate!(pod, pod, context)).toEqual([])
  const template = { metadata: pod.metadata, spec }
  const deployment = { metadata: { name: 'd' }, spec: { selector: {}, template } }
  expect(deployments.warningsOnCreate!(deployment, context)).toEqual(wanted('spec.template.'))
})

test('the annotations that simulated nodes read are known', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../src/controllers/simulation/annotations.ts'), 'utf8')
  const read = [...text.matchAll(/this\.text\(['`]([a-z-]+)['`]/g)].map(([, name]) => name!)
  expect(read.filter((name) => !simulationNames.includes(name))).toEqual([])
})
