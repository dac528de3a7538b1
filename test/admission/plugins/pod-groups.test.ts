import { expect, test } from 'vitest'
import { podGroupWorkloadExists } from '../../../src/admission/plugins/pod-groups.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const workload = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'blue', ...more },
  spec: { podGroupTemplates: [{ name: 'workers' }] },
})
const server = await serverWith({
  'workloads.scheduling.k8s.io': [workload('w'), workload('going', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
})

const group = (workloadName: string, podGroupTemplateName: string) => ({
  metadata: { name: 'g' },
  spec: { podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } } },
})
const refused = (why: string) => `403 podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: ${why}`

test.each<[string, object, string]>([
  ['of a template that is there', group('w', 'workers'), 'taken'],
  ['of no template', { metadata: { name: 'g' }, spec: {} }, 'taken'],
  [
    'of a template that the workload lacks',
    group('w', 'others'),
    refused('PodGroupTemplate "others" not found in Workload "w"'),
  ],
  ['of a workload that is not there', group('x', 'workers'), refused('Workload "x" not found')],
  ['of a workload that is being deleted', group('going', 'workers'), refused('Workload "going" is being deleted')],
])('a group %s', async (_what, object, expected) => {
  const outcome = await outcomeOf(podGroupWorkloadExists, server, {
    at: 'podgroups.scheduling.k8s.io',
    object: object as never,
  })
  expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
})

test('workloads of other namespaces do not count', async () => {
  const asked = { at: 'podgroups.scheduling.k8s.io', namespace: 'red', object: group('w', 'workers') as never }
  expect(await outcomeOf(podGroupWorkloadExists, server, asked)).toBe(refused('Workload "w" not found'))
})

test('the plugin ignores an update', async () => {
  const asked = { at: 'podgroups.scheduling.k8s.io', operation: 'UPDATE', object: {} } as const
  expect(await outcomeOf(podGroupWorkloadExists, server, asked)).toBe('not asked')
})
