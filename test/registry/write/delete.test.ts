import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import type { ResourceScope } from '../../../src/registry/resource-scope.ts'
import { resourceScope } from '../../../src/registry/scope.ts'
import type { Admission } from '../../../src/registry/write/admission.ts'
import { withoutAdmission } from '../../../src/registry/write/admission.ts'
import { deleteEach, deleteObject } from '../../../src/registry/write/delete.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import type { DeleteOptions } from '../../../src/request/options.ts'
import { memoryServer } from '../../request-in-memory.ts'

const START = Date.parse('2030-01-01T00:00:00Z')

/** Creates a Pod on a node, and returns a function that sends DELETE some seconds later. */
async function podOnNode(phase = 'Running') {
  const server = memoryServer()
  const pod = { metadata: { name: 'p', namespace: 'default' }, spec: { nodeName: 'n' }, status: { phase } }
  await server.put('', 'pods', pod)
  return async (after: number, options: DeleteOptions) => {
    server.now = new Date(START + after * 1000)
    const request = server.request('/api/v1/namespaces/default/pods/p', { method: 'DELETE' })
    const entry = (await servedResources(request)).find('', 'v1', 'pods')!
    const scope = resourceScope(request, entry, { name: 'p', subresource: '', namespace: request.info.namespace })
    const { object, gone } = await deleteObject(scope, 'p', options, withoutAdmission)
    return { ...markOf(object), gone }
  }
}

const markOf = ({ metadata }: KubeObject) => ({
  until: (Date.parse(metadata.deletionTimestamp ?? '') - START) / 1000,
  grace: metadata.deletionGracePeriodSeconds,
})

describe('a second DELETE of a Pod', () => {
  it('that names no grace changes nothing', async () => {
    const remove = await podOnNode()
    expect(await remove(0, { gracePeriodSeconds: 30 })).toEqual({ until: 30, grace: 30, gone: false })
    expect(await remove(5, {})).toEqual({ until: 30, grace: 30, gone: false })
  })

  it('shortens the deletion time by as much as the grace period shrinks', async () => {
    const remove = await podOnNode()
    await remove(0, { gracePeriodSeconds: 30 })
    expect(await remove(5, { gracePeriodSeconds: 40 })).toEqual({ until: 30, grace: 30, gone: false })
    expect(await remove(5, { gracePeriodSeconds: 10 })).toEqual({ until: 10, grace: 10, gone: false })
  })

  it('leaves a second to clients that wait when the whole grace is over', async () => {
    const remove = await podOnNode()
    await remove(0, { gracePeriodSeconds: 30 })
    expect(await remove(20, { gracePeriodSeconds: 10 })).toEqual({ until: 20, grace: 1, gone: false })
    expect(await remove(21, { gracePeriodSeconds: 0, dryRun: ['All'] })).toMatchObject({ grace: 0, gone: true })
  })
})

it('a Pod that is over goes at once', async () => {
  const remove = await podOnNode('Failed')
  expect(await remove(0, { gracePeriodSeconds: 30, dryRun: ['All'] })).toMatchObject({ grace: 0, gone: true })
})

it.each([
  ['TooLarge', 1],
  ['Uncertain', 0],
] as const)(
  'what admission took is given back when a DELETE fails, and kept when nobody knows: %s',
  async (code, times) => {
    const server = memoryServer()
    await server.put('', 'configmaps', { metadata: { name: 'a', namespace: 'default' } })
    const request = server.request('/api/v1/namespaces/default/configmaps/a', { method: 'DELETE' })
    const entry = (await servedResources(request)).find('', 'v1', 'configmaps')!
    const scope = resourceScope(request, entry, { name: 'a', subresource: '', namespace: 'default' })
    const failing = { ...scope.storage, delete: () => Promise.reject(new StorageError(code)) }
    let undone = 0
    const admission: Admission = {
      ...withoutAdmission,
      validate: () =>
        Promise.resolve(() => {
          undone++
          return Promise.resolve()
        }),
    }
    await expect(deleteObject({ ...scope, storage: failing }, 'a', {}, admission)).rejects.toBeInstanceOf(StatusError)
    expect(undone).toBe(times)
  },
)

describe('the DELETE of many objects', () => {
  /** ConfigMaps a, b and c; `meanwhile` runs after they were read. */
  async function deleted(meanwhile: (scope: ResourceScope) => Promise<unknown>) {
    const server = memoryServer()
    for (const name of ['a', 'b', 'c'])
      await server.put('', 'configmaps', { metadata: { name, namespace: 'default', uid: `uid of ${name}` } })
    const request = server.request('/api/v1/namespaces/default/configmaps', { method: 'DELETE' })
    const entry = (await servedResources(request)).find('', 'v1', 'configmaps')!
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'default' })
    const calls: string[] = []
    const storage: typeof scope.storage = {
      ...scope.storage,
      async *several(collection, keys) {
        const read = await Array.fromAsync(scope.storage.several(collection, keys))
        await meanwhile(scope)
        yield* read
      },
      get(...call) {
        calls.push(`get ${call[1]}`)
        return scope.storage.get(...call)
      },
      delete(...call) {
        calls.push(`delete ${call[1]} ${(JSON.parse(call[2].text) as KubeObject).metadata.labels?.['at'] ?? ''}`.trim())
        return scope.storage.delete(...call)
      },
    }
    await deleteEach({ ...scope, storage }, [{ name: 'a' }, { name: 'gone' }, { name: 'c' }], {}, withoutAdmission)
    return calls
  }

  it('reads them together', async () => {
    expect(await deleted(() => Promise.resolve())).toEqual(['delete default/a', 'delete default/c'])
  })

  it('reads one again that changed since, so that its last state is the newest', async () => {
    const change = async ({ storage, collection }: ResourceScope) => {
      const { revision } = (await storage.get(collection, 'default/a'))!
      const start = '{"metadata":{"resourceVersion":"'
      const rest = '","name":"a","namespace":"default","uid":"uid of a","labels":{"at":"later"}}}'
      await storage.update(collection, 'default/a', { text: start + rest, at: start.length, uid: 'uid of a' }, revision)
    }
    expect(await deleted(change)).toEqual([
      'delete default/a',
      'get default/a',
      'delete default/a later',
      'delete default/c',
    ])
  })
})
