/**
 * The built-in types, expanded from the generated table (generate-table.mjs says how it is written) when they are first
 * asked for: a type costs some 10 µs once, all that a Pod consists of about a millisecond.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import { lazy } from '../api/lazy.ts'
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

/** A package of types: the text of all of them, and those that were asked for. */
class Package {
  /** Where the text of each type begins; read when one is first asked for. */
  private places: ReadonlyMap<string, number> | undefined = undefined
  private types: Map<string, Structural> | undefined = undefined
  /** What the lines say after name and number, of those that were read: most say what another has said. */
  private readings: Map<string, FieldReading> | undefined = undefined

  constructor(
    readonly name: string,
    /** Of its kinds; empty where they have none. */
    readonly apiVersion: string,
    private readonly text: string,
  ) {}

  private get index(): ReadonlyMap<string, number> {
    if (this.places !== undefined) return this.places
    const places = new Map<string, number>()
    const { text } = this
    for (let from = 0, end = 0; end >= 0; from = end + 2) {
      places.set(text.slice(from, text.indexOf(' ', from)), from)
      end = text.indexOf(';;', from)
    }
    return (this.places = places)
  }

  kinds(): Iterable<string> {
    return this.index.keys()
  }

  textOf(kind: string): string | undefined {
    const from = this.index.get(kind)
    if (from === undefined) return undefined
    const end = this.text.indexOf(';;', from)
    return this.text.slice(from, end < 0 ? undefined : end)
  }

  type(kind: string): Structural | undefined {
    const types = (this.types ??= new Map<string, Structural>())
    let type = types.get(kind)
    if (type === undefined) {
      const text = this.textOf(kind)
      if (text === undefined) return undefined
      types.set(kind, (type = structural(this, kind, text)))
    }
    return type
  }

  /** @param text type and attributes of a field line */
  reading(text: string): FieldReading {
    const readings = (this.readings ??= new Map<string, FieldReading>())
    let reading = readings.get(text)
    if (reading === undefined) readings.set(text, (reading = readField(this, text)))
    return reading
  }
}

/** The table, once it is needed. Its text becomes types as they are asked for. */
const packages = lazy(() => table.packages.map((row) => new Package(row[0]!, row[1]!, row[2]!)))
const packagesByName = lazy(() => new Map(packages().map((one) => [one.name, one])))

/** Packages whose kinds are those of a group version (`apps/v1`); several for none but `v1`. */
const packageOfVersion = lazy(
  () =>
    new Map(
      packages()
        .filter(({ apiVersion }) => apiVersion !== '')
        .map((one) => [one.apiVersion, one]),
    ),
)

const packageOf = (name: string): Package | undefined => packagesByName().get(name.slice(0, name.lastIndexOf('.')))
const kindOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/** Types that were asked for by their whole names. */
const named = new Map<string, Structural>()

/**
 * A built-in type that is an object in JSON.
 * @param name OpenAPI model name, `io.k8s.api.core.v1.Pod`
 * @throws when there is no such type
 */
export function builtInType(name: string): StructType {
  const type = structuralOf(name)
  if (type.shape !== 'struct') throw new Error(`${name} is a ${type.shape}, not an object`)
  return type
}

/** Whether there is a built-in type of this model name. */
export const isBuiltInType = (name: string): boolean => packageOf(name)?.textOf(kindOf(name)) !== undefined

/** Model names of all built-in types, in alphabetical order. */
export const builtInTypeNames = (): string[] =>
  packages().flatMap((one) => Array.from(one.kinds(), (kind) => `${one.name}.${kind}`))

