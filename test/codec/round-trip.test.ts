/** Encodes and decodes random objects of every kind in every serialization. */
import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { CborError, parseCbor } from '../../src/codec/cbor/decode.ts'
import { encodeCbor } from '../../src/codec/cbor/encode.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { canonical, encodeJson } from '../../src/codec/encode/encode.ts'
import { stringify } from '../../src/json/write-json.ts'
import { parseJson, parseStored } from '../../src/json/parse-json.ts'
import { ProtobufError } from '../../src/codec/protobuf/wire.ts'
import { encodeProtobuf, readEnvelope } from '../../src/codec/protobuf/envelope.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { encodeMessage, hasProtobuf } from '../../src/codec/protobuf/encode.ts'
import { transcodeMessage } from '../../src/codec/protobuf/transcoder.ts'
import { parseYaml } from '../../src/codec/yaml/yaml.ts'
import { yamlText } from '../../src/codec/yaml/text.ts'
import { builtInType, typeOfKind } from '../../src/schema/built-in.ts'
import { fixtures } from '../fixtures/kubernetes/fixtures.ts'
import { builtInKindNames as kinds } from '../schema/built-in-kinds.ts'
import { randomNumbers, randomObject } from '../schema/random-object.ts'

/** The JSON of an object after one decoding; every later round trip must give the same. */
function decoded(name: string, seed: number): { object: JsonObject; text: string } {
  const type = builtInType(name)
  const sent = { ...randomObject(type, randomNumbers(seed)) }
  const { object, strict } = decodeObject(type, parseJson(stringify(sent)))
  expect(strict).toEqual([])
  return { object, text: encodeJson(type, object) }
}

test('kinds are plenty', () => {
  expect(kinds.length).toBeGreaterThan(300)
})

describe.each([1, 2])('seed %i', (seed) => {
  test.each(kinds)('%s', (name) => {
    const type = builtInType(name)
    const { object, text } = decoded(name, seed)
    expect(stringify(canonical(type, object))).toHaveLength(text.length)
    expect(encodeJson(type, decodeObject(type, parseStored(text) as JsonObject).object)).toBe(text)
    expect(encodeJson(type, decodeObject(type, parseCbor(encodeCbor(type, object))).object)).toBe(text)
    expect(encodeJson(type, decodeObject(type, parseYaml(yamlText(parseStored(text))).tree).object)).toBe(text)
    if (!hasProtobuf(type)) return
    const message = encodeMessage(type, object)
    expect(encodeJson(type, decodeMessage(type, message))).toBe(text)
    expect(Buffer.compare(transcodeMessage(type, text), encodeMessage(type, parseStored(text) as JsonObject))).toBe(0)
  })
})

test('any seed', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.integer(), (name, seed) => {
      const type = builtInType(name)
      const { object, text } = decoded(name, seed)
      expect(encodeJson(type, decodeObject(type, parseCbor(encodeCbor(type, object))).object)).toBe(text)
      if (!hasProtobuf(type)) return
      expect(encodeJson(type, decodeMessage(type, encodeMessage(type, object)))).toBe(text)
      expect(Buffer.compare(transcodeMessage(type, text), encodeMessage(type, parseStored(text) as JsonObject))).toBe(0)
    }),
    { numRuns: 200 },
  )
})

/** Bytes with random changes, cuts and insertions. */
function broken(bytes: Uint8Array, seed: number): Uint8Array {
  const random = randomNumbers(seed)
  const place = () => Math.floor(random() * bytes.length)
  const kind = random()
  if (kind < 0.3) return bytes.subarray(0, place())
  const changed = Uint8Array.from(bytes)
  for (let i = 0; i <= random() * 4; i++) changed[place()] = Math.floor(random() * 256)
  if (kind < 0.7) return changed
  const at = place()
  const noise = Uint8Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
    random() < 0.5 ? 0xff : random() * 256,
  )
  return Uint8Array.from([...changed.subarray(0, at), ...noise, ...changed.subarray(at)])
}

describe('malformed input ends in an error of its own, or is read', () => {
  const sample = fixtures.filter(({ name }) => /\.(Pod|Deployment|CustomResourceDefinition|Service|Event)$/.test(name))

  test.each(sample)('$name', ({ json, protobuf }) => {
    const { kind, apiVersion } = JSON.parse(json) as { kind: string; apiVersion: string }
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    const type = typeOfKind({ group: group!, version: version!, kind })!
    const cbor = encodeCbor(type, decodeObject(type, parseJson(json)).object)
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        attempt(ProtobufError, () => decodeMessage(type, readEnvelope(broken(protobuf, seed)).raw))
        attempt(CborError, () => parseCbor(broken(cbor, seed)))
      }),
      { numRuns: 150 },
    )
  })

  test('random bytes', () => {
    const type = builtInType('io.k8s.api.core.v1.Pod')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        attempt(ProtobufError, () => decodeMessage(type, bytes))
        attempt(ProtobufError, () => readEnvelope(bytes))
        attempt(CborError, () => parseCbor(bytes))
      }),
      { numRuns: 500 },
    )
  })

  function attempt(error: new (...parameters: never[]) => Error, read: () => unknown): void {
    try {
      read()
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(error)
    }
  }
})

test('an envelope names the kind', () => {
  const type = builtInType('io.k8s.api.core.v1.ConfigMap')
  const bytes = encodeProtobuf(type, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } })
  expect(readEnvelope(bytes)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
})
