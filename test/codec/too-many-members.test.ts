// The decoder refuses a map with more members than storage could hold while it reads the body, in every serialization.
import { beforeAll, describe, expect, test } from 'vitest'
import { MAX_MEMBERS } from '../../src/json/json.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { encodeCborValue } from '../../src/codec/cbor/encode.ts'
import { checkLeastSize } from '../../src/codec/protobuf/least-size.ts'
import { parseBody, parsing } from '../../src/codec/decode/parse-body.ts'
import type { BodyFormat } from '../../src/codec/decode/parse-body.ts'
import { encodeProtobuf } from '../../src/codec/protobuf/envelope.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { inParts } from '../../src/base/parts.ts'
import { inTurns } from '../../src/base/slices.ts'
import { builtInType } from '../../src/schema/built-in.ts'

beforeAll(loadYaml)

const type = builtInType('io.k8s.api.core.v1.ConfigMap')
const configMap = (members: number): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: Object.fromEntries(Array.from({ length: members }, (_, at) => [`k${at}`, ''])),
})
const utf8 = new TextEncoder()
const written: Readonly<Record<BodyFormat, (object: JsonObject) => Uint8Array>> = {
  json: (object) => utf8.encode(JSON.stringify(object)),
  yaml: ({ data }) =>
    utf8.encode(
      `apiVersion: v1\nkind: ConfigMap\ndata:\n${Object.keys(data as object)
        .map((name) => `  ${name}: ""\n`)
        .join('')}`,
    ),
  cbor: (object) => encodeCborValue(object),
  protobuf: (object) => encodeProtobuf(type, object),
}

describe.each(Object.keys(written) as BodyFormat[])('%s', (format) => {
  const read = (members: number) => parseBody(format, written[format](configMap(members))).decodeAs(type)

  test('as many as a map may have', () => {
    const { data } = read(MAX_MEMBERS).object as { data?: object }
    expect(Object.keys(data ?? {})).toHaveLength(MAX_MEMBERS)
  })

  test('one more is 413', async () => {
    expect(() => read(MAX_MEMBERS + 1)).toThrow(StatusError)
    const body = written[format](configMap(MAX_MEMBERS + 1))
    const inSteps = async () => (await inTurns(parsing(format, body), async () => {})).decodeAs(type)
    await expect(inSteps()).rejects.toMatchObject({ code: 413 })
  })
})

test('members that are repeated are counted, too', () => {
  const body = utf8.encode(`{"data":{${'"a":"",'.repeat(MAX_MEMBERS)}"a":""}}`)
  expect(() => parseBody('json', body)).toThrow('a map may have 50000 members')
})

test('an object that storage could not take is refused before the next step, in parts as well as at once', async () => {
  const object = (items: number) => ({ items: Array.from({ length: items }, () => ({ name: 'x'.repeat(20) })) })
  expect(() => checkLeastSize(object(50_000))).not.toThrow()
  expect(() => checkLeastSize(object(200_000))).toThrow('limit is 1572864')
  const large = object(200_000)
  await expect(
    inTurns(
      inParts(() => checkLeastSize(large)),
      async () => {},
    ),
  ).rejects.toThrow('limit is 1572864')
})
