// Operations on a large object, in each format of a request body and of an answer.
import type { JsonTree } from '../../src/json/json.ts'
import { parseApiVersion } from '../../src/api/group-version.ts'
import type { Json, JsonObject } from '../../src/api/object.ts'
import { encodeCborValue } from '../../src/codec/cbor/encode.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { encodeProtobuf } from '../../src/codec/protobuf/envelope.ts'
import { yamlText } from '../../src/codec/yaml/text.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { Send } from '../bench/memory-target.ts'
import type { Shape } from './large-shapes.ts'

type Call = Parameters<Send>[0]

type Format = 'json' | 'yaml' | 'cbor' | 'protobuf'
const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  cbor: 'application/cbor',
  protobuf: 'application/vnd.kubernetes.protobuf',
}

function written(format: Format, object: JsonObject): string | Uint8Array<ArrayBuffer> {
  switch (format) {
    case 'json':
      return JSON.stringify(object)
    case 'yaml':
      return yamlText(object)
    case 'cbor':
      return encodeCborValue(object) as Uint8Array<ArrayBuffer>
    case 'protobuf': {
      const type = typeOfKind({ ...parseApiVersion(object.apiVersion as string)!, kind: object.kind as string })!
      return encodeProtobuf(type, decodeObject(type, object as JsonTree).object) as Uint8Array<ArrayBuffer>
    }
  }
}

export interface Case {
  readonly what: string
  /** The test measures the last call; the calls before it prepare it. */
  readonly calls: (n: number, name: string) => Call[]
}

const APPLY = 'application/apply-patch+yaml'
const FORCE = '?fieldManager=a&force=true'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const acceptOf = (form: Format | 'pretty' | 'Table' | 'metadata', isWatch = false): string => {
  if (form === 'Table') return TABLE
  if (form === 'metadata') return `application/json;as=PartialObjectMetadata${isWatch ? '' : 'List'};v=v1;g=meta.k8s.io`
  return form === 'pretty' ? contentTypes.json : contentTypes[form]
}
const SMALL = { metadata: { labels: { a: 'b' } } }

const valueAt = (object: JsonObject, pointer: string): Json =>
  pointer
    .split('/')
    .slice(1)
    .reduce<Json>((value, name) => (value as JsonObject)[name] ?? { a: 'b' }, object)

export function casesOf(shape: Shape): Case[] {
  const formats: Format[] = shape.isCustom === true ? ['json', 'yaml', 'cbor'] : ['json', 'yaml', 'cbor', 'protobuf']
  const named = (n: number, other: boolean, name: string): JsonObject => {
    const object = shape.object(n, other)
    return { ...object, metadata: { ...(object.metadata as JsonObject), name } }
  }
  const at = (name: string, query = '') => `${shape.url}/${name}${query}`
  const post = (format: Format, object: JsonObject): Call => ({
    method: 'POST',
    path: shape.url,
    body: written(format, object),
    contentType: contentTypes[format],
  })
  /** A case that calls an operation on an existing object. */
  const onto = (what: string, call: (name: string, object: JsonObject) => Call): Case => ({
    what,
    calls: (n, name) => [post('json', named(n, false, name)), call(name, named(n, true, name))],
  })
  const patch = (what: string, type: string, body: (object: JsonObject) => Call['body'], query = '?fieldManager=m') =>
    onto(what, (name, object) => ({ method: 'PATCH', path: at(name, query), body: body(object)!, contentType: type }))
  const merging = (what: string, type: string) => [
    patch(what, type, (object) => JSON.stringify(object)),
    patch(`${what}, small`, type, () => JSON.stringify(SMALL)),
  ]
  const add = (path: string, value: Json) => JSON.stringify([{ op: 'add', path, value }])
  return [
    ...formats.flatMap((format): Case[] => [
      { what: `create, ${format}`, calls: (n, name) => [post(format, named(n, true, name))] },
      onto(`update, ${format}`, (name, object) => ({
        method: 'PUT',
        path: at(name),
        body: written(format, object),
        contentType: contentTypes[format],
      })),
      onto(`get, ${format}`, (name) => ({ method: 'GET', path: at(name), accept: contentTypes[format] })),
    ]),
    onto('get, pretty', (name) => ({ method: 'GET', path: at(name, '?pretty=true') })),
    onto('get, Table', (name) => ({ method: 'GET', path: at(name), accept: TABLE })),
    ...[...formats, 'pretty' as const, 'Table' as const, 'metadata' as const].map((form) =>
      onto(`list, ${form}`, (name) => ({
        method: 'GET',
        path: `${shape.url}?fieldSelector=metadata.name%3D${name}${form === 'pretty' ? '&pretty=true' : ''}`,
        accept: acceptOf(form),
      })),
    ),
    ...[...formats.filter((format) => format !== 'yaml'), 'Table' as const, 'metadata' as const].map((form) =>
      onto(`watch, ${form}`, (name) => ({
        method: 'GET',
        path: `${shape.url}?watch=true&fieldSelector=metadata.name%3D${name}`,
        accept: acceptOf(form, true),
        isWatch: true,
      })),
    ),
    onto('delete', (name) => ({ method: 'DELETE', path: at(name) })),
    patch('JSON patch', 'application/json-patch+json', (object) => add(shape.at, valueAt(object, shape.at))),
    patch('JSON patch, small', 'application/json-patch+json', () => add('/metadata/labels', { a: 'b' })),
    ...merging('merge patch', 'application/merge-patch+json'),
    ...(shape.isCustom === true ? [] : merging('strategic merge patch', 'application/strategic-merge-patch+json')),
    patch('apply, json', APPLY, (object) => JSON.stringify(object), FORCE),
    patch('apply, yaml', APPLY, (object) => yamlText(object), FORCE),
    patch(
      'apply, cbor',
      'application/apply-patch+cbor',
      (object) => encodeCborValue(object) as Uint8Array<ArrayBuffer>,
      FORCE,
    ),
    {
      what: 'apply again',
      calls: (n, name) =>
        [false, true].map((other) => ({
          method: 'PATCH',
          path: at(name, FORCE),
          body: JSON.stringify(named(n, other, name)),
          contentType: APPLY,
        })),
    },
  ]
}
