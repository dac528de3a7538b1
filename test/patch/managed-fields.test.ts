import { describe, expect, test, vi } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import type { Steps } from '../../src/base/slices.ts'
import { applying } from '../../src/patch/apply.ts'
import type { Application } from '../../src/patch/apply.ts'
import { managerOfUserAgent, trackUpdate, tracking } from '../../src/patch/managed-fields.ts'
import { decodeManagers, sameButTimes } from '../../src/patch/managers.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { Actor } from './story.ts'
import { Story, clusterRoles, configMaps, deployments } from './story.ts'

const set = (object: JsonObject, name: string, value: JsonObject[string]) => {
  object[name] = value
}

describe('plain writes', () => {
  test('the creator owns the sent and the defaulted fields, with the maps around them', () => {
    const story = new Story(configMaps).write('kubectl', { data: { a: '1' }, metadata: { labels: { l: 'x' } } })
    expect(story.owners).toEqual({
      'Update kubectl': {
        'f:data': { '.': {}, 'f:a': {} },
        'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
      },
    })
    expect(story.entries[0]).toMatchObject({ apiVersion: 'v1', time: '2030-01-01T00:01:00Z', fieldsType: 'FieldsV1' })
  })

  test('structs that are always there have no owner; pointers belong to the manager that set them', () => {
    const story = new Story(deployments).write('m', {
      spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
    })
    const { 'f:spec': spec } = story.owners['Update m'] as { 'f:spec': JsonObject }
    expect(spec['f:strategy']).toEqual({
      'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} },
      'f:type': {},
    })
    expect(
      Object.keys(((spec['f:template'] as JsonObject)['f:spec'] as JsonObject)['f:containers'] as JsonObject),
    ).toEqual(['k:{"name":"c"}'])
  })

  test('a change takes the field from its owner, who goes when nothing is left', () => {
    const story = new Story(configMaps)
      .write('a', { data: { x: '1', y: '1' } })
      .write('b', { data: { x: '2', y: '1' } })
    expect(story.owners).toEqual({
      'Update a': { 'f:data': { '.': {}, 'f:y': {} } },
      'Update b': { 'f:data': { 'f:x': {} } },
    })
    story.write('b', { data: { z: '3' } })
    expect(story.owners).toEqual({ 'Update a': { 'f:data': {} }, 'Update b': { 'f:data': { 'f:z': {} } } })
  })

  test('a write that changes nothing changes no owner and no time', () => {
    const story = new Story(configMaps).write('a', { data: { x: '1' } })
    const before = story.entries
    expect(story.write('b', { data: { x: '1' } }).entries).toEqual(before)
  })

  // Go compares the elements of a list that is one value in memory, where an empty list is another value than none
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const selector = { matchLabels: { a: 'b' } }
  const expression = { key: 'a', operator: 'Exists' }
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  test.each<[what: string, of: Actor, stored: JsonObject, sent: JsonObject, taken: JsonObject | undefined]>([
    [
      'a rule of a role with an empty list takes all rules',
      clusterRoles,
      { rules: [rule, rule] },
      { rules: [rule, { ...rule, resourceNames: [] }] },
      { 'f:rules': {} },
    ],
    [
      'an expression of a selector with an empty list takes the selector',
      deployments,
      { spec: { template, selector: { ...selector, matchExpressions: [expression] } } },
      { spec: { template, selector: { ...selector, matchExpressions: [{ ...expression, values: [] }] } } },
      { 'f:spec': { 'f:selector': {} } },
    ],
    [
      'an empty list of expressions in a selector takes nothing',
      deployments,
      { spec: { template, selector } },
      { spec: { template, selector: { ...selector, matchExpressions: [] } } },
      undefined,
    ],
    [
      'an empty list in an element with a name takes nothing',
      deployments,
      { spec: { template, selector } },
      {
        spec: {
          selector,
          template: { ...template, spec: { containers: [{ name: 'c', image: 'i', args: [], env: [] }], volumes: [] } },
        },
      },
      undefined,
    ],
  ])('%s', (_what, of, stored, sent, taken) => {
    const story = new Story(of).write('a', stored)
    const before = story.owners['Update a']
    story.write('b', sent)
    expect(story.owners['Update b']).toEqual(taken)
    if (taken === undefined) expect(story.owners['Update a']).toEqual(before)
    const after = story.entries
    expect(story.write('a', stored).entries).toEqual(after)
  })

  test('the main resource does not own the status, nor status the spec', () => {
    const spec = { selector: { matchLabels: { a: 'b' } }, template: {} }
    const story = new Story(deployments).write('a', { spec, status: { replicas: 3 } }).edit(
      'b',
      (object) => {
        set(object, 'status', { replicas: 4 })
        set(object, 'spec', { ...(object['spec'] as JsonObject), paused: true })
      },
      'status',
    )
    expect(story.owners['Update a']).not.toHaveProperty('f:status')
    expect(story.owners['Update b status']).toEqual({ 'f:status': { 'f:replicas': {} } })
  })

  test('more than ten updaters: the oldest become one', () => {
    const story = new Story(configMaps)
    for (let at = 0; at < 12; at++) story.write(`m${at}`, { data: { x: String(at), [`k${at}`]: '1', ...data(at) } })
    const managers = story.entries.map(({ manager }) => manager)
    expect(managers).toEqual(['ancient-changes', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11'])
    expect(story.owners['Update ancient-changes']).toEqual({
      'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
    })
    expect(story.entries[0]!.time).toBe('2030-01-01T00:03:00Z')
  })
})

const data = (until: number) => Object.fromEntries(Array.from({ length: until }, (_, at) => [`k${at}`, '1']))

describe('managedFields that a client sends', () => {
  const entry = (fieldsV1: JsonObject, more: JsonObject = {}): JsonObject => ({
    manager: 'z',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  })
  const start = () => new Story(configMaps).write('a', { data: { x: '1' } })
  const sent = (managedFields: JsonObject[string]) =>
    Object.keys(start().write('b', { data: { x: '1' }, metadata: { managedFields } }).owners)

  test.each<[string, JsonObject[string], string[]]>([
    ['none at all', null, ['Update a']],
    ['an empty list clears', [], []],
    ['an empty entry clears', [{}], []],
    ['two empty entries can not be read', [{}, {}], ['Update a']],
    ['an unknown operation can not be read', [entry({ 'f:data': {} }, { operation: 'Drop' })], ['Update a']],
    ['no version can not be read', [entry({ 'f:data': {} }, { apiVersion: '' })], ['Update a']],
    ['another fieldsType can not be read', [entry({ 'f:data': {} }, { fieldsType: 'FieldsV2' })], ['Update a']],
    ['a path without prefix can not be read', [entry({ data: {} })], ['Update a']],
    ['others take their place', [entry({ 'f:data': { 'f:x': {} } })], ['Update z']],
    ['one that owns nothing goes', [entry({}), entry({ 'f:data': { 'f:x': {} } }, { manager: 'y' })], ['Update y']],
    [
      'a version that the kind does not have goes',
      [entry({ 'f:data': {} }, { apiVersion: 'v7' }), entry({ 'f:data': {} })],
      ['Update z'],
    ],
  ])('%s', (_, managedFields, owners) => {
    expect(sent(managedFields)).toEqual(owners)
  })

  test('a subresource takes none', () => {
    const story = new Story(deployments).write('a', { spec: { selector: {}, template: {} } })
    const before = story.entries
    const managedFields = [entry({ 'f:spec': {} }, { apiVersion: 'apps/v1' })]
    story.edit(
      'b',
      (object) => set(object, 'metadata', { ...(object['metadata'] as JsonObject), managedFields }),
      'status',
    )
    expect(story.entries).toEqual(before)
  })

  test('an object that is not tracked stays so', () => {
    const story = start().write('b', { data: { x: '1' }, metadata: { managedFields: [] } })
    expect(story.write('c', { data: { x: '2' } }).entries).toEqual([])
  })
})

test('manager, operation, subresource and, for updaters, version distinguish entries', () => {
  const entries = [
    { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } },
    { manager: 'm', operation: 'Apply', apiVersion: 'v2', fieldsType: 'FieldsV1', fieldsV1: { 'f:b': {} } },
    { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } },
    { manager: 'm', operation: 'Update', apiVersion: 'v2', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } },
    { manager: 'm', operation: 'Update', apiVersion: 'v2', fieldsType: 'FieldsV1', fieldsV1: {}, subresource: 's' },
  ]
  expect(decodeManagers(entries).size).toBe(4)
})

