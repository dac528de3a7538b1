// Each list field of each built-in kind: twice as many elements are twice the work of a create, from the body to storage.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { apiVersionOf } from '../../src/api/group-version.ts'
import { builtInResources } from '../../src/registry/resources.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { ListType, Structural, StructType } from '../../src/schema/structural.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'
import { CountedWork } from './counted-work.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })

let work: CountedWork
beforeAll(async () => {
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
  await server.put('', 'namespaces', { ...namespace, status: { phase: 'Active' } })
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default', namespace: 'default' } }
  await server.put('', 'serviceaccounts', account)
  work = await CountedWork.start()
})
afterAll(() => work.stop())

interface Place {
  readonly path: string
  readonly url: string
  readonly object: (elements: number) => JsonObject
}

/** A value that says something in each of its simple fields, another one for each number. */
function valueOf(type: Structural, at: number): Json | undefined {
  switch (type.shape) {
    case 'leaf':
      return type.scalar === 'string' ? `v${at}` : type.scalar === 'bool' ? true : type.scalar === 'bytes' ? '' : at
    case 'struct': {
      const fields = type.fields.flatMap(({ name, type: below }): [string, Json][] => {
        const value = below.shape === 'leaf' ? valueOf(below, at) : undefined
        return value === undefined ? [] : [[name, value]]
      })
      return Object.fromEntries(fields)
    }
    case 'special':
      return type.special === 'intOrString' ? at : type.special === 'quantity' ? `${at}` : undefined
    default:
      return undefined
  }
}

/** The list fields below, each of its struct once however many kinds have that. */
function listsIn(type: StructType, seen: Set<string>, names: readonly string[]): [names: string[], list: ListType][] {
  return type.fields.flatMap((field): [string[], ListType][] => {
    const place = `${type.name}.${field.name}`
    if (seen.has(place)) return []
    seen.add(place)
    const below = [...names, field.name]
    if (field.type.shape === 'struct') return listsIn(field.type, seen, below)
    if (field.type.shape !== 'list') return []
    const { element } = field.type
    return [[below, field.type], ...(element.shape === 'struct' ? listsIn(element, seen, [...below, '0']) : [])]
  })
}

/** `value` behind names, of which `0` is the one element of a list. */
const within = (names: readonly string[], value: Json): Json =>
  names.reduceRight<Json>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value)

function places(): Place[] {
  const seen = new Set<string>()
  return builtInResources().groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.flatMap(({ resource, kind, namespaced, verbs }): Place[] => {
        const gvk = { group, version, kind }
        const type = typeOfKind(gvk)
        if (type === undefined || !verbs.includes('create')) return []
        const apiVersion = apiVersionOf(gvk)
        const root = group === '' ? '/api/v1' : `/apis/${apiVersion}`
        const url = `${root}${namespaced ? '/namespaces/default' : ''}/${resource}?dryRun=All`
        return listsIn(type, seen, []).map(([names, { element }]) => ({
          path: `${kind}.${names.join('.')}`,
          url,
          object(elements) {
            const list = Array.from({ length: elements }, (_, at) => valueOf(element, at) ?? {})
            const said = within(names, list) as JsonObject
            return { apiVersion, kind, ...said, metadata: { name: 'a', ...(said['metadata'] as JsonObject) } }
          },
        }))
      }),
    ),
  )
}

const create = (url: string, body: string): Promise<Response> => {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  return answer(server.request(url, { method: 'POST', body, headers }))
}

/** Some lists have a limit, above which nothing is looked at; what they cost there is not told by what they cost below. */
const ABOVE_LIMITS = 150

const all = places()

test('there are many', () => expect(all.length).toBeGreaterThan(200))

test.each(all)('$path', async ({ url, object }) => {
  const growth = await work.growth(
    (n) => JSON.stringify(object(n)),
    (body) => create(url, body),
    ABOVE_LIMITS,
  )
  // a body that is worked on in parts takes more steps than one that is just too small for that
  expect(growth).toBeLessThan(3.3)
})
