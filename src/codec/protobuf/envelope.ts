/**
 * The bytes around a message: the prefix and envelope of an object (apimachinery's runtime.Unknown), a list whose items
 * come one by one, and the frames of a watch.
 */
import type { JsonObject } from '../../api/object.ts'
import type { StructType } from '../../schema/structural.ts'
import { encodeMessage } from './encode.ts'
import { encodeMessageInParts } from './encode-parts.ts'
import { BYTES, numberOfTag, ProtobufError, WireReader, wireOfTag, WireWriter } from './wire.ts'

/** `k8s` and a zero byte, before every object. */
const PREFIX = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)

const TYPE_META = 1
const RAW = 2
const CONTENT_ENCODING = 3
const CONTENT_TYPE = 4
const API_VERSION = 1
const KIND = 2
const LIST_METADATA = 1
const LIST_ITEMS = 2

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  /** The object's message. */
  readonly raw: Uint8Array
}

/** Parses the envelope of a body. @throws {ProtobufError} with kube-apiserver's texts */
export function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data')
  if (!PREFIX.every((byte, i) => bytes[i] === byte))
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  if (bytes.length === PREFIX.length) throw new ProtobufError('empty body')
  let typeMeta: { apiVersion: string; kind: string } = { apiVersion: '', kind: '' }
  let raw = new Uint8Array()
  const reader = new WireReader(bytes, PREFIX.length)
  while (!reader.isAtEnd) {
    const tag = reader.tag('Unknown')
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    if (wire !== BYTES) reader.skip(wire)
    else if (number === TYPE_META) typeMeta = readTypeMeta(reader.run())
    else if (number === RAW) raw = new Uint8Array(reader.run())
    else reader.run()
  }
  return { ...typeMeta, raw }
}

function readTypeMeta(bytes: Uint8Array): { apiVersion: string; kind: string } {
  const found = { apiVersion: '', kind: '' }
  const reader = new WireReader(bytes)
  while (!reader.isAtEnd) {
    const tag = reader.tag('TypeMeta')
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    if (wire !== BYTES) reader.skip(wire)
    else if (number === API_VERSION) found.apiVersion = reader.text()
    else if (number === KIND) found.kind = reader.text()
    else reader.run()
  }
  return found
}

/** An object in its envelope; kind and apiVersion are the object's own. */
export function encodeProtobuf(type: StructType, object: JsonObject): Uint8Array {
  return envelopeAround(String(object.apiVersion ?? ''), String(object.kind ?? ''), encodeMessageInParts(type, object))
}

/** Puts a message into an envelope. */
export function envelopeAround(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const writer = new WireWriter(raw.length + apiVersion.length + kind.length + 64)
  writeTail(writer)
  writer.bytes(raw)
  writeHead(writer, apiVersion, kind, raw.length)
  return writer.finish()
}

/** What follows the raw message: encoding and content type, both empty. */
function writeTail(writer: WireWriter): void {
  writer.close(CONTENT_TYPE, writer.length)
  writer.close(CONTENT_ENCODING, writer.length)
}

/** The bytes before a raw message of this length. */
function writeHead(writer: WireWriter, apiVersion: string, kind: string, length: number): void {
  writer.varint(length)
  writer.tag(RAW, BYTES)
  const before = writer.length
  for (const [number, text] of [
    [KIND, kind],
    [API_VERSION, apiVersion],
  ] as const) {
    const start = writer.length
    writer.text(text)
    writer.close(number, start)
  }
  writer.close(TYPE_META, before)
  writer.bytes(PREFIX)
}

/** The bytes around the items of a list; the answer is head, items, tail. */
export interface ListFrame {
  readonly head: Uint8Array
  readonly tail: Uint8Array
  /** Length of the whole answer. */
  readonly length: number
}

/**
 * Protobuf has lengths before content, so the caller must know the length of all items first (see itemLength).
 * @param listMeta the type of ListMeta
 * @param itemsLength the sum of itemLength over all items
 */
export function listFrame(
  kind: { readonly apiVersion: string; readonly kind: string },
  listMeta: StructType,
  metadata: JsonObject,
  itemsLength: number,
): ListFrame {
  const tail = new WireWriter(16)
  writeTail(tail)
  const head = new WireWriter(256)
  head.bytes(encodeMessage(listMeta, metadata))
  head.close(LIST_METADATA, 0)
  writeHead(head, kind.apiVersion, kind.kind, head.length + itemsLength)
  const parts = { head: head.finish(), tail: tail.finish() }
  return { ...parts, length: parts.head.length + itemsLength + parts.tail.length }
}

/** The bytes that an item of a list takes, from the bytes of its message. */
export function itemLength(messageLength: number): number {
  const writer = new WireWriter(16)
  writer.varint(messageLength)
  return 1 + writer.length + messageLength
}

/** The bytes before the message of an item. */
export function itemHead(messageLength: number): Uint8Array {
  const writer = new WireWriter(16)
  writer.varint(messageLength)
  writer.tag(LIST_ITEMS, BYTES)
  return writer.finish()
}

const EVENT_TYPE = 1
const EVENT_OBJECT = 2
const RAW_EXTENSION_RAW = 1

/**
 * One event of a watch: four bytes of length, then a WatchEvent without prefix and envelope.
 * @param object the object in its envelope
 */
export function watchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = new WireWriter(object.length + type.length + 32)
  writer.bytes(object)
  writer.close(RAW_EXTENSION_RAW, 0)
  writer.close(EVENT_OBJECT, 0)
  const before = writer.length
  writer.text(type)
  writer.close(EVENT_TYPE, before)
  const { length } = writer
  writer.bytes(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length))
  return writer.finish()
}

/** Parses a frame of a watch (for clients and tests). @throws {ProtobufError} */
export function readWatchFrame(frame: Uint8Array): { type: string; object: Uint8Array } {
  const event = { type: '', object: new Uint8Array() }
  const reader = new WireReader(frame, 4)
  while (!reader.isAtEnd) {
    const tag = reader.tag('WatchEvent')
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    if (wire !== BYTES) reader.skip(wire)
    else if (number === EVENT_TYPE) event.type = reader.text()
    else if (number === EVENT_OBJECT) {
      const inner = new WireReader(reader.run())
      while (!inner.isAtEnd) {
        const field = inner.tag('RawExtension')
        const isRaw = numberOfTag(field) === RAW_EXTENSION_RAW && wireOfTag(field) === BYTES
        if (isRaw) event.object = new Uint8Array(inner.run())
        else inner.skip(wireOfTag(field))
      }
    } else reader.run()
  }
  return event
}
