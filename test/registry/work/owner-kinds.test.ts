import { expect, test } from 'vitest'
import { announceOwners } from '../../../src/registry/work/owner-kinds.ts'
import type { Env } from '../../../src/env.ts'

const PODS = { group: '', resource: 'pods' }

function recorder() {
  const told: string[] = []
  const announced = async (_: unknown, kinds: readonly string[]) => void told.push(...kinds)
  return { told, env: { CONTROLLERS: { getByName: () => ({ announceOwners: announced }) } } as unknown as Env }
}

const owned = (...kinds: string[]) => ({
  metadata: {
    name: 'p',
    ownerReferences: kinds.map((kind) => ({ apiVersion: 'apps/v1', kind, name: 'o', uid: 'u' })),
  },
})

test('a pair is announced once', async () => {
  const { told, env } = recorder()
  const tenant = { uid: 'owners-once' }
  await announceOwners(env, tenant, PODS, owned('Deployment', 'Deployment', 'ReplicaSet'))
  await announceOwners(env, tenant, PODS, owned('Deployment'))
  await announceOwners(env, tenant, { group: '', resource: 'secrets' }, owned('Deployment'))
  expect(told).toEqual(['Deployment.apps', 'ReplicaSet.apps', 'Deployment.apps'])
})

test('a definition that came back under its name is another', async () => {
  const { told, env } = recorder()
  const tenant = { uid: 'owners-again' }
  const things = { group: 'example.com', resource: 'things' }
  for (const definition of ['one', 'one', 'two'])
    await announceOwners(env, tenant, things, owned('Deployment'), definition)
  expect(told).toEqual(['Deployment.apps', 'Deployment.apps'])
})

test('a kind longer than any that can be served is not told', async () => {
  const { told, env } = recorder()
  await announceOwners(env, { uid: 'owners-long' }, PODS, owned('K'.repeat(300_000), 'Deployment'))
  expect(told).toEqual(['Deployment.apps'])
})

test('twenty thousand made-up kinds are told, and the first of them once more when it comes again', async () => {
  const { told, env } = recorder()
  const tenant = { uid: 'owners-many' }
  for (let n = 0; n < 20_000; n++) await announceOwners(env, tenant, PODS, owned(`Kind${n}`))
  await announceOwners(env, tenant, PODS, owned('Kind0'))
  await announceOwners(env, tenant, PODS, owned('Kind19999'))
  expect(told).toHaveLength(20_001)
})
