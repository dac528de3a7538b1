import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { jobValidation } from '../../../src/admission/plugins/job-validation.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const GANG = { gang: { minCount: 2 } }
const group = (name: string, schedulingPolicy: JsonObject, owner?: string) => ({
  metadata: {
    name,
    namespace: 'blue',
    ...(owner && {
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: owner, controller: true }],
    }),
  },
  spec: { schedulingPolicy },
})
const stored = {
  'podgroups.scheduling.k8s.io': [
    group('together', GANG),
    group('apart', { basic: {} }),
    group('owned', GANG, 'uid-of-owner'),
  ],
}
const server = await serverWith(stored, { KEDGE_FEATURE_GATES: 'GenericWorkload=true' })

const job = (parallelism: number, podGroupName?: string, uid = 'u') => ({
  metadata: { name: 'j', uid },
  spec: {
    parallelism,
    template: { spec: podGroupName === undefined ? {} : { schedulingGroup: { podGroupName } } },
  },
})
const refused = (name: string) =>
  `403 jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "${name}"`

const changed = (podGroupName?: string, uid?: string) => ({
  at: 'jobs.batch',
  operation: 'UPDATE' as const,
  object: job(3, podGroupName, uid),
  oldObject: job(2, podGroupName, uid),
})

test.each<[string, string | undefined, string | undefined, string]>([
  ['whose template names a gang', 'together', undefined, refused('together')],
  ['that owns a gang', undefined, 'uid-of-owner', refused('owned')],
  ['whose template names a group without a gang', 'apart', undefined, 'taken'],
  ['whose template names an absent group', 'absent', undefined, 'taken'],
  ['without a group', undefined, undefined, 'taken'],
])('a change of the parallelism of a Job %s', async (_what, podGroupName, uid, expected) => {
  const outcome = await outcomeOf(jobValidation, server, changed(podGroupName, uid))
  expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
})

test('a change of another field is accepted', async () => {
  const asked = { ...changed('together'), object: job(2, 'together') }
  expect(typeof (await outcomeOf(jobValidation, server, asked))).toBe('object')
})

test.each(['CREATE', 'DELETE'] as const)('the plugin ignores a %s', async (operation) => {
  expect(await outcomeOf(jobValidation, server, { ...changed('together'), operation })).toBe('not asked')
})

test('the plugin ignores the status', async () => {
  expect(await outcomeOf(jobValidation, server, { ...changed('together'), at: 'jobs.batch/status' })).toBe('not asked')
})

test('without its feature gate the plugin refuses nothing', async () => {
  const without = await serverWith(stored, { KEDGE_FEATURE_GATES: 'GenericWorkload=false' })
  expect(typeof (await outcomeOf(jobValidation, without, changed('together')))).toBe('object')
})
