// Bindings that go on after the run of the scheduler that decided them.
import { expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { settingsOf } from '../../../src/settings.ts'
import { ClusterState } from '../../../src/controllers/scheduling/cluster-state.ts'
import { LateBindings } from '../../../src/controllers/scheduling/late-bindings.ts'
import { profilesOf } from '../../../src/controllers/scheduling/profile.ts'
import type { Env } from '../../../src/env.ts'

const profiles = profilesOf(settingsOf({} as Env).scheduler.profiles)

const pod = (more: Partial<Pod & KubeObject> = {}): Pod & KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'a', uid: '1' },
  spec: { schedulerName: 'default-scheduler', containers: [{ name: 'web', image: 'web' }] },
  ...more,
})

function begun() {
  const late = new LateBindings()
  late.begin(1, [['a/web', { uid: '1', node: 'n1' }]])
  const state = new ClusterState(late)
  const read = (object: (Pod & KubeObject) | undefined) =>
    state.takePods(
      { revision: 1, reset: false, changed: [{ key: 'a/web', object, length: 100 }] } as never, // one page of changes
      profiles,
    )
  return { late, state, read }
}

test('the pod does not wait for a node, however it changes', () => {
  const { late, state, read } = begun()
  read(pod())
  expect([...state.waiting.keys()]).toEqual([])
  expect(late.take('a/web', '1')).toMatchObject({ node: 'n1', hasChanged: true })
})

test('another pod of its name waits', () => {
  const { state, read } = begun()
  read(pod({ metadata: { name: 'web', namespace: 'a', uid: '2' } }))
  expect([...state.waiting.keys()]).toEqual(['a/web'])
})

test.each([
  ['is gone', undefined],
  ['has a node', pod({ spec: { nodeName: 'n2', containers: [] } })],
  ['is being deleted', pod({ metadata: { ...pod().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })],
])('nothing is to be taken back where the pod %s', (_, now) => {
  const { late, state, read } = begun()
  read(now)
  expect(late.take('a/web', '1')).toBeUndefined()
  expect([...state.waiting.keys()]).toEqual([])
})

test('there are many of them at 64 writes', () => {
  const late = new LateBindings()
  late.begin(63, [])
  expect(late.areMany).toBe(false)
  late.begin(1, [])
  expect(late.areMany).toBe(true)
  late.end(63)
  expect(late.areMany).toBe(false)
})
