import { expect, test } from 'vitest'
import { defaultTolerationSeconds } from '../../../src/admission/plugins/default-toleration-seconds.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({})
const added = (name: string) => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
})
const both = [added('not-ready'), added('unreachable')]

test.each<[string, object[] | undefined, object[]]>([
  ['a pod without tolerations gets both', undefined, both],
  ['behind those that it has', [{ key: 'a', effect: 'NoSchedule' }], [{ key: 'a', effect: 'NoSchedule' }, ...both]],
  [
    'its own seconds stay',
    [{ ...added('unreachable'), tolerationSeconds: 5 }],
    [{ ...added('unreachable'), tolerationSeconds: 5 }, added('not-ready')],
  ],
  ['a toleration of every key is enough', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  [
    'a toleration of every effect is enough for its key',
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }, added('unreachable')],
  ],
  [
    'one of another effect is not',
    [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }, ...both],
  ],
])('%s', async (_what, tolerations, expected) => {
  const object = { metadata: { name: 'p' }, spec: tolerations === undefined ? {} : { tolerations } } as never
  for (const operation of ['CREATE', 'UPDATE'] as const)
    expect(await outcomeOf(defaultTolerationSeconds, server, { operation, at: 'pods', object })).toMatchObject({
      spec: { tolerations: expected },
    })
})

test.each([
  ['CREATE', 'pods/binding'],
  ['UPDATE', 'pods/status'],
  ['DELETE', 'pods'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(defaultTolerationSeconds, server, { operation, at, object: {} })).toBe('not asked')
})

test('the settings have the seconds, for each state of the node', async () => {
  const settings = {
    KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS: '-5',
    KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS: '9223372036854775807',
  }
  const own = await serverWith({}, settings)
  const object = { metadata: { name: 'p' }, spec: {} } as never
  expect(await outcomeOf(defaultTolerationSeconds, own, { operation: 'CREATE', at: 'pods', object })).toMatchObject({
    spec: {
      tolerations: [
        { ...added('not-ready'), tolerationSeconds: -5 },
        { ...added('unreachable'), tolerationSeconds: 9223372036854775807n },
      ],
    },
  })
})
