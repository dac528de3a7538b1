// The parsers refuse input that nests deeper than later walks can follow, with the messages of kube-apiserver.
import { beforeAll, describe, expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { DecodeError } from '../../src/codec/decode/decode-problems.ts'
import { encodeJson } from '../../src/codec/encode/encode.ts'
import { MAX_NESTING } from '../../src/json/json.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import type { BodyFormat } from '../../src/codec/decode/parse-body.ts'
import { parseBody } from '../../src/codec/decode/parse-body.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { readJsonPatch } from '../../src/patch/json-patch.ts'
import { applyJsonPatch } from '../../src/patch/json-patch-operations.ts'
import { builtInType } from '../../src/schema/built-in.ts'

beforeAll(loadYaml)

const nested = (open: string, close: string, levels: number): string => open.repeat(levels) + '1' + close.repeat(levels)
const core = (kind: string) => builtInType(`io.k8s.api.core.v1.${kind}`)
const revision = builtInType('io.k8s.api.apps.v1.ControllerRevision')
const definition = builtInType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition')
const decoded = (format: BodyFormat, type: typeof revision, text: string) =>
  parseBody(format, new TextEncoder().encode(text)).decodeAs(type).object

const data = (levels: number): string => `{"revision":1,"data":${nested('{"a":', '}', levels)}}`
const schema = (levels: number): string => {
  const deep = '{"type":"object","properties":{"a":'.repeat(levels) + '{}' + '}}'.repeat(levels)
  return `{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":${deep}}}]}}`
}

describe('objects', () => {
  test('a value that the type drops may nest as deep as JSON may', () => {
    const text = `{"x":${nested('[', ']', 9_000)}}`
    expect(decoded('json', core('ConfigMap'), text)).toEqual({ metadata: {} })
  })

  test('a value that the type keeps as it is may not', () => {
    expect(encodeJson(revision, decoded('json', revision, data(MAX_NESTING)))).toContain('{"a":1}')
    expect(() => decoded('json', revision, data(MAX_NESTING + 1))).toThrow(new DecodeError('exceeded max depth'))
  })

  test('nor may a schema', () => {
    expect(encodeJson(definition, decoded('json', definition, schema(200)))).toContain('openAPIV3Schema')
    for (const levels of [300, 3_000])
      expect(() => decoded('json', definition, schema(levels))).toThrow(new DecodeError('exceeded max depth'))
  })

  test('nor may YAML', () => {
    for (const levels of [MAX_NESTING + 1, 9_000])
      expect(() => decoded('yaml', core('ConfigMap'), `x: ${nested('[', ']', levels)}`)).toThrow(/exceeded max depth/)
  })
})

describe('a JSON patch', () => {
  const patched = (operations: object[]) =>
    applyJsonPatch(parseJson('{"a":{"b":{}}}'), readJsonPatch(operations as never, false)).document

  test('that copies what it copied is refused before anything walks it', () => {
    const operations = Array.from({ length: 20 }, (_, at) => ({
      op: 'copy',
      from: '/a',
      path: '/a' + '/b'.repeat(2 ** at),
    }))
    expect(() => patched(operations)).toThrow(new StatusError(400, 'BadRequest', 'exceeded max depth'))
  })

  test('that only builds what fits is applied', () => {
    expect(patched([{ op: 'copy', from: '/a', path: '/a/b/c' }])).toEqual({ a: { b: { c: { b: {} } } } })
  })
})

describe('input that is short to write and dear to read', () => {
  test('a JSON patch that moves a long array again and again is refused', () => {
    const front = { op: 'add', path: '/a/0', value: 'x' }
    const list = Array.from({ length: 50_000 }, () => 'x')
    const patch = (count: number) => readJsonPatch(Array.from({ length: count }, () => front) as never, false)
    expect(() => applyJsonPatch({ a: [...list] }, patch(3_000))).toThrow(
      /^Request entity too large: .* move more than 100000000 elements of arrays$/,
    )
    expect(applyJsonPatch({ a: [...list] }, patch(100)).document).toMatchObject({ a: { length: 50_100 } })
  })

  test('YAML of more nodes than any object has is refused', () => {
    const text = `x: [${'{},'.repeat(400_000)}]`
    expect(() => decoded('yaml', core('ConfigMap'), text)).toThrow(/more than 150000 nodes/)
  })
})
