import { describe, expect, it, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import { builtInType, builtInTypeNames, structuralOf } from '../../src/schema/built-in.ts'
import { dropDisabledFields } from '../../src/schema/disabled-fields.ts'

const gates = parseFeatureGates(undefined)

function dropped(name: string, object: JsonObject, old?: JsonObject, enabled = gates.enabled): JsonObject {
  dropDisabledFields(builtInType(`io.k8s.api.${name}`), object, old, enabled)
  return object
}

describe('with the gates as they are', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'coordination.v1.Lease',
      { spec: { strategy: 'x', preferredHolder: 'y', holderIdentity: 'z' } },
      { spec: { holderIdentity: 'z' } },
    ],
    [
      'core.v1.Pod',
      { spec: { containers: [{ lifecycle: { stopSignal: 'SIGTERM' } }] } },
      { spec: { containers: [{}] } },
    ],
    ['core.v1.Pod', { spec: { schedulingGroup: { podGroupName: 'g' }, hostname: 'h' } }, { spec: { hostname: 'h' } }],
    [
      'apps.v1.Deployment',
      {
        spec: {
          template: { spec: { volumes: [{ projected: { sources: [{ clusterTrustBundle: { path: 'p' } }] } }] } },
        },
      },
      { spec: { template: { spec: { volumes: [{ projected: { sources: [{}] } }] } } } },
    ],
    [
      'resource.v1.ResourceSlice',
      { spec: { devices: [{ attributes: { a: { bools: [true], int: 1 } } }] } },
      { spec: { devices: [{ attributes: { a: { int: 1 } } }] } },
    ],
    [
      'core.v1.Pod',
      {
        status: { containerStatuses: [{ volumeMounts: [{ name: 'm', volumeStatus: { image: { imageRef: 'i' } } }] }] },
      },
      { status: { containerStatuses: [{ volumeMounts: [{ name: 'm' }] }] } },
    ],
    ['core.v1.ConfigMap', { data: { a: 'b' } }, { data: { a: 'b' } }],
  ])('%s %j', (name, object, expected) => {
    expect(dropped(name, object)).toEqual(expected)
  })
})

it('keeps what the stored object has anywhere', () => {
  const lifecycle = { stopSignal: 'SIGTERM' }
  const old = { spec: { initContainers: [{ lifecycle }] } }
  const object = { spec: { containers: [{ lifecycle }] } }
  expect(dropped('core.v1.Pod', structuredClone(object), old)).toEqual(object)
})

it('keeps everything when the gates are on', () => {
  const object = { spec: { strategy: 'x' } }
  expect(dropped('coordination.v1.Lease', structuredClone(object), undefined, () => true)).toEqual(object)
})

it('asks for gates that exist', () => {
  for (const name of builtInTypeNames()) {
    const type = structuralOf(name)
    if (type.shape === 'struct')
      dropDisabledFields(
        type,
        Object.fromEntries(type.fields.map(({ name }) => [name, null])),
        undefined,
        gates.enabled,
      )
  }
})
