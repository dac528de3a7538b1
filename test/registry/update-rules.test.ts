/** Rules of updates that relate the new object to the old one. */
import { expect, test } from 'vitest'
import type { CSINode, VolumeAttachment } from '../../src/api/storage/v1.ts'
import type { DaemonSet } from '../../src/api/apps/v1.ts'
import type { PersistentVolumeClaim, ResourceQuota } from '../../src/api/core/v1.ts'
import type { Json } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { daemonSets } from '../../src/registry/apps/daemon-sets.ts'
import { persistentVolumeClaims } from '../../src/registry/core/volumes/persistent-volume-claims.ts'
import { resourceQuotas } from '../../src/registry/core/resource-quotas.ts'
import { metadataErrors } from '../../src/registry/rbac/metadata-errors.ts'
import { deviceClasses } from '../../src/registry/resource/device-classes.ts'
import { csiNodes } from '../../src/registry/storage/csi-nodes.ts'
import { volumeAttachments } from '../../src/registry/storage/volume-attachments.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import type { StrategyContext } from '../../src/registry/strategy.ts'

// none of these rules reads it
const context = {} as StrategyContext

test('the status of a VolumeAttachment keeps what metav1.ResetObjectMetaForStatus keeps', async () => {
  const old: VolumeAttachment = { metadata: { name: 'a', labels: { a: 'b' } } }
  const sent: VolumeAttachment = {
    metadata: { name: 'a', labels: { c: 'd' }, finalizers: ['x'], generateName: 'a-', deletionGracePeriodSeconds: 5 },
  }
  await volumeAttachments.subresources?.status?.prepareForUpdate?.(sent, old, context)
  expect(sent.metadata).toEqual({
    name: 'a',
    labels: { a: 'b' },
    generateName: 'a-',
    deletionGracePeriodSeconds: 5,
  })
})

test('every driver of a CSINode that has the name of an old one is compared with it', async () => {
  const driver = { name: 'd', nodeID: 'n', topologyKeys: ['k'] }
  const of = (...drivers: object[]): CSINode => ({ metadata: { name: 'a' }, spec: { drivers } }) as CSINode
  const errors = (await csiNodes.validateUpdate?.(of(driver, { name: 'd', nodeID: 'n' }), of(driver), context)) ?? []
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'spec.drivers[1].name: Duplicate value: "d"',
    'spec.drivers: Invalid value: {"Name":"d","NodeID":"n","TopologyKeys":null,"Allocatable":null}: field is immutable',
  ])
})

test.each(['a', '1.5', '9223372036854775808'])(
  'the generation of a DaemonSet is no %s, in the status neither',
  (text) => {
    const annotations = { 'deprecated.daemonset.template.generation': text }
    const sent: DaemonSet = { metadata: { name: 'a', annotations } }
    const prepare = daemonSets.subresources?.status?.prepareForUpdate
    expect(() => prepare?.(sent, { metadata: { name: 'a' } }, context)).toThrow('strconv.ParseInt: parsing')
  },
)

test.each(['..', '.', 'a/b'])('a generateName of RBAC is a name by itself: %j is none', (generateName) => {
  const errors = metadataErrors({ generateName }, true)
  expect(errors.map(({ field }) => field)).toContain('metadata.generateName')
})

test('what was emptied is shown as empty', async () => {
  const decoded = <T>(type: string, value: Json) => decodeObject(builtInType(type), value).object as unknown as T
  const CORE = 'io.k8s.api.core.v1'
  const quota = (scopes: string[]) =>
    decoded<ResourceQuota>(`${CORE}.ResourceQuota`, { metadata: { name: 'a' }, spec: { hard: {}, scopes } })
  const errors = (await resourceQuotas.validateUpdate?.(quota([]), quota(['BestEffort']), context)) ?? []
  expect(errors.map(({ message }) => message)).toEqual(['Invalid value: []: field is immutable'])
})

test('the name of a DeviceClass has 253 bytes at most', () => {
  expect(deviceClasses.nameRule?.('x'.repeat(254), false)).toEqual(['must be no more than 253 bytes'])
  expect(deviceClasses.nameRule?.('x'.repeat(253), false)).toEqual([])
  expect(deviceClasses.nameRule?.('Bad_', true)).toEqual([])
})

test.each<[requests: Json, isFrozen: boolean]>([
  [{ storage: '2Gi' }, false],
  [{}, false],
  [null, true],
])('a bound claim whose requests become %j: the spec is immutable: %j', async (requests, isFrozen) => {
  const claim = (value: Json) =>
    decodeObject(builtInType('io.k8s.api.core.v1.PersistentVolumeClaim'), {
      metadata: { name: 'a' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: value } },
      status: { phase: 'Bound' },
    }).object as unknown as PersistentVolumeClaim
  const enabled = { ...context, enabled: () => true }
  const errors =
    (await persistentVolumeClaims.validateUpdate?.(claim(requests), claim({ storage: '1Gi' }), enabled)) ?? []
  expect(errors.some(({ field }) => field === 'spec')).toBe(isFrozen)
})
