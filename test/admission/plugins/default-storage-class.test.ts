import { expect, test } from 'vitest'
import { defaultStorageClass } from '../../../src/admission/plugins/default-storage-class.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const MARK = 'storageclass.kubernetes.io/is-default-class'
const storageClass = (name: string, creationTimestamp: string, annotations: Record<string, string> = {}) => ({
  metadata: { name, creationTimestamp, annotations },
})
const server = await serverWith({
  'storageclasses.storage.k8s.io': [
    storageClass('plain', '2026-03-01T00:00:00Z', { [MARK]: 'false' }),
    storageClass('older', '2026-01-01T00:00:00Z', { [MARK]: 'true' }),
    storageClass('b-newer', '2026-02-01T00:00:00Z', { 'storageclass.beta.kubernetes.io/is-default-class': 'true' }),
    storageClass('a-newer', '2026-02-01T00:00:00Z', { [MARK]: 'true' }),
  ],
})

const claim = (spec: object, annotations: object = {}) => ({ metadata: { name: 'c', annotations }, spec })

test.each([
  ['a claim that names none gets the newest default, the first by name', claim({}), 'a-newer'],
  ['a claim that names one keeps it', claim({ storageClassName: 'plain' }), 'plain'],
  ['a claim that wants none keeps that', claim({ storageClassName: '' }), ''],
  ['the beta annotation counts as a name', claim({}, { 'volume.beta.kubernetes.io/storage-class': 'x' }), undefined],
])('%s', async (_what, object, storageClassName) => {
  const outcome = await outcomeOf(defaultStorageClass, server, {
    at: 'persistentvolumeclaims',
    object: object as never,
  })
  expect(outcome).toMatchObject({ spec: storageClassName === undefined ? {} : { storageClassName } })
  if (storageClassName === undefined) expect(outcome).not.toHaveProperty('spec.storageClassName')
})

test('nothing is set where no class is the default', async () => {
  const none = await serverWith({ 'storageclasses.storage.k8s.io': [storageClass('plain', '2026-01-01T00:00:00Z')] })
  expect(
    await outcomeOf(defaultStorageClass, none, { at: 'persistentvolumeclaims', object: claim({}) as never }),
  ).toEqual(claim({}))
})

test.each([
  ['UPDATE', 'persistentvolumeclaims'],
  ['CREATE', 'persistentvolumeclaims/status'],
  ['CREATE', 'persistentvolumeclaims.example.com'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(defaultStorageClass, server, { operation, at, object: claim({}) as never })).toBe('not asked')
})
