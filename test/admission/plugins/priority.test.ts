import { describe, expect, test } from 'vitest'
import { priority } from '../../../src/admission/plugins/priority.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const classes = [
  { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' },
  { metadata: { name: 'low' }, value: -5, globalDefault: true, preemptionPolicy: 'PreemptLowerPriority' },
  { metadata: { name: 'middle' }, value: 5, globalDefault: true, preemptionPolicy: 'PreemptLowerPriority' },
]
const server = await serverWith({ 'priorityclasses.scheduling.k8s.io': classes })
const bare = await serverWith({})

const pod = (spec: object) => ({ metadata: { name: 'p' }, spec }) as never
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`

describe('a new pod', () => {
  test.each<[string, object, unknown]>([
    [
      'that names a class',
      { priorityClassName: 'high' },
      { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
    ],
    [
      'that names none gets the lowest default',
      {},
      { priorityClassName: 'low', priority: -5, preemptionPolicy: 'PreemptLowerPriority' },
    ],
    [
      'that says the same itself',
      { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
      { priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' },
    ],
    ['whose class is not there', { priorityClassName: 'gone' }, refused('no PriorityClass with name gone was found')],
    [
      'that says another number',
      { priorityClassName: 'high', priority: 1 },
      refused(
        'the integer value of priority (1) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
      ),
    ],
    [
      'that says another policy',
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      refused(
        'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
      ),
    ],
  ])('%s', async (_what, spec, expected) => {
    const outcome = await outcomeOf(priority, server, { at: 'pods', object: pod(spec) })
    expect(typeof outcome === 'string' ? outcome : (outcome as { spec: object }).spec).toEqual(expected)
  })

  test('gets no class and the priority 0 without a default class', async () => {
    expect(await outcomeOf(priority, bare, { at: 'pods', object: pod({}) })).toMatchObject({
      spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority' },
    })
  })
})

test.each([
  [{}, '"Unknown"'],
  [{ generateName: 'p-' }, '"p-"'],
])('the error about a pod of metadata %j shows %s', async (metadata, shown) => {
  const object = { metadata, spec: { priorityClassName: 'gone' } } as never
  expect(await outcomeOf(priority, server, { at: 'pods', object })).toBe(
    `403 pods ${shown} is forbidden: no PriorityClass with name gone was found`,
  )
})

test('an update keeps what the pod has, unless it says otherwise', async () => {
  const oldObject = pod({ priority: 7, preemptionPolicy: 'Never' })
  const update = (spec: object) =>
    outcomeOf(priority, server, { at: 'pods', operation: 'UPDATE', object: pod(spec), oldObject })
  expect(await update({})).toMatchObject({ spec: { priority: 7, preemptionPolicy: 'Never' } })
  expect(await update({ priority: 8 })).toMatchObject({ spec: { priority: 8, preemptionPolicy: 'Never' } })
})

describe('there is one default class', () => {
  const write = (operation: 'CREATE' | 'UPDATE', name: string, globalDefault: boolean, on = server) =>
    outcomeOf(priority, on, {
      at: 'priorityclasses.scheduling.k8s.io',
      operation,
      object: { metadata: { name }, globalDefault },
    })
  const REFUSED = (name: string) =>
    `403 priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass low is already marked as default. Only one default can exist`

  test('a second one is refused', async () => {
    expect(await write('CREATE', 'new', true)).toBe(REFUSED('new'))
    expect(await write('UPDATE', 'high', true)).toBe(REFUSED('high'))
  })

  test('the first one, the same one, and one that is no default are not', async () => {
    expect(await write('CREATE', 'new', true, bare)).toMatchObject({ globalDefault: true })
    expect(await write('UPDATE', 'low', true)).toMatchObject({ globalDefault: true })
    expect(await write('CREATE', 'new', false)).toMatchObject({ globalDefault: false })
  })
})

test.each([
  ['UPDATE', 'pods/status'],
  ['DELETE', 'pods'],
  ['UPDATE', 'podgroups.scheduling.k8s.io'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(priority, server, { operation, at, object: {} })).toBe('not asked')
})
