import { expect, test } from 'vitest'
import type { JsonObject, ManagedFieldsEntry } from '../../src/api/object.ts'
import { SPEC_REPLICAS, ownersAfterScale, ownersOfScale } from '../../src/patch/scale-ownership.ts'

const replicasIn = (version: string) => (version === 'apps/v1' ? SPEC_REPLICAS : undefined)
const entry = (manager: string, operation: string, fieldsV1: JsonObject, more: object = {}): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time: '2030-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': fieldsV1 },
  ...more,
})

test('a Scale has the owners of the replicas', () => {
  const parent = [entry('a', 'Apply', { 'f:replicas': {}, 'f:paused': {} }), entry('b', 'Update', { 'f:paused': {} })]
  expect(ownersOfScale(parent, replicasIn)).toEqual([
    entry('a', 'Apply', { 'f:replicas': {} }, { apiVersion: 'autoscaling/v1' }),
  ])
})

test('a manager that sets the replicas takes them from the workload’s owner', () => {
  const parent = [entry('a', 'Apply', { 'f:replicas': {}, 'f:paused': {} })]
  const scale = [entry('u', 'Update', { 'f:replicas': {} }, { apiVersion: 'autoscaling/v1', subresource: 'scale' })]
  const { time: _, ...withoutTime } = entry('u', 'Update', { 'f:replicas': {} }, { subresource: 'scale' })
  expect(ownersAfterScale(parent, scale, 'apps/v1', replicasIn)).toEqual([
    entry('a', 'Apply', { 'f:paused': {} }),
    withoutTime,
  ])
})

test('an applier that keeps them keeps its entry; a version that is not known goes', () => {
  const parent = [
    entry('a', 'Apply', { 'f:replicas': {} }),
    entry('b', 'Update', { 'f:paused': {} }, { apiVersion: 'apps/v0' }),
  ]
  const scale = ownersOfScale(parent, replicasIn)
  expect(ownersAfterScale(parent, scale, 'apps/v1', replicasIn)).toEqual([parent[0]])
})
