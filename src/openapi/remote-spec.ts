/**
 * The part of another server's OpenAPI v2 document that describes one group version, and how it is merged into this
 * server's document.
 */
import { ownValue } from '../base/own.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { Pace } from '../base/pace.ts'
import type { Steps } from '../base/slices.ts'
import type { Member } from './members.ts'
import { textOf } from './members.ts'

/** Members by name, as JSON: a spec is kept for long, and parsed it would take many times its text. */
type Texts = ReadonlyMap<string, string>

export interface RemoteSpec {
  /** Equal hashes mean equal specs. */
  readonly hash: string
  readonly paths: Texts
  /** The definitions that the paths refer to. */
  readonly definitions: Texts
  readonly parameters: Texts
}

const membersOf = (object: JsonObject): [string, Json][] =>
  Object.entries(object).flatMap(([name, value]): [string, Json][] => (value === undefined ? [] : [[name, value]]))

const SECTIONS = ['definitions', 'parameters'] as const
type Section = (typeof SECTIONS)[number]

/**
 * @param document the other server's answer, unchecked
 * @param prefix of the wanted paths
 */
export function* specBelow(document: unknown, prefix: string): Steps<RemoteSpec> {
  const entries = (name: string): [string, Json][] => {
    const value = isJsonObject(document) ? ownValue(document, name) : undefined
    return isJsonObject(value) ? membersOf(value) : []
  }
  const paths = new Map(entries('paths').filter(([path]) => path.startsWith(prefix)))
  const all = { definitions: new Map(entries('definitions')), parameters: new Map(entries('parameters')) }
  const needed: Record<Section, Map<string, Json>> = { definitions: new Map(), parameters: new Map() }
  const waiting: Json[] = [...paths.values()]
  const pace = new Pace()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
    for (const reference of referencesIn(next)) {
      if (pace.isOver()) yield
      if (reference === undefined) continue
      const [section, name] = reference
      const found = all[section].get(name)
      if (found === undefined || needed[section].has(name)) continue
      needed[section].set(name, found)
      waiting.push(found)
    }
  const hash = new Hash()
  function* texts(members: ReadonlyMap<string, Json>): Steps<Texts> {
    const made = new Map<string, string>()
    for (const [name, value] of members) {
      const text = JSON.stringify(value)
      made.set(name, text)
      if (hash.add(`${JSON.stringify(name)}:${text}`)) yield
    }
    return made
  }
  const found = {
    paths: yield* texts(paths),
    definitions: yield* texts(needed.definitions),
    parameters: yield* texts(needed.parameters),
  }
  return { hash: hash.text, ...found }
}

/** Characters that are looked at between two steps. */
const LOOKED_AT = 256 * 1024

/** FNV-1a of the UTF-16 units, and the length. It shows whether a server's document has changed since the last read. */
class Hash {
  private hash = 0x811c9dc5
  private length = 0
  private left = LOOKED_AT

  /** @returns whether other requests should have their turn */
  add(text: string): boolean {
    for (let at = 0; at < text.length; at++) this.hash = Math.imul(this.hash ^ text.charCodeAt(at), 0x01000193)
    this.length += text.length
    this.left -= text.length
    if (this.left > 0) return false
    this.left = LOOKED_AT
    return true
  }

  get text(): string {
    return `${this.length}-${(this.hash >>> 0).toString(16)}`
  }
}

const REFERENCE = /^#\/(definitions|parameters)\/(.+)$/

/** The references in a value. It yields undefined once for each value that it visits, so that the caller can pause. */
function* referencesIn(root: Json): Generator<readonly [Section, string] | undefined, void, undefined> {
  const waiting: Json[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    yield undefined
    if (Array.isArray(value)) for (const one of value) waiting.push(one)
    else if (isJsonObject(value))
      for (const [name, member] of membersOf(value)) {
        const [, section, target] = name === '$ref' && typeof member === 'string' ? (REFERENCE.exec(member) ?? []) : []
        // the pattern has both groups
        if (section !== undefined && target !== undefined) yield [section as Section, unescaped(target)]
        else waiting.push(member)
      }
  }
}

const unescaped = (pointer: string): string => pointer.replaceAll('~1', '/').replaceAll('~0', '~')

/**
 * The members that the specs add to a document. A definition whose name is taken gets a number (`NAME_v2`), as in
 * kube-aggregator. Definitions that differ only in their kinds are shared.
 */
export function* addedBy(
  specs: readonly RemoteSpec[],
  known: Readonly<Record<Section | 'paths', readonly Member[]>>,
): Steps<Record<Section | 'paths', Member[]>> {
  let left = LOOKED_AT
  const added: Record<Section | 'paths', Member[]> = { paths: [], definitions: [], parameters: [] }
  const paths = new Set(known.paths.map(([name]) => name))
  const taken = {
    definitions: new Map(known.definitions),
    parameters: new Map(known.parameters),
  }
  for (const spec of specs) {
    const renamed = new Map<string, string>()
    for (const section of SECTIONS)
      for (const [name, text] of spec[section]) {
        left -= text.length
        if (left <= 0) {
          left = LOOKED_AT
          yield
        }
        const own = identity(parsed(text))
        let unique = name
        for (let number = 2; ; number++) {
          const other = taken[section].get(unique)
          if (other === undefined || identity(parsed(textOf(other()))) === own) break
          unique = `${name}_v${number}`
        }
        renamed.set(`#/${section}/${name}`, `#/${section}/${unique}`)
        if (taken[section].has(unique)) continue
        const json = () => JSON.stringify(withReferences(parsed(text), renamed))
        taken[section].set(unique, json)
        added[section].push([unique, json])
      }
    for (const [path, text] of spec.paths) {
      if (paths.has(path)) continue
      paths.add(path)
      added.paths.push([path, () => JSON.stringify(withReferences(parsed(text), renamed))])
    }
  }
  return added
}

/** JSON that this server has written. */
const parsed = (text: string): Json => JSON.parse(text) as Json

const KINDS = 'x-kubernetes-group-version-kind'

/** The same text for definitions that differ only in their kinds and in the order of members. */
const identity = (value: Json): string => JSON.stringify(sorted(value))

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const members = membersOf(value).filter(([name]) => name !== KINDS)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]))
}

/** @param renamed the new names of definitions, by the old ones */
export function withModelNames([name, json]: Member, renamed: ReadonlyMap<string, string>): Member {
  const references = new Map([...renamed].map(([old, now]) => [`#/definitions/${old}`, `#/definitions/${now}`]))
  return [renamed.get(name) ?? name, () => JSON.stringify(withReferences(parsed(textOf(json())), references))]
}

function withReferences(value: Json, renamed: ReadonlyMap<string, string>): Json {
  if (Array.isArray(value)) return value.map((one) => withReferences(one, renamed))
  if (!isJsonObject(value)) return value
  const members: [string, Json][] = membersOf(value).map(([name, one]) => [
    name,
    name === '$ref' && typeof one === 'string' ? (renamed.get(one) ?? one) : withReferences(one, renamed),
  ])
  return Object.fromEntries(members)
}
