// For any input a parser returns a value or throws an error that it declares, never one of the JavaScript engine.
// `npm test` makes a few runs; `npm run fuzz` makes more (KEDGE_RUNS).
import { beforeAll, describe, expect, test, vi } from 'vitest'
import fc from '../chance.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { compactForm, readClaims, WrongClaims } from '../../src/authentication/token-claims.ts'
import { impersonate } from '../../src/authorization/impersonation.ts'
import { decodeMessage } from '../../src/codec/protobuf/decode.ts'
import { serverSideApply } from '../../src/patch/apply.ts'
import { fromUnstructured } from '../../src/patch/from-unstructured.ts'
import { RequestHeaders } from '../../src/request/request-headers.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { memoryServer } from '../request-in-memory.ts'
import { DecodeError } from '../../src/codec/decode/decode-problems.ts'
import { parseJsonBytes } from '../../src/json/parse-json.ts'
import { JsonSyntaxError } from '../../src/json/scanner.ts'
import { parseAccept } from '../../src/codec/negotiation/media-type.ts'
import { parseBody } from '../../src/codec/decode/parse-body.ts'
import type { BodyFormat } from '../../src/codec/decode/parse-body.ts'
import { JsonPathError } from '../../src/codec/table/parse-json-path.ts'
import { parseJsonPath } from '../../src/codec/table/parse-json-path.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { parseAppliedYaml, YamlError } from '../../src/codec/yaml/yaml.ts'
import { readJsonPatch } from '../../src/patch/json-patch.ts'
import { applyJsonPatch } from '../../src/patch/json-patch-operations.ts'
import { managedFieldsProblem } from '../../src/patch/managers.ts'
import { applyMergePatch } from '../../src/patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../../src/patch/strategic-merge-patch.ts'
import type { PatchMap } from '../../src/patch/strategic-form.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { parseVersion } from '../../src/registry/coordination/semantic-version.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { Quantity, QuantityError } from '../../src/schema/quantity.ts'
import { parseDuration, parseMicroTime, parseTime, TimeError } from '../../src/schema/time.ts'
import { parseContinueToken } from '../../src/storage/continue-token.ts'
import { parseFieldSelector } from '../../src/storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../../src/storage/selectors/label-selector.ts'
import { scheduleProblem } from '../../src/validation/cron-schedule.ts'
import { goPatternError, loadPatterns } from '../../src/validation/go-pattern.ts'
import { hasFormat } from '../../src/validation/value-formats.ts'
import { BadRequestText, parseCertificateRequest } from '../../src/x509/certificate-request.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { pemBlocks } from '../../src/x509/pem.ts'

const numRuns = Number(process.env['KEDGE_RUNS'] ?? 300)

vi.setConfig({ testTimeout: 10_000 + 100 * numRuns })
beforeAll(() => Promise.all([loadYaml(), loadPatterns()]))

type Declared = new (...args: never[]) => Error

/** Texts made of tokens that the parser knows, repeated and nested, with noise between them. */
function textOf(...parts: string[]): fc.Arbitrary<string> {
  const part = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...parts) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(...parts).chain((one) => fc.nat(2_000).map((n) => one.repeat(n))) },
  )
  return fc.array(part, { maxLength: 24 }).map((texts) => texts.join(''))
}

const utf8 = new TextEncoder()
const bytesOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> => text.map((one) => utf8.encode(one))

function holds<T>(input: fc.Arbitrary<T>, declared: readonly Declared[], parse: (value: T) => unknown): void {
  fc.assert(
    fc.property(input, (value) => {
      try {
        parse(value)
      } catch (error) {
        if (!declared.some((known) => error instanceof known) || isOverflow(error)) throw error
      }
    }),
    { numRuns },
  )
}

const isOverflow = (error: unknown): boolean => error instanceof RangeError && /call stack/.test(error.message)

const json = textOf(
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '"a":',
  '1',
  '-1e9999999999',
  'null',
  '\\u12',
  '{"a":',
  '[[',
  '""',
)
const yaml = textOf(
  'a: ',
  '- ',
  '\n',
  '  ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  '&a ',
  '*a',
  '<<: ',
  '|\n',
  '>\n',
  '---\n',
  '!',
  '#',
  '\t',
  '1_0',
  '? ',
)
const typed = ['ConfigMap', 'Pod', 'Event'].map((kind) => builtInType(`io.k8s.api.core.v1.${kind}`))
const definition = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition'

