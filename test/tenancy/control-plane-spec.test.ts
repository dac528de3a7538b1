import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { readControlPlane } from '../../src/tenancy/control-plane-spec.ts'

const plane = (spec: unknown) =>
  ({ kind: 'ControlPlane', apiVersion: 'kedge.dev/v1alpha1', metadata: { name: 'root' }, spec }) as KubeObject

test.each([
  ['no spec', undefined, ['spec.workloads: Required value']],
  ['a list', [], ['spec.workloads: Required value']],
  [
    'another mode',
    { workloads: 'some' },
    ['spec.workloads: Unsupported value: "some": supported values: "off", "controllers", "simulated"'],
  ],
  [
    'a controller that is none',
    { workloads: 'controllers', controllers: '*,-red' },
    ['spec.controllers: Invalid value: "*,-red": "red" is not in the list of known controllers'],
  ],
  [
    'one that always runs',
    { workloads: 'controllers', controllers: '-namespace' },
    ['spec.controllers: Invalid value: "-namespace": "namespace" belongs to the API and always runs'],
  ],
  [
    'controllers where there are none',
    { workloads: 'off', controllers: 'job' },
    ['spec.controllers: Forbidden: may not be set where workloads are off'],
  ],
  ['nodes of another', { workloads: 'controllers', nodes: 1 }, ['spec.nodes: Forbidden: is for workloads: simulated']],
  [
    'too many nodes',
    { workloads: 'simulated', nodes: 257 },
    ['spec.nodes: Invalid value: 257: must be a whole number from 0 to 256'],
  ],
  [
    'a number that is text',
    { workloads: 'simulated', nodes: '3' },
    ['spec.nodes: Invalid value: "3": must be a whole number from 0 to 256'],
  ],
  ['a member of no meaning', { workloads: 'off', workload: 'off' }, ['spec.workload: Forbidden: is not supported']],
])('a ControlPlane with %s is refused', (_, spec, problems) => {
  const read = readControlPlane(plane(spec))
  expect('errors' in read && read.errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems)
})

test('the parsed spec of a ControlPlane', () => {
  const read = readControlPlane(plane({ workloads: 'simulated', controllers: '*,-cronjob', nodes: 3 }))
  if ('errors' in read) throw new Error('it was refused')
  const { workloads, controllers, nodes } = read.spec
  expect([workloads, nodes]).toEqual(['simulated', 3])
  expect(controllers.isEnabled('cronjob-controller')).toBe(false)
  expect(controllers.isEnabled('job-controller')).toBe(true)
})

test('garbage collection may be switched off without workloads', () => {
  const read = readControlPlane(plane({ workloads: 'off', controllers: '*,-garbage-collector-controller' }))
  expect('spec' in read && read.spec.controllers.collectsGarbage).toBe(false)
})
