/**
 * The built-in types. First use expands a type from the generated table (generate-table.mjs describes its format). That
 * takes some 10 µs for a type, and little more than a millisecond for all types of a Pod. Objects here have all members
 * of the interface that they implement, undefined ones too: V8 runs codecs faster on objects of one shape.
 */
import { append } from '../base/append.ts'
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version.ts'
import { lazy } from '../base/lazy.ts'
import type { Json } from '../api/object.ts'
import { leaf, none, noStrategy, readMember } from './built-in-members.ts'
import table from './built-in-table.json' with { type: 'json' }
import type {
  Field,
  HeldAs,
  ListType,
  MessageMember,
  Special,
  SpecialName,
  Structural,
  StructType,
} from './structural.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** A Go package: the table's text of each type, and the types that first use has expanded. */
class Package {
  readonly name: string
  /** The apiVersion of its kinds; empty where it has none. */
  readonly apiVersion: string
  /** In alphabetical order. */
  readonly kinds: readonly string[]
  /** Flags, unions and fields of each kind. */
  private readonly texts: readonly string[]
  private readonly types: (Structural | undefined)[] = []
  /** Fields without name and number, by their text in the table. Most texts belong to several fields. */
  private readonly members = new Map<string, Field>()

  constructor([name, apiVersion, kinds, types]: readonly string[]) {
    this.name = name!
    this.apiVersion = apiVersion!
    this.kinds = kinds!.split(' ')
    this.texts = types!.split('\n')
  }

  /** @returns -1 where the package has no such kind */
  private indexOf(kind: string): number {
    let [from, to] = [0, this.kinds.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.kinds[middle]! < kind) from = middle + 1
      else to = middle
    }
    return this.kinds[from] === kind ? from : -1
  }

  textOf(kind: string): string | undefined {
    return this.texts[this.indexOf(kind)]
  }

  typeOf(kind: string): Structural | undefined {
    return this.typeAt(this.indexOf(kind))
  }

  /** @param index in `kinds`; the table refers to types by it */
  typeAt(index: number): Structural | undefined {
    const text = this.texts[index]
    return text === undefined ? undefined : (this.types[index] ??= readType(this, this.kinds[index]!, text))
  }

  member(text: string): Field {
    let member = this.members.get(text)
    if (member === undefined)
      this.members.set(text, (member = readMember(text, (reference) => referenced(this, reference))))
    return member
  }
}

/** Packages that a request has used, by their number in the table. Bound: the packages of the table. */
const packages: (Package | undefined)[] = []
const packageAt = (index: number): Package => (packages[index] ??= new Package(table.packages[index]!))

const packagesByName = lazy(() => new Map(table.packages.map(([name], index) => [name!, index])))

/** The package of each group version (`apps/v1`). Only `v1` has several. */
const packagesByVersion = lazy(() => new Map(table.packages.map(([, apiVersion], index) => [apiVersion!, index])))

function packageIn(places: ReadonlyMap<string, number>, key: string): Package | undefined {
  const index = key === '' ? undefined : places.get(key)
  return index === undefined ? undefined : packageAt(index)
}

const packageOf = (name: string): Package | undefined =>
  packageIn(packagesByName(), name.slice(0, name.lastIndexOf('.')))
const kindOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/** Expanded types by model name. Bound: the types of the table. */
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
  table.packages.flatMap(([name, , kinds]) => kinds!.split(' ').map((kind) => `${name}.${kind}`))