function decodes(format: BodyFormat, bytes: Uint8Array): void {
  const body = parseBody(format, bytes)
  for (const type of [...typed, builtInType(definition)]) {
    try {
      body.decodeAs(type)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
    }
  }
}

describe('bodies', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(255).chain((byte) => fc.nat(5_000).map((n) => new Uint8Array(n).fill(byte))),
  )
  test('JSON', () => holds(bytesOf(json), [JsonSyntaxError], parseJsonBytes))
  test('an object in JSON', () => holds(bytesOf(json), [DecodeError], (body) => decodes('json', body)))
  test('any JSON', () => holds(fc.json({ maxDepth: 6 }), [DecodeError], (text) => decodes('json', utf8.encode(text))))
  test('YAML', () => holds(bytesOf(yaml), [DecodeError], (body) => decodes('yaml', body)))
  test('applied YAML', () => holds(bytesOf(yaml), [YamlError], parseAppliedYaml))
  test('CBOR', () => holds(bytes, [DecodeError], (body) => decodes('cbor', body)))
  test('protobuf', () =>
    holds(bytes, [DecodeError], (body) => decodes('protobuf', Uint8Array.of(...utf8.encode('k8s\0'), ...body))))
  test('protobuf in an envelope', () =>
    holds(fc.uint8Array({ maxLength: 120 }), [DecodeError], (raw) =>
      decodes('protobuf', Uint8Array.of(...utf8.encode('k8s\0'), 0x12, raw.length, ...raw)),
    ))
})

describe('patches', () => {
  const live = {
    metadata: { finalizers: ['a', 'b'] },
    spec: { containers: [{ name: 'a', env: [{ name: 'b' }] }], x: {} },
  }
  const pointer = fc
    .array(fc.constantFrom('metadata', 'spec', 'containers', 'env', '0', '-', '-1', 'x', '~1', '', '__proto__'))
    .map((parts) => parts.map((part) => `/${part}`).join(''))
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path: pointer,
      from: pointer,
      value: fc.jsonValue({ maxDepth: 3 }),
    },
    { requiredKeys: [] },
  )
  test('JSON patch', () =>
    holds(fc.array(operation, { maxLength: 40 }), [StatusError], (operations) =>
      applyJsonPatch(structuredClone(live), readJsonPatch(structuredClone(operations) as never, true)),
    ))
  test('a JSON patch that copies what it copied', () =>
    holds(
      fc.array(fc.record({ op: fc.constant('copy'), from: pointer, path: pointer }), { maxLength: 400 }),
      [StatusError],
      (operations) => applyJsonPatch(structuredClone(live), readJsonPatch(operations as never, false)),
    ))
  const value = fc.jsonValue({ maxDepth: 4 })
  test('merge patch', () =>
    holds(value, [StatusError], (patch) => applyMergePatch(structuredClone(live), patch as never, true)))
  const element = fc.dictionary(
    fc.constantFrom('name', 'value', '$patch', '$retainKeys'),
    fc.constantFrom<unknown>('a', 'b', 'delete', 'replace', 'merge', null, 1, ['name']),
  )
  const member = fc.oneof(fc.array(fc.oneof({ weight: 6, arbitrary: element }, { weight: 1, arbitrary: value })), value)
  const container = fc.dictionary(
    fc.constantFrom('name', 'env', '$setElementOrder/env', '$deleteFromPrimitiveList/args', 'args', '$patch'),
    member,
  )
  test('strategic merge patch', () =>
    holds(fc.array(container), [StatusError], (containers) =>
      applyStrategicMergePatch(builtInType('io.k8s.api.core.v1.Pod'), structuredClone(live) as PatchMap, {
        spec: { containers: structuredClone(containers) as never },
      }),
    ))
  test('managed fields', () => holds(fc.array(fc.object({ maxDepth: 4 })), [], managedFieldsProblem))
})

