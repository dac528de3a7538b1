// Disks that pods have without a claim, and that one node mounts for one pod: in the words of kube-scheduler 1.36.3.
import { expect, test } from 'vitest'
import type { Pod, Volume } from '../../../src/api/core/v1.ts'
import { atOnce } from '../../../src/base/slices.ts'
import { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { choose, failureMessage } from '../../../src/controllers/scheduling/schedule.ts'
import { filtersFor } from './filters-for.ts'

const podWith = (name: string, ...volumes: Volume[]): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'c' }], volumes: volumes.map((volume) => ({ name: 'v', ...volume })) },
})

const gce = (pdName: string, readOnly?: boolean): Volume => ({
  gcePersistentDisk: { pdName, ...(readOnly !== undefined && { readOnly }) },
})
const ebs = (volumeID: string, readOnly = false): Volume => ({ awsElasticBlockStore: { volumeID, readOnly } })
const iscsi = (iqn: string, readOnly = false, targetPortal = 'a'): Volume => ({
  iscsi: { iqn, targetPortal, lun: 0, readOnly },
})
const rbd = (monitors: string[], more: object = {}): Volume => ({
  rbd: { monitors, image: 'i', pool: 'rbd', ...more },
})

const NO_DISK = '0/1 nodes are available: 1 node(s) had no available disk.'

test.each<[what: string, there: Volume, wanted: Volume, message: string]>([
  ['a disk of Google that both read', gce('a', true), gce('a', true), 'fits'],
  ['a disk of Google that one writes', gce('a', true), gce('a'), NO_DISK],
  ['another disk of Google', gce('a'), gce('b'), 'fits'],
  ['a disk of Amazon that both read', ebs('a', true), ebs('a', true), NO_DISK],
  ['a target that both read', iscsi('a', true), iscsi('a', true), 'fits'],
  ['a target that one writes, by another portal', iscsi('a', true), iscsi('a', false, 'b'), NO_DISK],
  ['an image with a monitor in common', rbd(['a', 'b']), rbd(['b', 'c']), NO_DISK],
  [
    'an image with a monitor in common that both read',
    rbd(['a'], { readOnly: true }),
    rbd(['a'], { readOnly: true }),
    'fits',
  ],
  ['an image of other monitors', rbd(['a']), rbd(['b']), 'fits'],
  ['an image of another pool', rbd(['a']), rbd(['a'], { pool: 'p' }), 'fits'],
  ['a disk and a target of one name', gce('a'), iscsi('a'), 'fits'],
])('%s', (_what, there, wanted, message) => {
  const node = new NodeState({
    metadata: { name: 'n' },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '9' } },
  })
  const other = new PodInfo(podWith('other', there))
  node.add(other)
  const filters = filtersFor(podWith('p', wanted), [node])
  const chosen = atOnce(choose(filters))
  expect('node' in chosen ? 'fits' : failureMessage(chosen, '')).toBe(message)
  // preemption looks whether the pod fits without another one, and puts that back
  filters.remove(other, node)
  expect(filters.refusalOf(node)).toBeUndefined()
  filters.add(other, node)
  expect(filters.refusalOf(node) === undefined).toBe(message === 'fits')
})
