import { expect, test } from 'vitest'
import { aggregatedResources } from '../../../src/endpoints/aggregation/remote-discovery.ts'

test('discovery lists subresources under their resource, even if the resource itself is not listed', () => {
  const flunders = { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: ['get'] }
  expect(
    aggregatedResources([
      { ...flunders, shortNames: ['fl'] },
      { name: 'flunders/status', namespaced: true, kind: 'Flunder', verbs: ['update'] },
      { name: 'pods/eviction', namespaced: true, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
    ]),
  ).toEqual([
    {
      resource: 'flunders',
      responseKind: { group: '', version: '', kind: 'Flunder' },
      scope: 'Namespaced',
      singularResource: 'flunder',
      verbs: ['get'],
      shortNames: ['fl'],
      subresources: [
        { subresource: 'status', responseKind: { group: '', version: '', kind: 'Flunder' }, verbs: ['update'] },
      ],
    },
    {
      resource: 'pods',
      responseKind: { group: '', version: '', kind: '' },
      scope: 'Namespaced',
      singularResource: '',
      verbs: [],
      subresources: [
        {
          subresource: 'eviction',
          responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
          verbs: ['create'],
        },
      ],
    },
  ])
})