describe('texts', () => {
  test.each<[string, fc.Arbitrary<string>, readonly Declared[], (text: string) => unknown]>([
    [
      'label selectors',
      textOf('a', '=', '!', 'in', '(', ')', ',', ' ', 'notin', '==', '>', '-'),
      [StatusError],
      parseLabelSelector,
    ],
    ['field selectors', textOf('a', '=', '!', '\\', ',', '.', '=='), [StatusError], parseFieldSelector],
    [
      'quantities',
      textOf('0', '1', '.', 'e', 'E', '-', '+', 'Ki', 'm', '9999999999'),
      [QuantityError],
      (text) => Quantity.parse(text).toString(),
    ],
    ['times', textOf('2020-01-01T00:00:00Z', '-', ':', '.', '1', 'Z', '+'), [TimeError], parseTime],
    ['times in microseconds', textOf('2020-01-01T00:00:00.000000Z', '-', '.', '1', 'Z'), [TimeError], parseMicroTime],
    ['durations', textOf('1', '.', 'h', 'm', 's', 'ns', '-', '0'), [TimeError], parseDuration],
    ['schedules', textOf('*', ' ', ',', '-', '/', '1', '@every ', 'TZ=', 'mon', '1h'), [], scheduleProblem],
    ['versions', textOf('1', '.', '-', '+', 'a', '0'), [], parseVersion],
    [
      'patterns',
      textOf('(', ')', '[', ']', '{1000}', '*', '+', '?', '|', 'a', '\\p{L}', '\\', '^'),
      [],
      (pattern) => goPatternError(pattern, {}),
    ],
    [
      'continue tokens',
      fc.oneof(
        textOf('a', '='),
        json.map((text) => Buffer.from(text).toString('base64url')),
      ),
      [StatusError],
      (text) => parseContinueToken(text, 'a'),
    ],
    ['Accept', textOf('a/b', ';', ',', 'q=0.1', '"', '\\', '=', '*/*', ' '), [], parseAccept],
    ['queries', textOf('?', '&', '=', '%', '%zz', '+', 'a', ';'), [], parseQuery],
    [
      'JSON paths',
      textOf('{', '}', '.', '[', ']', '?(', '@', '==', '"', "'", '..', '*', ':', 'a', '1'),
      [JsonPathError],
      parseJsonPath,
    ],
    ['PEM', textOf('-----BEGIN A-----', '-----END A-----', '\n', 'AAAA', ':', '-'), [], (text) => pemBlocks(text)],
  ])('%s', (_, text, declared, parse) => holds(text, declared, parse))

  const formats =
    'uri email hostname ipv4 ipv6 cidr mac uuid isbn creditcard ssn hexcolor rgbcolor byte date duration date-time k8s-short-name k8s-long-name'
  test.each(formats.split(' '))('format %s', (format) =>
    holds(textOf('a', '.', '-', '@', ':', '/', '[', ']', '1', ' ', '<', '>', '%', 'rgb('), [], (text) =>
      hasFormat(format, text),
    ),
  )
})

describe('DER', () => {
  // readers of certificates throw both errors for bytes that are no certificate
  const pem = (der: Uint8Array) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  const element: fc.Arbitrary<number[]> = fc.letrec<{ der: number[] }>((tie) => ({
    der: fc.oneof(
      { depthSize: 'small' },
      fc
        .tuple(fc.constantFrom(2, 3, 4, 6, 12, 19, 23, 24), fc.array(fc.nat(255), { maxLength: 9 }))
        .map(([tag, content]) => [tag, content.length, ...content]),
      fc.tuple(fc.constantFrom(0x30, 0x31, 0xa0, 0xa3), fc.array(tie('der'), { maxLength: 4 })).map(([tag, parts]) => {
        const content = parts.flat()
        return content.length < 128
          ? [tag, content.length, ...content]
          : [tag, 0x82, content.length >> 8, content.length & 255, ...content]
      }),
    ),
  })).der
  const der = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    element.map((bytes) => Uint8Array.from(bytes)),
  )
  test('certificates', () => holds(der, [RangeError, TypeError], readCertificate))
  test('certificate requests', () => holds(der, [BadRequestText], (bytes) => parseCertificateRequest(pem(bytes))))
})

describe('tokens', () => {
  const claims = textOf(
    '{',
    '}',
    '"sub":',
    '"aud":',
    '"exp":',
    '[',
    ']',
    '"a"',
    ',',
    '1e99',
    '-1',
    'null',
    '"kubernetes.io":',
    '"iss":',
  )
  test('a text that is no token is refused as a token', () =>
    holds(textOf('.', 'a', '=', ' ', '\n', 'eyJ', '-_'), [], compactForm))
  test('claims', () => holds(bytesOf(claims), [WrongClaims], (payload) => readClaims(payload, true)))
  test('claims that are JSON', () =>
    holds(
      fc.dictionary(fc.constantFrom('sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'kubernetes.io'), fc.jsonValue()),
      [WrongClaims],
      (object) => readClaims(utf8.encode(JSON.stringify(object)), false),
    ))
})

test('no header lets a user become another without the right', async () => {
  const server = memoryServer()
  const name = fc.constantFrom(
    'User',
    'Group',
    'Uid',
    'Extra-a',
    'Extra-%2F',
    'Extra-%zz',
    'Extra-',
    'Extra-__proto__',
    'extra-A',
  )
  const value = fc.constantFrom(
    '',
    'system:admin',
    'system:masters',
    'system:serviceaccount:a:b',
    'system:node:a',
    'system:anonymous',
    'a',
    ',',
    'a, b',
  )
  const alice = authenticated({ name: 'alice', groups: [] })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 }), async (pairs) => {
      const headers = new Headers()
      for (const [key, text] of pairs) headers.append(`Impersonate-${key}`, text)
      const request = { ...server.request('/api/v1/pods'), headers: RequestHeaders.of(headers), user: alice }
      try {
        expect((await impersonate(request)).user).toBe(alice)
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError)
        expect([400, 403]).toContain((error as StatusError).code)
      }
    }),
    { numRuns },
  )
})

