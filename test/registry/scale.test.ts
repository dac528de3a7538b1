import { expect, it } from 'vitest'
import { scaleView } from '../../src/registry/scale.ts'

const deployments = { group: 'apps', resource: 'deployments' }
const deployment = () => ({ metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '5' } })
const write = (metadata: object, replicas = 3) => {
  const object = deployment()
  scaleView.into(object, { metadata: { name: 'd', ...metadata }, spec: { replicas } } as never, deployments)
  return object
}

it('a Scale writes replicas and the version it names', () => {
  expect(write({ resourceVersion: '4' })).toMatchObject({ metadata: { resourceVersion: '4' }, spec: { replicas: 3 } })
})

it('a Scale is valid in its metadata too, and of this object', () => {
  expect(() => write({ finalizers: ['x'] }, -1)).toThrow(/metadata.finalizers.*spec.replicas/)
  expect(() => write({ uid: 'other' })).toThrow(
    'Operation cannot be fulfilled on deployments/scale.apps "d": Precondition failed: UID in precondition: other, UID in object meta: u',
  )
})
