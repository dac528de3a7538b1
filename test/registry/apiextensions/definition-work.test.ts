import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { definitionWork } from '../../../src/registry/apiextensions/definition-work.ts'

type Status = NonNullable<CustomResourceDefinition['status']>

const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' as const }))
const accepted: Status = { acceptedNames: names, conditions, storedVersions: ['v1'] }
const definition = (status: Status): KubeObject & CustomResourceDefinition => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'things.example.com', generation: 1 },
  spec: { group: 'example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true }] },
  status,
})

test.each<[string, before: Status, after: Status, isWork: boolean]>([
  ['has other names', accepted, { ...accepted, acceptedNames: { ...names, kind: 'Other' } }, true],
  ['has no conditions', accepted, { ...accepted, conditions: [] }, true],
  ['is not established', accepted, { ...accepted, conditions: conditions.slice(0, 1) }, true],
  [
    'gets the names that the definition wants',
    { ...accepted, acceptedNames: { plural: '', kind: '' } },
    accepted,
    false,
  ],
  ['gets its conditions', { ...accepted, conditions: [] }, accepted, false],
  ['has other versions', accepted, { ...accepted, storedVersions: ['v1', 'v2'] }, false],
])('a status that %s after its write', (_, before, after, isWork) => {
  const work = definitionWork({ resource: DEFINITIONS, now: 0, object: definition(after), old: definition(before) })
  expect(work.some(({ topic }) => topic === 'crd-names')).toBe(isWork)
})