describe('unknown groups of protobuf', () => {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)])
  const field = fc.integer({ min: 100, max: 3_000 })
  const unknown: fc.Arbitrary<number[]> = fc.letrec<{ group: number[] }>((tie) => ({
    group: fc.oneof(
      { depthSize: 'small' },
      fc.tuple(field, fc.nat(127)).map(([number, value]) => [...varint(number * 8), value]),
      fc
        .tuple(field, fc.array(fc.nat(255), { maxLength: 5 }))
        .map(([number, bytes]) => [...varint(number * 8 + 2), bytes.length, ...bytes]),
      fc
        .tuple(field, fc.array(tie('group'), { maxLength: 3 }))
        .map(([number, parts]) => [...varint(number * 8 + 3), ...parts.flat(), ...varint(number * 8 + 4)]),
    ),
  })).group
  const configMap = builtInType('io.k8s.api.core.v1.ConfigMap')
  const members = [
    [0x0a, 0x03, 0x0a, 0x01, 0x61],
    [0x12, 0x06, 0x0a, 0x01, 0x6b, 0x12, 0x01, 0x76],
  ]

  test('say nothing of the object that they stand in', () => {
    const plain = decodeMessage(configMap, Uint8Array.from(members.flat()))
    fc.assert(
      fc.property(unknown, unknown, unknown, (before, between, behind) => {
        const bytes = [...before, ...members[0]!, ...between, ...members[1]!, ...behind]
        expect(decodeMessage(configMap, Uint8Array.from(bytes))).toEqual(plain)
      }),
      { numRuns },
    )
  })

  test('are refused where they end otherwise', () =>
    holds(fc.tuple(unknown, fc.array(fc.nat(255), { maxLength: 6 })), [DecodeError], ([group, more]) =>
      decodeMessage(configMap, Uint8Array.from([...more, ...group.slice(0, -1), ...more])),
    ))
})

describe('server-side apply', () => {
  const kind = { group: '', version: 'v1', kind: 'Pod' }
  const type = builtInType('io.k8s.api.core.v1.Pod')
  const apply = (config: object, live: KubeObject | undefined, manager: string) =>
    serverSideApply({
      type,
      kind,
      live,
      config: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, ...config } as never,
      manager,
      force: true,
      subresource: '',
      now: new Date(0),
      toObject: (merged) => fromUnstructured(type, merged).object as never,
    })
  const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', '')
  const container = fc.record(
    {
      name,
      image: fc.constantFrom('x', 'y'),
      args: fc.array(name),
      env: fc.array(fc.record({ name, value: name }), { maxLength: 3 }),
      ports: fc.array(fc.record({ containerPort: fc.nat(3), protocol: fc.constantFrom('TCP', 'UDP') }), {
        maxLength: 3,
      }),
    },
    { requiredKeys: ['name'] },
  )
  const spec = fc.record(
    {
      containers: fc.array(container, { maxLength: 3 }),
      nodeSelector: fc.dictionary(name, name),
      tolerations: fc.array(fc.record({ key: name }), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  test('of anything answers in words', () =>
    holds(fc.tuple(fc.jsonValue({ maxDepth: 5 }), spec), [StatusError], ([any, good]) =>
      apply({ spec: any }, apply({ spec: good }, undefined, 'a'), 'b'),
    ))

  test('of the same twice changes nothing, whoever applied before', () => {
    fc.assert(
      fc.property(spec, spec, (first, second) => {
        try {
          const live = apply({ spec: first }, undefined, 'a')
          const once = apply({ spec: second }, live, 'b')
          expect(apply({ spec: second }, structuredClone(once), 'b')).toEqual(once)
        } catch (error) {
          if (!(error instanceof StatusError)) throw error
        }
      }),
      { numRuns },
    )
  })
})
