import { expect, test } from 'vitest'
import {
  podGroupProtection,
  storageObjectInUseProtection,
} from '../../../src/admission/plugins/storage-object-in-use-protection.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({})

test.each([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses.storage.k8s.io', 'kubernetes.io/vac-protection'],
])('what is created of %s gets %s, once, behind what it has', async (at, finalizer) => {
  const finalizersFrom = async (finalizers?: string[]) => {
    const object = { metadata: { name: 'a', ...(finalizers && { finalizers }) } }
    return outcomeOf(storageObjectInUseProtection, server, { at, object })
  }
  expect(await finalizersFrom()).toMatchObject({ metadata: { finalizers: [finalizer] } })
  expect(await finalizersFrom(['x'])).toMatchObject({ metadata: { finalizers: ['x', finalizer] } })
  expect(await finalizersFrom([finalizer, 'x'])).toMatchObject({ metadata: { finalizers: [finalizer, 'x'] } })
  expect(await outcomeOf(podGroupProtection, server, { at, object: {} })).toBe('not asked')
})

test('groups of pods have a plugin of their own', async () => {
  const asked = { at: 'podgroups.scheduling.k8s.io', object: { metadata: { name: 'g' } } }
  expect(await outcomeOf(podGroupProtection, server, asked)).toMatchObject({
    metadata: { finalizers: ['scheduling.k8s.io/podgroup-protection'] },
  })
  expect(await outcomeOf(storageObjectInUseProtection, server, asked)).toBe('not asked')
})

test.each([
  ['UPDATE', 'persistentvolumes'],
  ['CREATE', 'persistentvolumes/status'],
  ['CREATE', 'storageclasses.storage.k8s.io'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(storageObjectInUseProtection, server, { operation, at, object: {} })).toBe('not asked')
})