test.each([
  ['kubectl/v1.36.3 (linux/amd64) kubernetes/abc', 'kubectl'],
  ['my tool', 'my tool'],
  ['a\u0007b/1', 'ab'],
  ['/x', ''],
  [`${'é'.repeat(70)}/1`, 'é'.repeat(64)],
])('the manager of %j', (agent, manager) => {
  expect(managerOfUserAgent(agent)).toBe(manager)
})

test('times alone are no change', () => {
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } }
  const [old, later] = [[{ ...entry, time: '2030-01-01T00:00:00Z' }], [{ ...entry, time: '2030-01-02T00:00:00Z' }]]
  expect(sameButTimes(later, old)).toEqual(old)
  expect(sameButTimes(old, old)).toBeUndefined()
  expect(sameButTimes([{ ...later[0]!, fieldsV1: { 'f:b': {} } }], old)).toBeUndefined()
})

test('the reason why ownership could not be computed is reported', () => {
  const type = typeOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!
  const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u', managedFields: [] } }
  const owned = { manager: 'm', operation: 'Update', apiVersion: 'not/a/version', fieldsType: 'FieldsV1', fieldsV1: {} }
  const errors: unknown[] = []
  const object = { ...live, metadata: { ...live.metadata, managedFields: [owned] } } as unknown as KubeObject
  const write = { type, live, object, manager: 'm', apiVersion: 'v1', subresource: '', now: new Date(0) }
  expect(trackUpdate({ ...write, failed: (error) => errors.push(error) })).toBeUndefined()
  expect(errors).toEqual([new Error('unexpected GroupVersion string: not/a/version')])
})

