/**
 * Presents objects in the negotiated form: version, transform and serialization. The input is objects and texts in the
 * storage version.
 */
import type { GroupVersionKind } from '../../api/group-version.ts'
import { kept } from '../../base/parts.ts'
import { turnOfHeavy } from '../../base/slices.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { EncodedResource } from '../encoded-resource.ts'
import { grown } from '../encoded-resource.ts'
import type { StructType } from '../../schema/structural.ts'
import { encodeJson } from './encode.ts'
import { parseStoredInParts } from '../../json/parse-json.ts'
import { metadataText } from '../metadata-text.ts'
import type { OutputNegotiation, Transform } from '../negotiation/negotiate.ts'
import { parseIncludeObject } from '../negotiation/negotiate.ts'
import type { IncludeObject } from '../negotiation/negotiate.ts'
import {
  metaApiVersion,
  partialObjectMetadata,
  partialObjectMetadataText,
  partialObjectMetadataType,
  withoutInternalAnnotation,
  requestedList,
  requestedObject,
} from './partial-object-metadata.ts'
import type { MetaVersion } from './partial-object-metadata.ts'
import { envelopeAround } from '../protobuf/envelope.ts'
import { transcodeMessage } from '../protobuf/transcoder.ts'
import { serializeBinary } from './serialize.ts'
import type { BinarySerialization } from './serialize.ts'
import { rowText, tableHead } from '../table.ts'
import type { TableLayout } from '../table.ts'

/** An object, its text, or both. First use parses the text. */
export class Source {
  #object: KubeObject | undefined
  /** The key of the parsing in a walk (base/parts.ts). */
  readonly #reading = {}

  private constructor(
    readonly text: string | undefined,
    object: KubeObject | undefined,
  ) {
    this.#object = object
  }

  static ofText = (text: string): Source => new Source(text, undefined)
  static ofObject = (object: KubeObject): Source => new Source(undefined, object)

  get object(): KubeObject {
    // storage has texts of KubeObjects
    return (this.#object ??= this.#read('exact'))
  }

  /** The object for callers that need no exact integers beyond 2^53. Parsing is much cheaper. */
  get rounded(): KubeObject {
    return this.#object ?? this.#read('rounded')
  }

  /** Lets go of what was parsed from the text, for holders that wait for a slow client. */
  forget(): void {
    if (this.text !== undefined) this.#object = undefined
  }

  #read(numbers: 'exact' | 'rounded'): KubeObject {
    return parseStoredInParts(this.text!, this.#reading, numbers) as unknown as KubeObject
  }
}

/** The kind and type of the endpoint's answers. */
const kindOf = ({ view, kind }: EncodedResource): GroupVersionKind => view?.kind ?? kind
const typeOf = ({ view, type }: EncodedResource): StructType => view?.type ?? type

/** Whether stored texts are JSON answers without a change: they are in the served version. */
export const passesText = (resource: EncodedResource): boolean => resource.view === undefined && resource.storedAsServed

/** Whether PartialObjectMetadata can have the metadata text of a stored object. */
export const cutsMetadata = (resource: EncodedResource): boolean =>
  passesText(resource) && resource.forms.cutsMetadata && resource.presentation.internalAnnotation === undefined

/** The start of stored texts. For lists whose items have no kind, all of it but the brace is cut off. */
export const identityText = ({ storageKind }: EncodedResource): string =>
  `{"kind":"${storageKind.kind}","apiVersion":"${apiVersionOf(storageKind)}",`

export class Presenter {
  private readonly isPassed: boolean
  private readonly isCut: boolean
  private readonly identity: string
  private readonly includeObject: IncludeObject
  readonly transform: Transform | undefined
  readonly layout: TableLayout | undefined

  /**
   * @param turn resolves when it is the request's turn to make more of a long answer
   * @throws StatusError 400 for a wrong `includeObject` where a Table is made
   */
  constructor(
    readonly resource: EncodedResource,
    readonly output: OutputNegotiation,
    readonly turn: () => Promise<void> = turnOfHeavy,
  ) {
    this.isPassed = passesText(resource)
    this.isCut = cutsMetadata(resource)
    this.identity = identityText(resource)
    this.transform = output.transform
    const isTable = output.transform?.kind === 'Table'
    this.layout = isTable ? resource.forms.tableLayout(resource) : undefined
    this.includeObject = isTable ? parseIncludeObject(output.includeObject) : 'Metadata'
  }

  /** Estimates the time of an answer, as the length in UTF-16 units of a plain object that takes the same time. */
  readonly weigh = (length: number): number => grown(this.resource, this.layout?.printer.weight?.(length) ?? length)

  /** The object in the version and kind of the endpoint. */
  answered(source: Source): KubeObject {
    const { object } = source
    const { view } = this.resource
    const converted = kept(source, () => this.resource.fromStorage(object))
    return view === undefined ? converted : kept(source, () => view.of(converted))
  }

  /** Go's name of the answer's internal type. */
  private typeName(suffix: string): string {
    const { group, kind } = kindOf(this.resource)
    return this.resource.forms.goTypeName({ group, kind: `${kind}${suffix}` })
  }

