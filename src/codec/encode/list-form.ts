/** The parts of a list in each serialization: the text before the items, the items, and the text after them. */
import { apiVersionOf } from '../../api/group-version.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { kept, mapParts } from '../../base/parts.ts'
import { builtInType } from '../../schema/built-in.ts'
import { joined } from '../../base/bytes.ts'
import { encodeCborItems, encodeCborList } from '../cbor/encode.ts'
import { Indenter } from './indent.ts'
import { stringify } from '../../json/write-json.ts'
import { parseStored, parseStoredInParts } from '../../json/parse-json.ts'
import { metaApiVersion, partialObjectMetadataType } from './partial-object-metadata.ts'
import type { Presenter, Source } from './present.ts'
import { passesText, withoutKind } from './present.ts'
import { bytesOf, serializeText } from './serialize.ts'
import { yamlText } from '../yaml/text.ts'

export interface ListMetadata {
  /** Absent: the list does not come from storage. */
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** The JSON of list metadata. */
export function metadataOf(metadata: ListMetadata): JsonObject {
  return {
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(metadata.remainingItemCount ? { remainingItemCount: metadata.remainingItemCount } : {}),
  }
}

/** The parts of one list. Callers ask for them in order. */
export interface ListForm {
  head(): Uint8Array
  /** May run in a walk (base/parts.ts), whose runs need the same list of sources. */
  items(sources: readonly Source[]): Uint8Array
  tail(): Uint8Array
  /** The whole list, where it has no items. */
  empty(): Uint8Array
  /** Changes items that storage sends as elements. Absent: the client gets them unchanged. */
  readonly elements?: (bytes: Uint8Array) => Uint8Array
}

/** @param count the number of items; only CBOR needs it */
export function listForm(presenter: Presenter, metadata: ListMetadata, count: number | undefined, now: Date): ListForm {
  const { output } = presenter
  if (output.serialization === 'cbor') return cborForm(presenter, metadata, count)
  const frame = frameOf(presenter, metadata, now)
  if (output.serialization === 'yaml') return yamlForm(presenter, frame)
  return jsonForm(presenter, frame)
}

const encoder = new TextEncoder()

function jsonForm({ output }: Presenter, { head, item, tail, empty }: Frame): ListForm {
  const indenter = output.pretty ? new Indenter() : undefined
  const written = (text: string): Uint8Array => {
    const bytes = encoder.encode(text)
    return indenter === undefined ? bytes : indenter.add(bytes)
  }
  let separator = ''
  return {
    head: () => written(`${head}[`),
    items(sources) {
      const text = kept(sources, () => separator + mapParts(sources, item).join(','))
      separator = ','
      return indenter === undefined ? encoder.encode(text) : indenter.addInParts(text, sources)
    },
    tail: () => written(indenter === undefined ? `]${tail}\n` : `]${tail}`),
    empty: () => bytesOf(serializeText(output, `${head}${empty}${tail}`)),
    ...(indenter === undefined ? {} : { elements: (bytes) => indenter.add(bytes) }),
  }
}

/** YAML sorts members. The items of a list have the indentation of its name, so each is written like a document. */
function yamlForm({ output, resource, transform }: Presenter, { head, item, tail, empty }: Frame): ListForm {
  const name = /"(\w+)":$/.exec(head)![1]!
  const around = (): string[] => yamlText(parseStored(`${head}null${tail}`)).split(new RegExp(`^${name}: null\n`, 'm'))
  const isPassed = transform === undefined && passesText(resource)
  const valueOf = (source: Source): Json => {
    if (!isPassed || source.text === undefined) {
      const text = kept(source, () => item(source))
      return parseStoredInParts(
        text,
        kept(source, () => ({})),
      )
    }
    // any object is JSON
    const object = source.object as unknown as JsonObject
    return resource.forms.itemsHaveKind ? object : kept(source, () => withoutKind(object))
  }
  return {
    head: () => encoder.encode(`${around()[0]}${name}:\n`),
    items: (sources) => encoder.encode(yamlText(kept(sources, () => mapParts(sources, valueOf)))),
    tail: () => encoder.encode(around()[1]),
    empty: () => bytesOf(serializeText(output, `${head}${empty}${tail}`)),
  }
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

function cborForm(presenter: Presenter, metadata: ListMetadata, count: number | undefined): ListForm {
  if (count === undefined) throw new Error('assertion failed: a list in CBOR begins with its count')
  const { resource, transform } = presenter
  const { forms, entry } = resource
  const meta = metadataOf(metadata)
  const [type, itemType, all] =
    transform === undefined
      ? [forms.listType(entry.type), forms.messageType(resource.type), forms.listMetadata(meta)]
      : [builtInType(`${META}.PartialObjectMetadataList`), partialObjectMetadataType(), meta]
  const { head, tail } = encodeCborList(type, { ...kindOfList(presenter), metadata: all, items: [] }, count)
  const isBare = transform === undefined && !forms.itemsHaveKind
  let written = 0
  return {
    head: () => head,
    items(sources) {
      const objectOf = (source: Source): JsonObject => {
        const { object } = presenter.typed(source)
        return isBare ? kept(source, () => withoutKind(object)) : object
      }
      const bytes = encodeCborItems(
        itemType,
        kept(sources, () => mapParts(sources, objectOf)),
      )
      written += sources.length
      return bytes
    },
    tail() {
      // the head has already stated the count
      if (written !== count) throw new Error(`a list of ${count} had ${written} items`)
      return tail
    },
    empty: () => joined([head, tail], head.length + tail.length),
  }
}

/** kind and apiVersion of a list. */
export function kindOfList({ resource, transform }: Presenter): { readonly kind: string; readonly apiVersion: string } {
  return transform === undefined
    ? { kind: resource.entry.listKind, apiVersion: apiVersionOf(resource.kind) }
    : { kind: 'PartialObjectMetadataList', apiVersion: metaApiVersion(transform.version) }
}

/** Text around the items of a list in JSON. */
interface Frame {
  readonly head: string
  readonly item: (source: Source) => string
  readonly tail: string
  /** The text between head and tail of a list without items. */
  readonly empty: string
}

function frameOf(presenter: Presenter, metadata: ListMetadata, now: Date): Frame {
  const { transform } = presenter
  const meta = metadataOf(metadata)
  switch (transform?.kind) {
    case undefined:
      return { ...objectFrame(presenter, meta), item: (source) => presenter.item(source), empty: '[]' }
    case 'Table':
      return {
        head: presenter.tableHead(meta),
        item: (source) => presenter.row(source, now),
        tail: '}',
        empty: presenter.layout!.isDefault ? 'null' : '[]',
      }
    default: {
      const { version } = transform!
      return {
        head: `{"kind":"PartialObjectMetadataList","apiVersion":"${metaApiVersion(version)}","metadata":${stringify(meta)},"items":`,
        item: (source) => presenter.metadataText(source, version),
        tail: '}',
        empty: 'null',
      }
    }
  }
}

const objectFrame = ({ resource: { forms, entry, kind } }: Presenter, metadata: JsonObject) =>
  forms.listFrame(entry.listKind, apiVersionOf(kind), forms.listMetadata(metadata))
