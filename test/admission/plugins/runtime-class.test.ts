import { describe, expect, test } from 'vitest'
import { runtimeClass } from '../../../src/admission/plugins/runtime-class.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({
  'runtimeclasses.node.k8s.io': [
    { metadata: { name: 'plain' }, handler: 'runc' },
    { metadata: { name: 'costly' }, handler: 'vm', overhead: { podFixed: { cpu: '250m', memory: '120Mi' } } },
    {
      metadata: { name: 'placed' },
      handler: 'gpu',
      scheduling: { nodeSelector: { gpu: 'yes' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    },
  ],
})

const pod = (spec: object) => ({ metadata: { name: 'p' }, spec }) as never
const specOf = async (spec: object): Promise<unknown> => {
  const outcome = await outcomeOf(runtimeClass, server, { at: 'pods', object: pod(spec) })
  return typeof outcome === 'string' ? outcome : (outcome as { spec: object }).spec
}
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`
const DIFFERS = refused("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
const overhead = { cpu: '250m', memory: '120Mi' }

describe('overhead', () => {
  test.each<[string, object, unknown]>([
    ['of a pod without a class there is none', {}, {}],
    [
      'of its own it may not have then',
      { overhead },
      refused('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'),
    ],
    ['is that of the class', { runtimeClassName: 'costly' }, { runtimeClassName: 'costly', overhead }],
    [
      'may be said again, in another spelling',
      { runtimeClassName: 'costly', overhead: { cpu: '0.25', memory: '122880Ki' } },
      { runtimeClassName: 'costly', overhead },
    ],
    ['may not be another', { runtimeClassName: 'costly', overhead: { cpu: '1', memory: '120Mi' } }, DIFFERS],
    ['may not be a part of it', { runtimeClassName: 'costly', overhead: { cpu: '250m' } }, DIFFERS],
    [
      'of a class that has none may not be set',
      { runtimeClassName: 'plain', overhead },
      refused('pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'),
    ],
  ])('%s', async (_what, spec, expected) => expect(await specOf(spec)).toEqual(expected))
})

test('a class that is not there is refused', async () => {
  expect(await specOf({ runtimeClassName: 'gone' })).toBe(refused('pod rejected: RuntimeClass "gone" not found'))
})

test.each([
  ['', 'resource name may not be empty'],
  ['..', `invalid resource name "..": [may not be '..']`],
  ['a/%', `invalid resource name "a/%": [may not contain '/' may not contain '%']`],
])('a class that no path can name is an error: %j', async (runtimeClassName, problem) => {
  expect(await specOf({ runtimeClassName })).toBe(`500 ${problem}`)
})

describe('scheduling', () => {
  test('the class adds its nodes and tolerations', async () => {
    expect(
      await specOf({ runtimeClassName: 'placed', nodeSelector: { zone: 'a' }, tolerations: [{ key: 'x' }] }),
    ).toEqual({
      runtimeClassName: 'placed',
      nodeSelector: { zone: 'a', gpu: 'yes' },
      tolerations: [{ key: 'x' }, { key: 'gpu', operator: 'Exists' }],
    })
  })

  test('a pod that wants other nodes is refused', async () => {
    expect(await specOf({ runtimeClassName: 'placed', nodeSelector: { gpu: 'no' } })).toBe(
      refused('conflict: runtimeClass.scheduling.nodeSelector[gpu] = yes; pod.spec.nodeSelector[gpu] = no'),
    )
  })
})

test.each([
  ['UPDATE', 'pods'],
  ['CREATE', 'pods/binding'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(runtimeClass, server, { operation, at, object: {} })).toBe('not asked')
})
