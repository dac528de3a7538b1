import { expect, test } from 'vitest'
import type { FlowSchema } from '../../../src/api/flowcontrol/v1.ts'
import { newPlane, of, settled } from '../reconcile.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const SCHEMAS = { group: GROUP, resource: 'flowschemas' }
const LEVELS = { group: GROUP, resource: 'prioritylevelconfigurations' }

const level = (name: string) =>
  of(`${GROUP}/v1`, 'PriorityLevelConfiguration', {
    metadata: { name },
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  })

test('a schema dangles while its level is not there', async () => {
  const plane = await newPlane()
  const spec = { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 5 }
  await plane.create(SCHEMAS, of(`${GROUP}/v1`, 'FlowSchema', { metadata: { name: 'a' }, spec }))
  const condition = async () => {
    const schema = await settled<FlowSchema>(plane, 'flow-schema-status', '', [SCHEMAS, '', 'a'])
    return schema?.status?.conditions?.map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    )
  }
  const about = 'This FlowSchema references the PriorityLevelConfiguration object named "mine"'
  expect(await condition()).toEqual([`Dangling True NotFound: ${about} but there is no such object`])
  await plane.create(LEVELS, level('mine'))
  expect(await condition()).toEqual([`Dangling False Found: ${about} and it exists`])
  await plane.delete(LEVELS, '', 'mine')
  expect(await condition()).toEqual([`Dangling True NotFound: ${about} but there is no such object`])
})

test('the time of a condition is that of its change', async () => {
  const plane = await newPlane()
  const at = [SCHEMAS, '', 'exempt'] as const
  const timeOf = async () =>
    (await settled<FlowSchema>(plane, 'flow-schema-status', '', at))?.status?.conditions?.[0]?.lastTransitionTime
  const before = await timeOf()
  plane.now = new Date(plane.now.getTime() + 60_000)
  expect(await timeOf()).toBe(before)
})
