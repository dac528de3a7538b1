/** Rules of updates that relate the new object to the old one. */
import { expect, test } from 'vitest'
import type { CSINode, VolumeAttachment } from '../../src/api/storage/v1.ts'
import type { DaemonSet } from '../../src/api/apps/v1.ts'
import { daemonSets } from '../../src/registry/apps/daemon-sets.ts'
import { csiNodes } from '../../src/registry/storage/csi-nodes.ts'
import { volumeAttachments } from '../../src/registry/storage/volume-attachments.ts'
import type { StrategyContext } from '../../src/registry/strategy.ts'

// none of these rules reads it
const context = {} as StrategyContext

test('the status of a VolumeAttachment keeps what metav1.ResetObjectMetaForStatus keeps', () => {
  const old: VolumeAttachment = { metadata: { name: 'a', labels: { a: 'b' } } }
  const sent: VolumeAttachment = {
    metadata: { name: 'a', labels: { c: 'd' }, finalizers: ['x'], generateName: 'a-', deletionGracePeriodSeconds: 5 },
  }
  volumeAttachments.subresources?.status?.prepareForUpdate?.(sent, old, context)
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
