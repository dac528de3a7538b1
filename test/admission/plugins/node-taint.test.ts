import { expect, test } from 'vitest'
import { nodeTaint } from '../../../src/admission/plugins/node-taint.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({})
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

test.each([
  ['a new node is not ready', {}, [NOT_READY]],
  [
    'behind the taints it has',
    { taints: [{ key: 'a', effect: 'NoExecute' }] },
    [{ key: 'a', effect: 'NoExecute' }, NOT_READY],
  ],
  [
    'the same key with another effect is another taint',
    { taints: [{ ...NOT_READY, effect: 'NoExecute' }] },
    [{ ...NOT_READY, effect: 'NoExecute' }, NOT_READY],
  ],
  ['once is enough', { taints: [{ ...NOT_READY, value: 'x' }] }, [{ ...NOT_READY, value: 'x' }]],
])('%s', async (_what, spec, taints) => {
  const outcome = await outcomeOf(nodeTaint, server, {
    at: 'nodes',
    object: { metadata: { name: 'n' }, spec } as never,
  })
  expect(outcome).toMatchObject({ spec: { taints } })
})

test.each([
  ['UPDATE', 'nodes'],
  ['CREATE', 'nodes/status'],
  ['CREATE', 'nodes.metrics.k8s.io'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(nodeTaint, server, { operation, at, object: {} })).toBe('not asked')
})
