/**
 * The built-in types, expanded from the generated table (generate-table.mjs says how it is written) when they are first
 * asked for: a type costs some 10 µs once, all that a Pod consists of about a millisecond.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import type { Json } from '../api/object.ts'
import table from './built-in-table.json' with { type: 'json' }
import type {
  Field,
  Leaf,
  ListType,
  MapType,
  MessageMember,
  PatchStrategy,
  Scalar,
  Special,
  SpecialName,
  Structural,
  StructType,
} from './structural.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

// JSON modules are typed as the literals they hold; what is looked up here is known only by name
const packages = table.packages as unknown as readonly (readonly [name: string, apiVersion: string])[]
const valueSets = table.values as unknown as readonly (readonly [
  goType: string,
  declared: number,
  ...values: string[],
])[]
const texts = table.types as Readonly<Record<string, Readonly<Record<string, string>>>>

const structs = new Map<string, StructType>()
const expanded = new Map<string, Structural>()

const textOf = (name: string): string | undefined => {
  const dot = name.lastIndexOf('.')
  const types = texts[name.slice(0, dot)]
  const kind = name.slice(dot + 1)
  return types !== undefined && Object.hasOwn(types, kind) ? types[kind] : undefined
}

/** Go's name of a type in error texts: package and name (`v1.Pod`, `resource.Quantity`). */
const goTypeOf = (name: string) => name.slice(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1)

/**
 * A built-in type that is an object in JSON.
 * @param name OpenAPI model name, `io.k8s.api.core.v1.Pod`
 * @throws when there is no such type
 */
export function builtInType(name: string): StructType {
  const known = structs.get(name)
  if (known !== undefined) return known
  const type = structuralOf(name)
  if (type.shape !== 'struct') throw new Error(`${name} is a ${type.shape}, not an object`)
  return type
}

/** Whether there is a built-in type of this model name. */
export const isBuiltInType = (name: string): boolean => textOf(name) !== undefined

/** Model names of all built-in types, in alphabetical order. */
export const builtInTypeNames = (): string[] =>
  packages.flatMap(([name]) => Object.keys(texts[name]!).map((kind) => `${name}.${kind}`))

/** Packages whose kinds are those of a group version (`apps/v1`); several for none but `v1`. */
const packageOfVersion = new Map(
  packages.filter(([, version]) => version !== '').map(([name, version]) => [version, name]),
)

const versionOfPackage = new Map(packages)