  /** @throws StatusError 406 where the client asks for a list */
  checkObject(): void {
    if (this.transform?.kind === 'PartialObjectMetadataList') throw requestedList(this.typeName(''))
  }

  /** @throws StatusError 406 where the client asks for an object */
  checkList(): void {
    if (this.transform?.kind === 'PartialObjectMetadata') throw requestedObject(this.typeName('List'))
  }

  /** One answer, as compact JSON. @param columns false: a Table without its columns */
  json(source: Source, now: Date, columns = true): string {
    switch (this.transform?.kind) {
      case undefined:
        return this.objectText(source)
      case 'Table':
        return `${this.tableHead(metadataOfTable(source), columns)}[${this.row(source, now)}]}`
      default:
        return this.metadataText(source, this.transform!.version)
    }
  }

  tableHead(metadata: JsonObject, columns = true): string {
    const { version } = this.transform!
    return tableHead(version, metadata, columns ? this.layout!.columns : 'null')
  }

  row(source: Source, now: Date): string {
    const { view } = this.resource
    if (!this.isPassed) this.resource.checkConvertible?.(source.object)
    const printed =
      view !== undefined ? this.answered(source) : this.layout!.printer.exact ? source.object : source.rounded
    return rowText(this.layout!, printed, now, this.rowObject(source))
  }

  private rowObject(source: Source): string {
    switch (this.includeObject) {
      case 'Object':
        return this.objectText(source)
      case 'None':
        return hasInitialEventsEnd(source) ? this.metadataText(source, this.transform!.version) : 'null'
      default:
        return this.metadataText(source, this.transform!.version)
    }
  }

  /** The object with kind and apiVersion. */
  private objectText(source: Source): string {
    if (this.isPassed && source.text !== undefined) return source.text
    return this.encoded(this.answered(source))
  }

  private encoded(object: Omit<KubeObject, 'kind' | 'apiVersion'>): string {
    // any object is JSON
    return this.resource.forms.objectText(typeOf(this.resource), object as unknown as JsonObject)
  }

  /** An element of a list. */
  item(source: Source): string {
    if (this.resource.forms.itemsHaveKind) return this.objectText(source)
    const { text } = source
    if (this.isPassed && text?.startsWith(this.identity)) return `{${text.slice(this.identity.length)}`
    return this.encoded(kept(source, () => withoutKind(this.answered(source))))
  }

  metadataText(source: Source, version: MetaVersion): string {
    const cut = source.text !== undefined && this.isCut ? metadataText(source.text) : undefined
    if (cut !== undefined) return partialObjectMetadataText(cut, version)
    const partial = kept(source, () => this.partial(source, version))
    return encodeJson(partialObjectMetadataType(), partial as unknown as JsonObject)
  }

  private partial(source: Source, version: MetaVersion): KubeObject {
    const { forms, presentation, view } = this.resource
    const isStored = forms.metadataOf === 'stored' && view === undefined
    const object = isStored ? source.object : this.answered(source)
    return partialObjectMetadata(withoutInternalAnnotation(object, presentation.internalAnnotation), version)
  }

  /** The answer and the type for encoding it. Tables have no binary form. */
  typed(source: Source): { readonly type: StructType | undefined; readonly object: JsonObject } {
    const { transform, resource } = this
    // any object is JSON
    if (transform === undefined)
      return {
        type: resource.forms.messageType(typeOf(resource)),
        object: this.answered(source) as unknown as JsonObject,
      }
    const partial = kept(source, () => this.partial(source, transform.version))
    return { type: partialObjectMetadataType(), object: partial as unknown as JsonObject }
  }

  /** The type for transcoding stored text to protobuf; undefined where the text must be parsed first. */
  get transcoded(): StructType | undefined {
    const { transform, resource } = this
    if (!this.isPassed) return undefined
    if (transform === undefined) return resource.forms.messageType(typeOf(resource))
    // transcoding with this type takes only metadata
    return this.isCut ? partialObjectMetadataType() : undefined
  }

  /** One answer, whole. */
  bytes(serialization: BinarySerialization, source: Source): Uint8Array {
    const { transcoded, transform } = this
    if (serialization === 'protobuf' && transcoded !== undefined && source.text !== undefined) {
      const { kind } = this.resource
      const [apiVersion, name] =
        transform === undefined
          ? [apiVersionOf(kind), kind.kind]
          : [metaApiVersion(transform.version), 'PartialObjectMetadata']
      return envelopeAround(apiVersion, name, transcodeMessage(transcoded, source.text))
    }
    const { type, object } = this.typed(source)
    return serializeBinary(serialization, type, object)
  }
}

export function withoutKind<Of extends { kind?: unknown; apiVersion?: unknown }>(
  object: Of,
): Omit<Of, 'kind' | 'apiVersion'> {
  const { kind: _, apiVersion: __, ...item } = object
  return item
}

function metadataOfTable({ object }: Source): JsonObject {
  const { resourceVersion } = object.metadata
  return resourceVersion === undefined ? {} : { resourceVersion }
}

export const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** Bookmarks are objects without text (see zero-object.ts), so a source with text is no bookmark. */
const hasInitialEventsEnd = (source: Source): boolean =>
  source.text === undefined && source.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true'