/** meta.k8s.io/v1beta1 publishes these kinds of meta.k8s.io/v1, too. */
const META_V1BETA1 = new Set(['Table', 'TableOptions', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

/** The letter by which the table says where Kubernetes registers a kind; undefined for other types. */
function registration(of: Package | undefined, kind: string): string | undefined {
  const letter = of?.textOf(kind)?.charAt(0)
  return letter === 'K' || letter === 'V' || letter === 'E' ? letter : undefined
}

/**
 * The type of a registered kind. Every group version also has the options (ListOptions …) and WatchEvent. Kinds without
 * a group version of their own (Status, APIGroupList …) are `v1`.
 */
export function typeOfKind(gvk: GroupVersionKind): StructType | undefined {
  const apiVersion = apiVersionOf(gvk)
  const ofVersion = packageIn(packagesByVersion(), apiVersion)
  if (registration(ofVersion, gvk.kind) === 'K') return builtInType(`${ofVersion!.name}.${gvk.kind}`)
  const registered = registration(packageIn(packagesByName(), META), gvk.kind)
  const found =
    (registered === 'E' && (ofVersion !== undefined || apiVersion === 'meta.k8s.io/v1beta1')) ||
    (registered === 'V' && apiVersion === 'v1') ||
    (apiVersion === 'meta.k8s.io/v1beta1' && META_V1BETA1.has(gvk.kind))
  return found ? builtInType(`${META}.${gvk.kind}`) : undefined
}

/** The type of a model name, in any shape. */
export function structuralOf(name: string): Structural {
  let type = named.get(name)
  if (type === undefined) {
    type = packageOf(name)?.typeOf(kindOf(name))
    if (type === undefined) throw new Error(`no built-in type ${name}`)
    named.set(name, type)
  }
  return type
}

function readType(owner: Package, kind: string, text: string): Structural {
  const first = text.charAt(0)
  if (first === 'S') return specialType(text.slice(1, endOfHead(text)) as SpecialName, owner) // as the table spells them
  return first === 'W' ? wrapperType(goTypeOf(owner, kind)) : new BuiltInStruct(owner, kind, text)
}

const endOfHead = (text: string): number | undefined => {
  const end = text.indexOf(';')
  return end < 0 ? undefined : end
}

/** Go's name of a type in error texts: package and name (`v1.Pod`, `resource.Quantity`). */
const goTypeOf = ({ name }: Package, kind: string): string => `${name.slice(name.lastIndexOf('.') + 1)}.${kind}`

function specialType(special: SpecialName, owner: Package): Special {
  if (!special.startsWith('schemaOr')) return { shape: 'special', special }
  return { shape: 'special', special, of: () => builtInType(`${owner.name}.JSONSchemaProps`) }
}

/** ExtraValue and Verbs: Go types that are lists of strings. */
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

/** Parses each part of its text on first use, because requests never use most of the types that a type refers to. */
class BuiltInStruct implements StructType {
  readonly shape = 'struct'
  private readonly owner: Package
  readonly kind: string
  private readonly text: string
  private head: Head | undefined = undefined
  private readFields: readonly Field[] | undefined = undefined
  private byName: ReadonlyMap<string, Field> | undefined = undefined
  private readMessage: readonly MessageMember[] | undefined = undefined

  constructor(owner: Package, kind: string, text: string) {
    this.owner = owner
    this.kind = kind
    this.text = text
  }

  private get read(): Head {
    return (this.head ??= headOf(this.owner, this.kind, this.text))
  }

  get name(): string {
    return this.read.name
  }

  get heldAs(): HeldAs {
    return 'typed'
  }

  get goType(): string {
    return this.read.goType
  }

  get gvk(): GroupVersionKind | undefined {
    return this.read.gvk
  }

  get typeMeta(): boolean {
    return this.read.typeMeta
  }

  get mapType(): 'granular' | 'atomic' {
    return this.read.mapType
  }

  get unions(): Json | undefined {
    return this.read.unions
  }

  get fields(): readonly Field[] {
    return (this.readFields ??= fieldsOf(this.owner, this.text))
  }

  field(name: string): Field | undefined {
    if (this.byName === undefined) {
      const byName = new Map<string, Field>()
      for (const field of this.fields) byName.set(field.name, field)
      this.byName = byName
    }
    return this.byName.get(name)
  }

  get message(): readonly MessageMember[] | undefined {
    if (!this.read.hasMessage) return undefined
    return (this.readMessage ??= messageOf(this.owner, this.text, this.fields))
  }
}

/** The part of a type's text before its fields. */
interface Head {
  readonly name: string
  readonly goType: string
  readonly gvk: GroupVersionKind | undefined
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  readonly unions: Json | undefined
  readonly hasMessage: boolean
}

function headOf(owner: Package, kind: string, text: string): Head {
  const [flags, unions] = text.slice(0, endOfHead(text)).split(' ', 2)
  return {
    name: `${owner.name}.${kind}`,
    goType: goTypeOf(owner, kind),
    gvk: gvkOf(owner, kind, flags!),
    typeMeta: flags!.includes('T'),
    mapType: flags!.includes('A') ? 'atomic' : 'granular',
    unions: unions === undefined ? undefined : (JSON.parse(unions) as Json),
    hasMessage: !flags!.includes('N'),
  }
}

function gvkOf(owner: Package, kind: string, flags: string): GroupVersionKind | undefined {
  if (flags.startsWith('V')) return { group: '', version: 'v1', kind }
  return flags.startsWith('K') ? { ...parseApiVersion(owner.apiVersion)!, kind } : undefined
}

function fieldsOf(owner: Package, text: string): Field[] {
  const parts = text.split(';')
  const fields: Field[] = []
  for (let at = 1; at < parts.length; at += 3) {
    const name = parts[at]!
    const number = Number(parts[at + 1])
    if (name === '~') append(fields, inlineFields(owner, number, parts[at + 2]!))
    else fields.push({ ...owner.member(parts[at + 2]!), name, number })
  }
  return fields
}

function inlineFields(owner: Package, number: number, reference: string): Field[] {
  const inline = inlineOf(owner, reference)
  const goName = inline.kind
  return inline.fields.map((field) => ({
    ...field,
    within: [number, ...field.within],
    embeddedIn: [goName, ...field.embeddedIn],
  }))
}

/** @param fields all fields of the text, with those of inline structs */
function messageOf(owner: Package, text: string, fields: readonly Field[]): MessageMember[] {
  const parts = text.split(';')
  const members: MessageMember[] = []
  for (let at = 1, next = 0; at < parts.length; at += 3) {
    if (parts[at] === '~') {
      const inline = inlineOf(owner, parts[at + 2]!)
      next += inline.fields.length
      members.push({ inline, number: Number(parts[at + 1]) })
    } else members.push({ field: fields[next++]! })
  }
  return members
}

const inlineOf = (owner: Package, text: string): BuiltInStruct =>
  referenced(owner, text.split(' ', 1)[0]!) as BuiltInStruct // only structs are inline

/** @param reference `@k`, type k of the same package, or `@n.k` of package n */
function referenced(owner: Package, reference: string): Structural {
  const dot = reference.indexOf('.')
  const type =
    dot < 0
      ? owner.typeAt(Number(reference.slice(1)))
      : packageAt(Number(reference.slice(1, dot))).typeAt(Number(reference.slice(dot + 1)))
  if (type === undefined) throw new Error(`no built-in type ${reference} of ${owner.name}`)
  return type
}