describe('a write of an object with thousands of managers', () => {
  const managers = (operation: string) =>
    Array.from({ length: 4_000 }, (_, at) => ({
      manager: `m${at}`,
      operation,
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:absent-${at}`]: {} } },
    }))
  const object = (operation: string): KubeObject =>
    ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c', managedFields: managers(operation) } }) as KubeObject

  /** How often others have their turn. */
  function turnsOf(write: () => Steps<unknown>): number {
    const steps = write()
    let turns = 0
    while (steps.next(true).done !== true) turns++
    return turns
  }
  const type = typeOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!
  const common = { type, manager: 'me', apiVersion: 'v1', subresource: '', now: new Date(0) }

  test.each(['Apply', 'Update'])('gives others their turn after many of them, not after each: %s', (operation) => {
    const failed = vi.fn()
    const turns = turnsOf(() => tracking({ ...common, live: undefined, object: object(operation), failed }))
    expect(turns).toBeGreaterThan(50)
    expect(turns).toBeLessThan(500)
    expect(failed).not.toHaveBeenCalled()
  })

  test('so does an apply', () => {
    const data = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'v']))
    const application: Application = {
      ...common,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      live: object('Apply'),
      config: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c' }, data },
      force: true,
      toObject: (merged) => merged as unknown as KubeObject,
    }
    expect(turnsOf(() => applying(application))).toBeLessThan(500)
  })
})
