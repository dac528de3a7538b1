/** Decodes every Kubernetes fixture from each serialization and encodes it in the others, byte for byte. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { canonical, encodeJson } from '../../src/codec/encode/encode.ts'
import { plainJson } from '../../src/json/json.ts'
import { stringify } from '../../src/json/write-json.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { encodeProtobuf, readEnvelope } from '../../src/codec/protobuf/envelope.ts'
import { transcodeMessage } from '../../src/codec/protobuf/transcoder.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { parseYaml } from '../../src/codec/yaml/yaml.ts'
import { yamlText } from '../../src/codec/yaml/text.ts'
import { fixtures, typeOfFixture } from '../fixtures/kubernetes/fixtures.ts'

test('the archive has all fixtures', () => {
  expect(fixtures).toHaveLength(95)
})

describe.each(fixtures)('$name', ({ json, yaml, protobuf }) => {
  const given = plainJson(parseJson(json)) as JsonObject
  const text = stringify(given)
  const type = typeOfFixture(given)

  test('JSON → JSON', () => {
    const { object, strict } = decodeObject(type, parseJson(json))
    expect(strict).toEqual([])
    expect(encodeJson(type, object)).toBe(text)
    expect(stringify(canonical(type, object))).toBe(text)
  })

  test('protobuf → JSON', () => {
    const { kind, apiVersion, raw } = readEnvelope(protobuf)
    const object = { ...(kind === '' ? {} : { kind, apiVersion }), ...decodeMessage(type, raw) }
    expect(encodeJson(type, object)).toBe(text)
  })

  test('JSON → protobuf', () => {
    const { object } = decodeObject(type, parseJson(json))
    expect(Buffer.from(encodeProtobuf(type, object)).toString('hex')).toBe(Buffer.from(protobuf).toString('hex'))
  })

  test('stored JSON → protobuf', () => {
    const message = readEnvelope(protobuf).raw
    expect(Buffer.from(transcodeMessage(type, text)).toString('hex')).toBe(Buffer.from(message).toString('hex'))
  })

  test('YAML → JSON', () => {
    const { tree, duplicates } = parseYaml(yaml)
    expect(duplicates).toEqual([])
    expect(encodeJson(type, decodeObject(type, tree).object)).toBe(text)
  })

  test('JSON → YAML', () => {
    expect(yamlText(given)).toBe(yaml)
  })
})
