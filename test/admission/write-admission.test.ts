/** The name and the namespace that admission sees of a write. */
import { expect, test } from 'vitest'
import type { Attributes } from '../../src/admission/attributes.ts'
import { admissionBy } from '../../src/admission/write-admission.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { create } from '../../src/registry/write/create.ts'
import { update } from '../../src/registry/write/update.ts'
import { resourceScope } from '../../src/registry/scope.ts'
import { servedResources } from '../../src/registry/served/served.ts'
import { memoryServer } from '../request-in-memory.ts'

async function creating(
  resource: string,
  namespace: string,
  metadata: KubeObject['metadata'],
  change: (object: KubeObject) => void = () => {},
) {
  const server = memoryServer()
  const request = server.request('/', { method: 'POST' })
  const entry = (await servedResources(request)).find('', 'v1', resource)!
  const scope = resourceScope(request, entry, { name: '', subresource: '', namespace })
  const seen: [step: string, name: string, namespace: string][] = []
  const admission = admissionBy({
    async admit({ name, namespace, object }: Attributes) {
      seen.push(['mutating', name, namespace])
      change(object!)
    },
    async validate({ name, namespace }: Attributes) {
      seen.push(['validating', name, namespace])
      return undefined
    },
  })
  const object = { apiVersion: 'v1', kind: entry.kind, metadata }
  const options = { dryRun: false, fieldManager: 'm', fieldValidation: 'Strict' } as const
  const written = await create(scope, object as KubeObject, options, admission)
  return { seen, stored: written.object.metadata.name! }
}

test('a Namespace is in the namespace of its own name', async () => {
  const { seen } = await creating('namespaces', '', { name: 'blue' })
  expect(seen).toEqual([
    ['mutating', 'blue', 'blue'],
    ['validating', 'blue', 'blue'],
  ])
})

test('a Namespace whose name is generated is in no namespace, also when it has its name', async () => {
  const { seen, stored } = await creating('namespaces', '', { generateName: 'blue-' })
  expect(stored).toMatch(/^blue-.....$/)
  expect(seen).toEqual([
    ['mutating', '', ''],
    ['validating', stored, ''],
  ])
})

test('the name stays that of the request, whatever a plug-in makes of it', async () => {
  const { seen, stored } = await creating('configmaps', 'blue', { name: 'one' }, ({ metadata }) => {
    metadata.name = 'two'
  })
  expect(stored).toBe('two')
  expect(seen).toEqual([
    ['mutating', 'one', 'blue'],
    ['validating', 'one', 'blue'],
  ])
})

test('a PUT has the namespace of its path, where the body has none', async () => {
  const server = memoryServer()
  const request = server.request('/', { method: 'PUT' })
  const entry = (await servedResources(request)).find('', 'v1', 'configmaps')!
  const scope = resourceScope(request, entry, { name: 'one', subresource: '', namespace: 'blue' })
  await server.put('', 'configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace: 'blue' },
  })
  const seen: (string | undefined)[] = []
  const admission = admissionBy({
    admit: async ({ object }: Attributes) => void seen.push(object!.metadata.namespace),
    validate: async () => undefined,
  })
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } }
  const options = { dryRun: false, fieldManager: 'm', fieldValidation: 'Strict' } as const
  await update(scope, object as KubeObject, options, admission)
  expect(seen).toEqual(['blue'])
})
