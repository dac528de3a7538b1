import { expect, test } from 'vitest'
import type { Json } from '../../src/api/object.ts'
import { atOnce } from '../../src/base/slices.ts'
import { addedBy as adding, specBelow as below } from '../../src/openapi/remote-spec.ts'
import { textOf } from '../../src/openapi/members.ts'
import type { Member } from '../../src/openapi/members.ts'

const refer = (name: string) => ({ $ref: `#/definitions/${name}` })
const document = (definitions: object) => ({
  paths: {
    '/apis/wardle.example.com/v1/flunders': {
      get: { schema: refer('Flunder'), parameters: [{ $ref: '#/parameters/p' }] },
    },
    '/apis/other.example.com/v1/things': { get: { schema: refer('Thing') } },
    '/version/': {},
  },
  definitions,
  parameters: { p: { name: 'pretty' }, q: {} },
})
const definitions = {
  Flunder: { properties: { metadata: refer('Meta') } },
  Meta: { properties: { again: refer('Meta') }, 'x-kubernetes-group-version-kind': [{ kind: 'Remote' }] },
  Thing: {},
}
const addedBy = (...of: Parameters<typeof adding>) => atOnce(adding(...of))
const specBelow = (value: unknown, prefix: string) => atOnce(below(value, prefix))
const spec = (more: object = {}) => specBelow(document({ ...definitions, ...more }), '/apis/wardle.example.com/v1/')

const members = (object: Record<string, Json>): Member[] =>
  Object.entries(object).map(([name, value]) => [name, () => JSON.stringify(value)])
const read = (added: readonly Member[]) =>
  Object.fromEntries(added.map(([name, json]) => [name, JSON.parse(textOf(json()))]))
const none = { paths: [], definitions: [], parameters: [] }

test('the paths of one group version are taken from a document, with everything that they need', () => {
  const { paths, definitions, parameters } = spec()
  expect([...paths.keys()]).toEqual(['/apis/wardle.example.com/v1/flunders'])
  expect([...definitions.keys()].sort()).toEqual(['Flunder', 'Meta'])
  expect([...parameters.keys()]).toEqual(['p'])
  // a kept document takes as much as its text
  expect(parameters.get('p')).toBe('{"name":"pretty"}')
})

test.each([undefined, null, 'text', [], { paths: 1, definitions: null }])('of %j, nothing', (value) => {
  expect(specBelow(value, '/').paths.size).toBe(0)
})

test('a definition that is the same but for its kinds is shared', () => {
  const known = { ...none, definitions: members({ Meta: { properties: { again: refer('Meta') } } }) }
  const added = addedBy([spec()], known)
  expect(Object.keys(read(added.definitions))).toEqual(['Flunder'])
})

test('one whose name another has gets a number, wherever it is referred to', () => {
  const known = { ...none, definitions: members({ Meta: { type: 'object' } }) }
  const other = spec({ Meta: { type: 'string' } })
  const { definitions: all } = addedBy([spec(), other], known)
  expect(read(all)).toMatchObject({
    Flunder: { properties: { metadata: refer('Meta_v2') } },
    Meta_v2: { properties: { again: refer('Meta_v2') } },
    Meta_v3: { type: 'string' },
  })
})

test('a path of this server stays its own', () => {
  const known = { ...none, paths: members({ '/apis/wardle.example.com/v1/flunders': { get: {} } }) }
  expect(addedBy([spec()], known).paths).toEqual([])
})

test('a document of many definitions is merged in steps', () => {
  const text = 'x'.repeat(1_000)
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`D${at}`, { title: text, number: at }]))
  const flunder = { properties: Object.fromEntries(Object.keys(many).map((name) => [name, refer(name)])) }
  const steps = adding([spec({ ...many, Flunder: flunder })], none)
  let count = 1
  while (steps.next(true).done !== true) count++
  expect(count).toBeGreaterThan(5)
})
