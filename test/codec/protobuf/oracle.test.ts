/**
 * Compares our protobuf codec with protobufjs: the same bytes for every fixture and for random objects of every kind.
 */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { stringify } from '../../../src/json/write-json.ts'
import { parseJson, parseStored } from '../../../src/json/parse-json.ts'
import { decodeObject } from '../../../src/codec/decode/decode.ts'
import { encodeJson } from '../../../src/codec/encode/encode.ts'
import { decodeMessage } from '../../../src/codec/protobuf/decode.ts'
import { encodeMessage, hasProtobuf } from '../../../src/codec/protobuf/encode.ts'
import { readEnvelope } from '../../../src/codec/protobuf/envelope.ts'
import { transcodeMessage } from '../../../src/codec/protobuf/transcoder.ts'
import { builtInType } from '../../../src/schema/built-in.ts'
import type { StructType } from '../../../src/schema/structural.ts'
import { fixtures, typeOfFixture } from '../../fixtures/kubernetes/fixtures.ts'
import { builtInKindNames } from '../../schema/built-in-kinds.ts'
import { randomNumbers, randomObject } from '../../schema/random-object.ts'
import { Oracle } from './oracle.ts'

const oracle = new Oracle()
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
// storage holds objects only
const parse = (text: string): JsonObject => parseStored(text) as JsonObject

function expectSameBytes(type: StructType, text: string): void {
  const theirs = oracle.encode(type, parse(text))
  expect(hex(encodeMessage(type, parse(text)))).toBe(hex(theirs))
  expect(hex(transcodeMessage(type, text))).toBe(hex(theirs))
  expect(hex(oracle.throughValues(type, theirs))).toBe(hex(theirs))
  // the envelope has kind and apiVersion
  const { kind, apiVersion } = parse(text)
  const envelope = kind === undefined ? {} : { kind, apiVersion }
  expect(encodeJson(type, { ...envelope, ...decodeMessage(type, theirs) })).toBe(text)
}

describe('every fixture', () => {
  test.each(fixtures)('$name', ({ json, protobuf }) => {
    const type = typeOfFixture(parse(json))
    const text = encodeJson(type, decodeObject(type, parseJson(json)).object)
    expect(hex(oracle.encode(type, parse(text)))).toBe(hex(readEnvelope(protobuf).raw))
    expectSameBytes(type, text)
  })
})

const withProtobuf = builtInKindNames.filter((name) => hasProtobuf(builtInType(name)))

test('kinds are plenty', () => {
  expect(withProtobuf.length).toBeGreaterThan(300)
})

describe.each([1, 2, 3])('random objects, seed %i', (seed) => {
  test.each(withProtobuf)('%s', (name) => {
    const type = builtInType(name)
    const sent = randomObject(type, randomNumbers(seed))
    expectSameBytes(type, encodeJson(type, decodeObject(type, parseJson(stringify(sent))).object))
  })
})