/** meta.k8s.io/v1beta1 has these kinds of meta.k8s.io/v1 under its own name. */
const META_V1BETA1 = new Set(['Table', 'TableOptions', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

/** The letter that says where a kind is registered, if it is. */
function registration(of: Package | undefined, kind: string): string | undefined {
  const letter = of?.textOf(kind)?.charAt(kind.length + 1)
  return letter === 'K' || letter === 'V' || letter === 'E' ? letter : undefined
}

/**
 * The type of a registered kind: those of a group version, the options that every group version has (ListOptions …,
 * WatchEvent) and the kinds without a group version of their own, which are `v1` (Status, APIGroupList …).
 */
export function typeOfKind(gvk: GroupVersionKind): StructType | undefined {
  const apiVersion = apiVersionOf(gvk)
  const ofVersion = packageOfVersion().get(apiVersion)
  if (registration(ofVersion, gvk.kind) === 'K') return builtInType(`${ofVersion!.name}.${gvk.kind}`)
  const registered = registration(packagesByName().get(META), gvk.kind)
  const found =
    (registered === 'E' && (ofVersion !== undefined || apiVersion === 'meta.k8s.io/v1beta1')) ||
    (registered === 'V' && apiVersion === 'v1') ||
    (apiVersion === 'meta.k8s.io/v1beta1' && META_V1BETA1.has(gvk.kind))
  return found ? builtInType(`${META}.${gvk.kind}`) : undefined
}

/** The type behind a model name, whatever its shape. */
export function structuralOf(name: string): Structural {
  let type = named.get(name)
  if (type === undefined) {
    type = packageOf(name)?.type(kindOf(name))
    if (type === undefined) throw new Error(`no built-in type ${name}`)
    named.set(name, type)
  }
  return type
}

function structural(owner: Package, kind: string, text: string): Structural {
  const end = text.indexOf(';')
  const head = end < 0 ? text : text.slice(0, end)
  const space = head.indexOf(' ', kind.length + 1)
  const flags = head.slice(kind.length + 1, space < 0 ? undefined : space)
  const special = flags.indexOf('S')
  if (special >= 0) return specialType(flags.slice(special + 1) as SpecialName, owner) // as the table spells them
  if (flags.includes('W')) return wrapperType(goTypeOf(owner, kind))
  const unions = space < 0 ? '' : head.slice(space + 1)
  return new BuiltInStruct(owner, kind, flags, unions, end < 0 ? '' : text.slice(end + 1))
}

/** Go's name of a type in error texts: package and name (`v1.Pod`, `resource.Quantity`). */
const goTypeOf = ({ name }: Package, kind: string): string => `${name.slice(name.lastIndexOf('.') + 1)}.${kind}`

function specialType(special: SpecialName, owner: Package): Special {
  if (!special.startsWith('schemaOr')) return { shape: 'special', special }
  return { shape: 'special', special, of: () => builtInType(`${owner.name}.JSONSchemaProps`) }
}

/** ExtraValue and Verbs: a list of strings with a name. */
function wrapperType(goType: string): ListType {
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

class BuiltInStruct implements StructType {
  readonly shape = 'struct'
  readonly name: string
  readonly gvk?: GroupVersionKind
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  readonly goType: string
  readonly unions?: Json
  private readFields: readonly Field[] | undefined = undefined
  private byName: ReadonlyMap<string, Field> | undefined = undefined
  private readMessage: readonly MessageMember[] | undefined = undefined

  constructor(
    private readonly owner: Package,
    kind: string,
    private readonly flags: string,
    unions: string,
    private readonly lines: string,
  ) {
    this.name = `${owner.name}.${kind}`
    this.typeMeta = flags.includes('T')
    this.mapType = flags.includes('A') ? 'atomic' : 'granular'
    this.goType = goTypeOf(owner, kind)
    const gvk = gvkOf(owner, kind, flags)
    if (gvk !== undefined) this.gvk = gvk
    if (unions !== '') this.unions = JSON.parse(unions) as Json
  }

  get fields(): readonly Field[] {
    return (this.readFields ??= fieldsOf(this.owner, this.lines))
  }

  field(name: string): Field | undefined {
    return (this.byName ??= new Map(this.fields.map((field) => [field.name, field]))).get(name)
  }

  get message(): readonly MessageMember[] | undefined {
    if (this.flags.includes('N')) return undefined
    return (this.readMessage ??= messageOf(this.owner, this.lines, this.fields))
  }
}

function gvkOf(owner: Package, kind: string, flags: string): GroupVersionKind | undefined {
  if (flags.startsWith('V')) return { group: '', version: 'v1', kind }
  return flags.startsWith('K') ? { ...parseApiVersion(owner.apiVersion)!, kind } : undefined
}

function fieldsOf(owner: Package, lines: string): Field[] {
  const fields: Field[] = []
  if (lines === '') return fields
  for (const line of lines.split(';')) {
    const afterName = line.indexOf(' ')
    const afterNumber = line.indexOf(' ', afterName + 1)
    const number = Number(line.slice(afterName + 1, afterNumber))
    const rest = line.slice(afterNumber + 1)
    if (line.charAt(0) === '~') {
      const inline = inlineOf(owner, rest)
      const goName = kindOf(inline.name)
      for (const field of inline.fields)
        fields.push({ ...field, within: [number, ...field.within], embeddedIn: [goName, ...field.embeddedIn] })
    } else fields.push(fieldOf(line.slice(0, afterName), number, owner.reading(rest)))
  }
  return fields
}

/** @param fields of the same lines, those of inline structs among them */
function messageOf(owner: Package, lines: string, fields: readonly Field[]): MessageMember[] {
  let next = 0
  return (lines === '' ? [] : lines.split(';')).map((line) => {
    if (!line.startsWith('~')) return { field: fields[next++]! }
    const [, number, type] = line.split(' ', 3)
    const inline = inlineOf(owner, type!)
    next += inline.fields.length
    return { inline, number: Number(number) }
  })
}

const inlineOf = (owner: Package, type: string): StructType => referenced(owner, type.split(' ', 1)[0]!) as StructType // what is inline is an object

/** @param reference `@Kind` of the same package or `@n.Kind` */
function referenced(owner: Package, reference: string): Structural {
  const dot = reference.indexOf('.')
  const type =
    dot < 0
      ? owner.type(reference.slice(1))
      : packages()[Number(reference.slice(1, dot))]!.type(reference.slice(dot + 1))
  if (type === undefined) throw new Error(`no built-in type ${reference} of ${owner.name}`)
  return type
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

/** What the attributes of a field line say; taken apart into the field and its type. */
interface Attributes {
  pointer: boolean
  omit: Field['omit']
  required: boolean
  discriminator: boolean
  listType: 'atomic' | 'set' | 'map' | undefined
  keys: readonly string[]
  mapType: 'granular' | 'atomic' | undefined
  strategy: PatchStrategy
  mergeKey: string | undefined
  values: number
  goType: string | undefined
  gates: readonly string[] | undefined
  default: Json | undefined
  /** There is more to say of the field than every field says. */
  isRare: boolean
}

function readAttributes(text: string): Attributes {
  const read: Attributes = {
    pointer: false,
    omit: 'never',
    required: false,
    discriminator: false,
    listType: undefined,
    keys: none,
    mapType: undefined,
    strategy: noStrategy,
    mergeKey: undefined,
    values: -1,
    goType: undefined,
    gates: undefined,
    default: undefined,
    isRare: false,
  }
  for (const word of text === '' ? none : text.split(' ')) {
    const argument = word.charAt(1) === '(' ? word.slice(2, -1) : word.slice(1)
    const letter = word.charAt(0)
    if (!'pozrV'.includes(letter)) read.isRare = true
    // prettier-ignore
    switch (letter) {
      case 'p': read.pointer = true; break
      case 'o': read.omit = 'empty'; break
      case 'z': read.omit = 'zero'; break
      case 'r': read.required = true; break
      case 'd': read.discriminator = true; break
      case 'a': read.listType = 'atomic'; break
      case 'e': read.listType = 'set'; break
      case 'm': read.listType = 'map'; read.keys = argument.split(','); break
      case 'M': read.mapType = argument === 'atomic' ? 'atomic' : 'granular'; break
      case 'P': read.strategy = patchStrategy(argument); break
      case 'K': read.mergeKey = argument; break
      case 'V': read.values = Number(argument); break
      case 'Y': read.goType = argument; break
      case 'G': read.gates = argument.split(','); break
      case '=': read.default = JSON.parse(argument) as Json; break
      default: throw new Error(`unknown attribute ${word}`)
    }
  }
  return read
}

const attributesByText = new Map<string, Attributes>()

function attributesOf(text: string): Attributes {
  let attributes = attributesByText.get(text)
  if (attributes === undefined) attributesByText.set(text, (attributes = readAttributes(text)))
  return attributes
}

/** What a field line says beside name and number. */
interface FieldReading {
  readonly type: Structural
  readonly attributes: Attributes
}

function readField(owner: Package, text: string): FieldReading {
  const space = text.indexOf(' ')
  const attributes = attributesOf(space < 0 ? '' : text.slice(space + 1))
  return { type: readType(owner, space < 0 ? text : text.slice(0, space), attributes), attributes }
}

function fieldOf(name: string, number: number, { type, attributes }: FieldReading): Field {
  const { omit, pointer, required, strategy } = attributes
  const field: Mutable<Field> = {
    name,
    type,
    omit,
    pointer,
    required,
    patchStrategy: strategy,
    number,
    within: none,
    embeddedIn: none,
  }
  if (!attributes.isRare) return field
  if (attributes.mergeKey !== undefined) field.mergeKey = attributes.mergeKey
  if (attributes.gates !== undefined) field.featureGates = attributes.gates
  if (attributes.default !== undefined) field.default = attributes.default
  if (attributes.discriminator) field.unionDiscriminator = true
  if (type.shape === 'leaf' && attributes.listType !== undefined) field.declaredListType = attributes.listType
  if (type.shape === 'struct' && attributes.mapType !== undefined) field.declaredMapType = attributes.mapType
  return field
}

function readType(owner: Package, type: string, attributes: Attributes): Structural {
  const first = type.charAt(0)
  if (first === '*') return readList(readElement(owner, type.slice(1), attributes), attributes)
  if (first === '{') return readMap(readElement(owner, type.slice(1), attributes), attributes)
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

function readElement(owner: Package, type: string, { values }: Attributes): Structural {
  if (type.charAt(0) === '@') return referenced(owner, type)
  const scalar = scalars[type]
  if (scalar === undefined) return untyped
  return values < 0 ? leaf(scalar) : leafOfValues(scalar, values)
}

const valueSets = lazy(() => table.values.split(';'))

function leafOfValues(scalar: Scalar, index: number): Leaf {
  const key = `V${index}`
  let type = leaves.get(key)
  if (type === undefined) {
    const [goType, declared, ...list] = valueSets()[index]!.split('|')
    const values = declared === '1' ? { enum: list } : list.length > 0 ? { knownValues: list } : {}
    type = { shape: 'leaf', scalar, goType: goType!, ...values }
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