/** meta.k8s.io/v1beta1 has these kinds of meta.k8s.io/v1 under its own name. */
const META_V1BETA1 = new Set(['Table', 'TableOptions', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

const registeredAs = (name: string) => /^[KVE]/.exec(textOf(name) ?? '')?.[0]

/**
 * The type of a registered kind: those of a group version, the options that every group version has (ListOptions …,
 * WatchEvent) and the kinds without a group version of their own, which are `v1` (Status, APIGroupList …).
 */
export function typeOfKind(gvk: GroupVersionKind): StructType | undefined {
  const apiVersion = apiVersionOf(gvk)
  const ofVersion = packageOfVersion.get(apiVersion)
  if (ofVersion !== undefined) {
    const name = `${ofVersion}.${gvk.kind}`
    if (registeredAs(name) === 'K') return builtInType(name)
  }
  const name = `${META}.${gvk.kind}`
  const registered = registeredAs(name)
  const found =
    (registered === 'E' && (ofVersion !== undefined || apiVersion === 'meta.k8s.io/v1beta1')) ||
    (registered === 'V' && apiVersion === 'v1') ||
    (apiVersion === 'meta.k8s.io/v1beta1' && META_V1BETA1.has(gvk.kind))
  return found ? builtInType(name) : undefined
}

/** The type behind a model name, whatever its shape. */
export function structuralOf(name: string): Structural {
  let type = expanded.get(name)
  if (type === undefined) {
    const text = textOf(name)
    if (text === undefined) throw new Error(`no built-in type ${name}`)
    type = expand(name, text)
    expanded.set(name, type)
    if (type.shape === 'struct') structs.set(name, type)
  }
  return type
}

function expand(name: string, text: string): Structural {
  const end = text.indexOf('\n')
  const head = end < 0 ? text : text.slice(0, end)
  const lines = () => (end < 0 ? [] : text.slice(end + 1).split('\n'))
  const flags = /^\S*/.exec(head)![0]
  const special = flags.indexOf('S')
  if (special >= 0) return specialType(flags.slice(special + 1) as SpecialName, name)
  if (flags.includes('W')) return wrapperType(name)
  return new BuiltInStruct(name, flags, head.slice(flags.length + 1), lines)
}

function specialType(special: SpecialName, name: string): Special {
  if (!special.startsWith('schemaOr')) return { shape: 'special', special }
  const schema = `${name.slice(0, name.lastIndexOf('.'))}.JSONSchemaProps`
  return { shape: 'special', special, of: () => builtInType(schema) }
}

/** ExtraValue and Verbs: a list of strings with a name. */
function wrapperType(name: string): ListType {
  const goType = goTypeOf(name)
  return {
    shape: 'list',
    element: leaf('string'),
    listType: 'atomic',
    keys: none,
    patchStrategy: noStrategy,
    wrapper: goType,
    goType,
  }
}

/** What the lines of a type say, once read. */
interface Contents {
  readonly fields: readonly Field[]
  readonly message: readonly MessageMember[]
}

class BuiltInStruct implements StructType {
  readonly shape = 'struct'
  readonly gvk?: GroupVersionKind
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  readonly goType: string
  readonly unions?: Json
  #contents: Contents | undefined
  #byName: ReadonlyMap<string, Field> | undefined

  constructor(
    readonly name: string,
    private readonly flags: string,
    unions: string,
    private readonly lines: () => string[],
  ) {
    this.typeMeta = flags.includes('T')
    this.mapType = flags.includes('A') ? 'atomic' : 'granular'
    this.goType = goTypeOf(name)
    const gvk = gvkOf(name, flags)
    if (gvk !== undefined) this.gvk = gvk
    if (unions !== '') this.unions = JSON.parse(unions) as Json
  }

  get #expanded(): Contents {
    return (this.#contents ??= readFields(this.name, this.lines()))
  }

  get fields(): readonly Field[] {
    return this.#expanded.fields
  }

  field(name: string): Field | undefined {
    return (this.#byName ??= new Map(this.fields.map((field) => [field.name, field]))).get(name)
  }

  get message(): readonly MessageMember[] | undefined {
    return this.flags.includes('N') ? undefined : this.#expanded.message
  }
}

function gvkOf(name: string, flags: string): GroupVersionKind | undefined {
  const dot = name.lastIndexOf('.')
  const kind = name.slice(dot + 1)
  if (flags.startsWith('V')) return { group: '', version: 'v1', kind }
  if (!flags.startsWith('K')) return undefined
  const apiVersion = versionOfPackage.get(name.slice(0, dot))!
  return { ...parseApiVersion(apiVersion)!, kind }
}

function readFields(owner: string, lines: readonly string[]): Contents {
  const fields: Field[] = []
  const message: MessageMember[] = []
  for (const line of lines) {
    const words = line.split(' ')
    if (words[0] === '~') {
      const inline = builtInType(modelName(owner, words[2]!))
      const number = Number(words[1])
      const goName = inline.name.slice(inline.name.lastIndexOf('.') + 1)
      message.push({ inline, number })
      for (const field of inline.fields)
        fields.push({ ...field, within: [number, ...field.within], embeddedIn: [goName, ...field.embeddedIn] })
    } else {
      const field = readField(owner, words)
      fields.push(field)
      message.push({ field })
    }
  }
  return { fields, message }
}

/** `@Kind` or `@n.Kind` */
function modelName(owner: string, reference: string): string {
  const dot = reference.indexOf('.')
  return dot < 0
    ? `${owner.slice(0, owner.lastIndexOf('.'))}.${reference.slice(1)}`
    : `${packages[Number(reference.slice(1, dot))]![0]}.${reference.slice(dot + 1)}`
}

const scalars: Readonly<Record<string, Scalar>> = {
  s: 'string',
  i: 'int32',
  l: 'int64',
  b: 'bool',
  y: 'bytes',
  d: 'double',
}
const leaves = new Map<string, Leaf>()

function leaf(scalar: Scalar): Leaf {
  let type = leaves.get(scalar)
  if (type === undefined) leaves.set(scalar, (type = { shape: 'leaf', scalar }))
  return type
}

const untyped: Structural = { shape: 'untyped' }
const none: readonly never[] = []
const noKeys: readonly string[] = none

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const noStrategy: PatchStrategy = { merge: false, replace: false, retainKeys: false }
const strategies = new Map<string, PatchStrategy>()

function patchStrategy(text: string): PatchStrategy {
  let strategy = strategies.get(text)
  if (strategy === undefined) {
    const words = text.split(',')
    strategy = {
      merge: words.includes('merge'),
      replace: words.includes('replace'),
      retainKeys: words.includes('retainKeys'),
    }
    strategies.set(text, strategy)
  }
  return strategy
}

/** What the attributes of a field line say; read once, then taken apart into the field and its type. */
class Attributes {
  pointer = false
  omit: Field['omit'] = 'never'
  required = false
  discriminator = false
  listType: 'atomic' | 'set' | 'map' | undefined = undefined
  keys: readonly string[] = noKeys
  mapType: 'granular' | 'atomic' | undefined = undefined
  strategy: PatchStrategy = noStrategy
  mergeKey: string | undefined = undefined
  values = -1
  goType: string | undefined = undefined
  gates: readonly string[] | undefined = undefined
  default: Json | undefined = undefined

  constructor(words: readonly string[]) {
    for (let i = 3; i < words.length; i++) this.#read(words[i]!)
  }

  #read(word: string): void {
    const argument = () => (word.charAt(1) === '(' ? word.slice(2, -1) : word.slice(1))
    // prettier-ignore
    switch (word.charAt(0)) {
      case 'p': this.pointer = true; break
      case 'o': this.omit = 'empty'; break
      case 'z': this.omit = 'zero'; break
      case 'r': this.required = true; break
      case 'd': this.discriminator = true; break
      case 'a': this.listType = 'atomic'; break
      case 'e': this.listType = 'set'; break
      case 'm': this.listType = 'map'; this.keys = argument().split(','); break
      case 'M': this.mapType = argument() === 'atomic' ? 'atomic' : 'granular'; break
      case 'P': this.strategy = patchStrategy(argument()); break
      case 'K': this.mergeKey = argument(); break
      case 'V': this.values = Number(argument()); break
      case 'Y': this.goType = argument(); break
      case 'G': this.gates = argument().split(','); break
      case '=': this.default = JSON.parse(argument()) as Json; break
      default: throw new Error(`unknown attribute ${word}`)
    }
  }
}

function readField(owner: string, words: readonly string[]): Field {
  const attributes = new Attributes(words)
  const type = readType(owner, words[2]!, attributes)
  const field: Mutable<Field> = {
    name: words[0]!,
    type,
    omit: attributes.omit,
    pointer: attributes.pointer,
    required: attributes.required,
    patchStrategy: attributes.strategy,
    number: Number(words[1]),
    within: none,
    embeddedIn: none,
  }
  if (attributes.mergeKey !== undefined) field.mergeKey = attributes.mergeKey
  if (attributes.gates !== undefined) field.featureGates = attributes.gates
  if (attributes.default !== undefined) field.default = attributes.default
  if (attributes.discriminator) field.unionDiscriminator = true
  if (type.shape === 'leaf' && attributes.listType !== undefined) field.declaredListType = attributes.listType
  if (type.shape === 'struct' && attributes.mapType !== undefined) field.declaredMapType = attributes.mapType
  return field
}

function readType(owner: string, type: string, attributes: Attributes): Structural {
  if (type.startsWith('*')) return readList(readElement(owner, type.slice(1), attributes), attributes)
  if (type.startsWith('{')) return readMap(readElement(owner, type.slice(1), attributes), attributes)
  const structural = readElement(owner, type, attributes)
  const { mapType, goType } = attributes
  if (structural.shape === 'struct' && mapType !== undefined && mapType !== structural.mapType)
    return withMapType(structural, mapType)
  if (structural.shape === 'leaf' && goType !== undefined) return { ...structural, goType }
  return structural
}

function readList(element: Structural, { listType, keys, strategy, mergeKey, goType }: Attributes): ListType {
  const list: Mutable<ListType> = {
    shape: 'list',
    element,
    listType: listType ?? 'atomic',
    keys,
    patchStrategy: strategy,
  }
  if (listType !== undefined) list.declaredListType = listType
  if (mergeKey !== undefined) list.mergeKey = mergeKey
  if (goType !== undefined) list.goType = goType
  return list
}

function readMap(value: Structural, { mapType, goType }: Attributes): MapType {
  const map: Mutable<MapType> = { shape: 'map', value, mapType: mapType ?? 'granular' }
  if (mapType !== undefined) map.declaredMapType = mapType
  if (goType !== undefined) map.goType = goType
  return map
}

function readElement(owner: string, type: string, { values }: Attributes): Structural {
  if (type.startsWith('@')) return structuralOf(modelName(owner, type))
  const scalar = scalars[type]
  if (scalar === undefined) return untyped
  return values < 0 ? leaf(scalar) : leafOfValues(scalar, values)
}

function leafOfValues(scalar: Scalar, index: number): Leaf {
  const key = `V${index}`
  let type = leaves.get(key)
  if (type === undefined) {
    const [goType, declared, ...list] = valueSets[index]!
    const values = declared === 1 ? { enum: list } : list.length > 0 ? { knownValues: list } : {}
    type = { shape: 'leaf', scalar, goType, ...values }
    leaves.set(key, type)
  }
  return type
}

/** The same type where a field declares another granularity than the type does. */
function withMapType(type: StructType, mapType: 'granular' | 'atomic'): StructType {
  const { name, typeMeta, goType, gvk, unions } = type
  return {
    shape: 'struct',
    name,
    typeMeta,
    mapType,
    ...(goType === undefined ? {} : { goType }),
    ...(gvk === undefined ? {} : { gvk }),
    ...(unions === undefined ? {} : { unions }),
    get fields() {
      return type.fields
    },
    field: (field) => type.field(field),
    get message() {
      return type.message
    },
  }
}
