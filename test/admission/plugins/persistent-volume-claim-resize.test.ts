import { expect, test } from 'vitest'
import { persistentVolumeClaimResize } from '../../../src/admission/plugins/persistent-volume-claim-resize.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const server = await serverWith({
  'storageclasses.storage.k8s.io': [
    { metadata: { name: 'grows' }, allowVolumeExpansion: true },
    { metadata: { name: 'stays' }, allowVolumeExpansion: false },
    { metadata: { name: 'silent' } },
  ],
})

const claim = (
  storage: string,
  storageClassName: string,
  phase = 'Bound',
  annotations: Record<string, string> = {},
) => ({
  metadata: { name: 'c', annotations },
  spec: { storageClassName, resources: { requests: { storage } } },
  status: { phase },
})
const BETA = 'volume.beta.kubernetes.io/storage-class'
const refused = (why: string) => `403 persistentvolumeclaims "c" is forbidden: ${why}`
const UNBOUND = refused('Only bound persistent volume claims can be expanded')
const UNSUPPORTED = refused(
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
)

test.each([
  ['grows where its class lets it', claim('1Gi', 'grows'), claim('2Gi', 'grows'), 'taken'],
  ['stays as large', claim('1Gi', 'stays'), claim('1024Mi', 'stays'), 'taken'],
  ['shrinks, which validation refuses later', claim('2Gi', 'stays'), claim('1Gi', 'stays'), 'taken'],
  ['grows before it is bound', claim('1Gi', 'grows', 'Pending'), claim('2Gi', 'grows', 'Pending'), UNBOUND],
  ['grows where its class forbids it', claim('1Gi', 'stays'), claim('2Gi', 'stays'), UNSUPPORTED],
  ['grows where its class says nothing', claim('1Gi', 'silent'), claim('2Gi', 'silent'), UNSUPPORTED],
  ['grows without a class', claim('1Gi', ''), claim('2Gi', ''), UNSUPPORTED],
  ['grows where its class is gone', claim('1Gi', 'gone'), claim('2Gi', 'gone'), UNSUPPORTED],
  ['grows while it changes its class', claim('1Gi', 'stays'), claim('2Gi', 'grows'), UNSUPPORTED],
  [
    'has its class by annotation',
    claim('1Gi', 'stays', 'Bound', { [BETA]: 'grows' }),
    claim('2Gi', 'stays', 'Bound', { [BETA]: 'grows' }),
    'taken',
  ],
])('a claim that %s', async (_what, oldObject, object, expected) => {
  const asked = { at: 'persistentvolumeclaims', operation: 'UPDATE', object, oldObject } as const
  const outcome = await outcomeOf(persistentVolumeClaimResize, server, asked)
  expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
})

test.each([
  ['CREATE', 'persistentvolumeclaims'],
  ['UPDATE', 'persistentvolumeclaims/status'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(persistentVolumeClaimResize, server, { operation, at, object: {} })).toBe('not asked')
})
