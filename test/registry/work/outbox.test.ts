import { describe, expect, test } from 'vitest'
import { memoryServer } from '../../request-in-memory.ts'
import { settingsOf } from '../../../src/settings.ts'
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { definitionOf } from '../../../src/registry/definitions.ts'
import { workFor } from '../../../src/registry/work/outbox.ts'

const SECRETS = { group: '', resource: 'secrets' }

const owner = (name: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name,
  uid: `uid-${name}`,
  blockOwnerDeletion,
})

const secret = (ownerReferences: OwnerReference[]): KubeObject => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'c', namespace: 'a', uid: 'uid-c', ...(ownerReferences.length === 0 ? {} : { ownerReferences }) },
})

describe('owners that an object no longer holds back may go', () => {
  const freed = (before: OwnerReference[], after: OwnerReference[]) =>
    workFor(
      definitionOf(SECRETS),
      { resource: SECRETS, object: secret(after), old: secret(before), now: 0 },
      settingsOf(memoryServer().env),
    )
      .filter(({ topic }) => topic === 'owners-freed')
      .flatMap(({ payload }) => (JSON.parse(payload) as { owners: OwnerReference[] }).owners.map(({ name }) => name))

  test.each<[string, OwnerReference[], OwnerReference[], string[]]>([
    ['one was taken off', [owner('o'), owner('p')], [owner('p')], ['o']],
    ['all were taken off', [owner('o'), owner('p')], [], ['o', 'p']],
    ['one is not to be held back any more', [owner('o')], [owner('o', false)], ['o']],
    ['nothing changed', [owner('o')], [owner('o')], []],
    ['one came', [owner('o')], [owner('o'), owner('p')], []],
    ['one that was not held back was taken off', [owner('o', false)], [], []],
  ])('%s', (_, before, after, expected) => {
    expect(freed(before, after)).toEqual(expected)
  })
})
