// The work of every parser of client input grows linearly, for shapes that tempt a parser to look back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearerToken, socketOffer } from '../../src/authentication/bearer-token.ts'
import { compactForm, readClaims } from '../../src/authentication/token-claims.ts'
import { standardMacros } from '../../src/cel/syntax/macros.ts'
import { parse } from '../../src/cel/syntax/parse.ts'
import { path } from '../../src/api/field.ts'
import { parseBody } from '../../src/codec/decode/parse-body.ts'
import type { BodyFormat } from '../../src/codec/decode/parse-body.ts'
import { loadYaml } from '../../src/codec/yaml/reader.ts'
import { parseAccept } from '../../src/codec/negotiation/media-type.ts'
import { serverSideApply } from '../../src/patch/apply.ts'
import { applyJsonPatch } from '../../src/patch/json-patch-operations.ts'
import { readJsonPatch } from '../../src/patch/json-patch.ts'
import { applyMergePatch } from '../../src/patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../../src/patch/strategic-merge-patch.ts'
import { FieldSet } from '../../src/patch/field-set.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { cutDefinition } from '../../src/tenancy/definition-cuts.ts'
import { isTooLarge } from '../../src/go/pattern-size.ts'
import { RequestHeaders } from '../../src/request/request-headers.ts'
import { builtInType } from '../../src/schema/built-in.ts'
import { Quantity } from '../../src/schema/quantity.ts'
import { parseDuration, parseMicroTime, parseTime } from '../../src/schema/time.ts'
import { parseFieldSelector } from '../../src/storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../../src/storage/selectors/label-selector.ts'
import { webhookClientErrors } from '../../src/validation/webhook-client.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { pemBlocks } from '../../src/x509/pem.ts'
import { CountedWork } from './counted-work.ts'

let work: CountedWork
beforeAll(async () => {
  await loadYaml()
  work = await CountedWork.start()
})
afterAll(() => work.stop())

type Shapes = Readonly<Record<string, (n: number) => string>>

/** n can be small where the shapes cost much, because the counts do not depend on the machine. */
function grows(run: (text: string) => unknown, shapes: Shapes, n = 200): void {
  test.each(Object.keys(shapes))('%s', async (name) => {
    expect(await work.growth(shapes[name]!, run, n)).toBeLessThan(2.7)
  })
}

const times = (n: number, one: (at: number) => string, by = ','): string =>
  Array.from({ length: n }, (_, at) => one(at)).join(by)
const utf8 = new TextEncoder()
const types = ['ConfigMap', 'Pod'].map((kind) => builtInType(`io.k8s.api.core.v1.${kind}`))

function decodes(format: BodyFormat, body: Uint8Array): void {
  const parsed = parseBody(format, body)
  for (const type of types) {
    try {
      parsed.decodeAs(type)
    } catch {
      // a body need not fit both types
    }
  }
}

describe('the counted work', () => {
  const lines = (n: number) => times(n, (at) => `${at}`, '\n')

  test('looking back at each step is the square', async () => {
    const lookingBack = (text: string) =>
      text.split('\n').map((line, at, all) => all.findIndex((one) => one === line) < at)
    expect(await work.growth(lines, lookingBack, 200)).toBeGreaterThan(3.5)
  })

  test('a step for each is twice as many', async () => {
    const once = (text: string) => text.split('\n').map((line) => (line === '7' ? 1 : 2))
    expect(await work.growth(lines, once, 200)).toBeCloseTo(2, 1)
  })

  test('a search of the whole text at each step is the square', async () => {
    const searching = (text: string) => text.split('\n').map((line) => text.indexOf('x', line.length))
    expect(await work.growth(lines, searching, 200)).toBeGreaterThan(3.5)
  })

  test("a parser's own work is counted", async () => {
    expect(await work.of(() => parseLabelSelector(times(200, (at) => `a${at}=b`)))).toBeGreaterThan(1_000)
  })
})

describe('JSON', () =>
  grows((text) => decodes('json', utf8.encode(text)), {
    'open brackets': (n) => '['.repeat(n),
    'nested maps': (n) => '{"a":'.repeat(n) + '1' + '}'.repeat(n),
    'many keys': (n) => `{"data":{${times(n, (at) => `"k${at}":"v"`)}}}`,
    'one key again and again': (n) => `{"data":{${times(n, () => '"a":"b"')}}}`,
    'unknown fields': (n) => `{${times(n, (at) => `"k${at}":1`)}}`,
    'one unknown field again and again': (n) => `{${times(n, () => '"x":1')}}`,
    'keys of maps in a list': (n) => `{"spec":{"containers":[${times(n, (at) => `{"name":"c${at}"}`)}]}}`,
    escapes: (n) => `{"data":{"a":"${'\\u0041\\n'.repeat(n)}"}}`,
    'a string that does not end': (n) => `{"a":"${'\\"'.repeat(n)}`,
    'long numbers': (n) => `{"spec":{"priority":${'1'.repeat(n)}}}`,
    blanks: (n) => `{${' '.repeat(n)}"a"${'\n'.repeat(n)}:1}`,
  }))

describe('YAML', () =>
  grows((text) => decodes('yaml', utf8.encode(text)), {
    'a block mapping': (n) => `data:\n${times(n, (at) => `  k${at}: v`, '\n')}`,
    'a block sequence': (n) => `x:\n${'- a\n'.repeat(n)}`,
    'a flow sequence': (n) => `x: [${'{},'.repeat(n)}]`,
    'one key again and again': (n) => `data:\n${'  a: b\n'.repeat(n)}`,
    'block scalars': (n) => `data:\n  a: |\n${'    line\n'.repeat(n)}`,
    'folded scalars': (n) => `data:\n  a: >\n${'    line\n\n'.repeat(n)}`,
    'a plain scalar of many lines': (n) => `data:\n  a: b\n${'    c\n'.repeat(n)}`,
    'double quotes': (n) => `a: "${'\\x41 '.repeat(n)}"`,
    'single quotes': (n) => `a: '${"''".repeat(n)}'`,
    anchors: (n) => times(n, (at) => `k${at}: &a${at} v`, '\n'),
    aliases: (n) => `a: &a v\nb:\n${'- *a\n'.repeat(n)}`,
    comments: (n) => '# a comment\n'.repeat(n) + 'a: b',
    documents: (n) => 'a: b\n' + '---\n'.repeat(n),
    tags: (n) => `x:\n${'- !!str a\n'.repeat(n)}`,
    'an error behind brackets': (n) => '['.repeat(n),
    'shallow lines of one scalar': (n) => `a:\n  k: "${'b\n'.repeat(n)}"`,
    'scalars with shallow lines': (n) => `a:\n${`  k: "b\nc"\n`.repeat(n)}`,
    'brackets with shallow lines': (n) => `a:\n${'  k: [\nb, {\n} ]\n'.repeat(n)}`,
    'shallow lines behind tags': (n) => `a: [\n${'!'.repeat(n)} x\n]`,
    'apostrophes behind backslashes': (n) => `a: "${"\\' ".repeat(n)}"`,
    'dashes behind a shallow line': (n) => `- "a\nb"\n${'- '.repeat(n / 4)}`,
    'an error behind a mapping': (n) => `${times(n, (at) => `k${at}: v`, '\n')}\n\t- x`,
  }))

describe('CBOR', () => {
  const bytes =
    (head: number[], one: number[], tail: number[] = []) =>
    (n: number) =>
      String.fromCharCode(...head, ...Array.from({ length: n }, () => one).flat(), ...tail)
  grows(
    (text) =>
      decodes(
        'cbor',
        Uint8Array.from(text, (character) => character.charCodeAt(0)),
      ),
    {
      'open lists': bytes([0xd9, 0xd9, 0xf7], [0x9f]),
      'a list without a length': bytes([0xd9, 0xd9, 0xf7, 0x9f], [0x01], [0xff]),
      'a map without a length': bytes([0xd9, 0xd9, 0xf7, 0xbf], [0x41, 0x61, 0x01], [0xff]),
      'a text in pieces': bytes([0xd9, 0xd9, 0xf7, 0x5f], [0x41, 0x61], [0xff]),
      tags: bytes([], [0xd9, 0xd9, 0xf7]),
    },
  )
})

describe('protobuf', () => {
  const envelope = (raw: number[]): string => {
    const meta = [...utf8.encode('\n\x0f\n\x02v1\x12\tConfigMap')]
    const length = [(raw.length & 0x7f) | 0x80, ((raw.length >> 7) & 0x7f) | 0x80, raw.length >> 14]
    return String.fromCharCode(0x6b, 0x38, 0x73, 0, ...meta, 0x12, ...length, ...raw)
  }
  const repeated = (one: number[]) => (n: number) => envelope(Array.from({ length: n }, () => one).flat())
  grows(
    (text) =>
      decodes(
        'protobuf',
        Uint8Array.from(text, (character) => character.charCodeAt(0)),
      ),
    {
      'metadata again and again': repeated([0x0a, 0x03, 0x0a, 0x01, 0x61]),
      'entries of a map': repeated([0x12, 0x06, 0x0a, 0x01, 0x61, 0x12, 0x01, 0x62]),
      'unknown fields': repeated([0xfa, 0x01, 0x01, 0x61]),
      'groups that do not end': repeated([0x0b]),
      'groups in groups': (n) =>
        envelope([...Array.from({ length: n }, () => 0xf3), ...Array.from({ length: n }, () => 0xf4)]),
      'long varints': repeated([0x80]),
    },
  )
})

describe('quantities', () =>
  grows((text) => Quantity.parse(text).toString(), {
    digits: (n) => '1'.repeat(n),
    zeros: (n) => `1${'0'.repeat(n)}`,
    fractions: (n) => `0.${'1'.repeat(n)}`,
    exponents: (n) => `1e${'1'.repeat(n)}`,
    signs: (n) => '-'.repeat(n),
  }))

describe('times', () => {
  grows(parseTime, { fractions: (n) => `2020-01-01T00:00:00.${'1'.repeat(n)}Z`, digits: (n) => '2'.repeat(n) })
  grows(parseMicroTime, { 'fractions of microseconds': (n) => `2020-01-01T00:00:00.${'1'.repeat(n)}Z` })
  grows(parseDuration, { durations: (n) => '1h'.repeat(n), 'digits of a duration': (n) => `${'1'.repeat(n)}h` })
})

describe('label selectors', () =>
  grows(parseLabelSelector, {
    terms: (n) => times(n, (at) => `a${at}=b`),
    values: (n) => `a in (${times(n, (at) => `v${at}`)})`,
    parentheses: (n) => `a in ${'('.repeat(n)}`,
    blanks: (n) => `a${' '.repeat(n)}in${' '.repeat(n)}(b)`,
    exclamations: (n) => '!'.repeat(n),
  }))

describe('field selectors', () =>
  grows(parseFieldSelector, {
    terms: (n) => times(n, (at) => `a${at}=b`),
    escapes: (n) => `a=${'\\,'.repeat(n)}`,
    equals: (n) => '='.repeat(n),
  }))

describe('queries and headers', () => {
  grows(parseQuery, {
    parameters: (n) => `?${times(n, (at) => `a${at}=%41+`, '&')}`,
    percents: (n) => `?${'%'.repeat(n)}`,
  })
  grows(parseAccept, {
    'media types': (n) => times(n, () => 'a/b;q=0.1'),
    'quoted parameters': (n) => `a/b;c="${'\\"'.repeat(n)}"`,
  })
  grows((text) => bearerToken(text, []), {
    blanks: (n) => `Bearer${' '.repeat(n)}x`,
    words: (n) => 'Bearer '.repeat(n),
  })
  grows((text) => socketOffer(RequestHeaders.of(new Headers({ 'Sec-WebSocket-Protocol': text }))), {
    'sub-protocols': (n) => times(n, (at) => `a${at}`, ', '),
    'tokens among them': (n) => times(n, () => 'base64url.bearer.authorization.k8s.io.YQ', ', '),
  })
})

describe('addresses of webhooks', () =>
  grows((url) => webhookClientErrors({ url }, path('url')), {
    dots: (n) => `https://${'a.'.repeat(n)}`,
    'at signs': (n) => `https://${'@'.repeat(n)}a`,
    colons: (n) => `https://${':'.repeat(n)}`,
    brackets: (n) => `https://${'['.repeat(n)}`,
    slashes: (n) => `https://a${'/..'.repeat(n)}`,
    percents: (n) => `https://a/${'%zz'.repeat(n)}`,
  }))

describe('claims of tokens', () =>
  grows((text) => readClaims(utf8.encode(text), false), {
    audiences: (n) => `{"aud":[${times(n, (at) => `"a${at}"`)}]}`,
    'one claim again and again': (n) => `{${times(n, () => '"sub":"a"')}}`,
    'claims that nobody knows': (n) => `{${times(n, (at) => `"c${at}":1`)}}`,
  }))

describe('tokens', () =>
  grows(compactForm, { dots: (n) => '.'.repeat(n), letters: (n) => `${'a'.repeat(n)}.${'b'.repeat(n)}.c` }))

describe('PEM and DER', () => {
  grows((text) => pemBlocks(text), {
    'blocks that never end': (n) => '-----BEGIN A-----\n'.repeat(n),
    'whole blocks': (n) => '-----BEGIN A-----\nAAAA\n-----END A-----\n'.repeat(n),
    dashes: (n) => '-'.repeat(n),
  })
  const der = (bytes: number[]) => String.fromCharCode(...bytes)
  grows((text) => readCertificate(Uint8Array.from(text, (character) => character.charCodeAt(0))), {
    'empty elements': (n) =>
      der([0x30, 0x82, n >> 7, (n * 2) & 0xff, ...Array.from({ length: n }, () => [5, 0]).flat()]),
    'open sequences': (n) => der(Array.from({ length: n }, () => [0x30, 0x80]).flat()),
  })
})

describe('expressions', () =>
  grows((text) => parse(text, { macros: standardMacros, optionalSyntax: true }), {
    'a chain of operators': (n) => times(n, () => '1', ' + '),
    'a chain of members': (n) => `a${'.b'.repeat(n)}`,
    'arguments of a call': (n) => `f(${times(n, () => 'a')})`,
    'a list': (n) => `[${times(n, () => '1')}]`,
    'a map': (n) => `{${times(n, (at) => `'k${at}': 1`)}}`,
    parentheses: (n) => '('.repeat(n),
    exclamations: (n) => '!'.repeat(n) + 'a',
    'a text that does not end': (n) => `"${'\\"'.repeat(n)}`,
    'errors, one behind the other': (n) => '@ '.repeat(n),
    'conditions within conditions': (n) => times(n, () => 'a ? b : ', '') + 'c',
  }))

describe('patches', () => {
  const live = () => ({ metadata: { finalizers: ['a'] }, data: {} })
  const json = (operations: string) =>
    applyJsonPatch(live(), readJsonPatch(JSON.parse(`[${operations}]`) as never, true))
  grows(json, {
    'members one by one': (n) => times(n, (at) => `{"op":"add","path":"/data/k${at}","value":"v"}`),
    'elements one by one': (n) => times(n, () => '{"op":"add","path":"/metadata/finalizers/0","value":"v"}'),
    'operations with unknown members': (n) => times(n, () => '{"op":"test","path":"/data","value":{},"x":1}'),
    'a long path': (n) => `{"op":"add","path":"${'/a'.repeat(n)}","value":"v"}`,
    tildes: (n) => `{"op":"add","path":"/data/${'~1'.repeat(n)}","value":"v"}`,
  })
  grows((text) => applyMergePatch(live(), JSON.parse(text) as never, true), {
    'members of a merge patch': (n) => `{"data":{${times(n, (at) => `"k${at}":"v"`)}}}`,
    nulls: (n) => `{"data":{${times(n, (at) => `"k${at}":null`)}}}`,
  })
  const pod = builtInType('io.k8s.api.core.v1.Pod')
  const strategic = (text: string) =>
    applyStrategicMergePatch(pod, structuredClone({ spec: { containers: [{ name: 'a' }] } }), JSON.parse(text) as never)
  // lists below some 800 elements are patched in one part, longer ones in several: the count jumps there once
  const shapes: Shapes = {
    'elements that are new': (n) => `{"spec":{"containers":[${times(n, (at) => `{"name":"c${at}"}`)}]}}`,
    'one element again and again': (n) => `{"spec":{"containers":[${times(n, () => '{"name":"a"}')}]}}`,
    'elements to delete': (n) => `{"spec":{"containers":[${times(n, (at) => `{"$patch":"delete","name":"c${at}"}`)}]}}`,
    'an order of elements': (n) =>
      `{"spec":{"$setElementOrder/containers":[${times(n, (at) => `{"name":"c${at}"}`)}],"containers":[${times(n, (at) => `{"name":"c${at}"}`)}]}}`,
    'texts to delete': (n) =>
      `{"metadata":{"$deleteFromPrimitiveList/finalizers":[${times(n, (at) => `"f${at}"`)}],"finalizers":[${times(n, (at) => `"g${at}"`)}]}}`,
  }
  grows(strategic, shapes, 800)
})

describe('patterns', () =>
  grows((text) => isTooLarge(text), {
    'braces that open nothing': (n) => '{'.repeat(n),
    'characters with braces behind them': (n) => 'a{'.repeat(n),
    'repetitions that do not end': (n) => '{1,'.repeat(n),
    'classes that do not end': (n) => '[a'.repeat(n),
    'groups that do not end': (n) => '('.repeat(n),
    escapes: (n) => '\\{'.repeat(n),
    repetitions: (n) => 'a{1,2}'.repeat(n),
  }))

describe('stored definitions', () => {
  const stored = (versions: string) => `{"metadata":{"name":"a"},"spec":{"versions":[${versions}]}}`
  grows((text) => cutDefinition(text), {
    versions: (n) => stored(times(n, (at) => `{"name":"v${at}","schema":{"openAPIV3Schema":{"type":"object"}}}`)),
    'versions with rules': (n) =>
      stored(times(n, () => '{"schema":{"x-kubernetes-validations":[{"rule":"true"}],"default":{}}}')),
    'rules of one version': (n) => stored(`{"schema":[${times(n, () => '{"x-kubernetes-validations":[{}]}')}]}`),
    'managed fields': (n) => `{"metadata":{"managedFields":[${times(n, () => '{"manager":"a"}')}]}}`,
  })
})

describe('managed fields', () => {
  grows((text) => FieldSet.fromFieldsV1(JSON.parse(text) as never).toFieldsV1(), {
    fields: (n) => `{${times(n, (at) => `"f:k${at}":{}`)}}`,
    'fields in a wrong order': (n) => `{${times(n, (at) => `"f:k${(at * 7919) % n}-${at}":{}`)}}`,
    'elements by key in a wrong order': (n) =>
      `{${times(n, (at) => `"k:{\\"a\\":\\"${(at * 7919) % n}-${at}\\"}":{}`)}}`,
    'fields within fields': (n) => '{"f:a":'.repeat(n) + '{}' + '}'.repeat(n),
  })
  const kind = { group: '', version: 'v1', kind: 'Pod' }
  const apply = (text: string) =>
    serverSideApply({
      type: builtInType('io.k8s.api.core.v1.Pod'),
      kind,
      live: undefined,
      config: JSON.parse(text) as never,
      manager: 'a',
      force: false,
      subresource: '',
      now: new Date(0),
      toObject: (merged) => merged as never,
    })
  const applied = (spec: string) => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{${spec}}}`
  grows(apply, {
    'an applied list of maps': (n) => applied(`"containers":[${times(n, (at) => `{"name":"c${at}"}`)}]`),
    'an applied map': (n) => applied(`"nodeSelector":{${times(n, (at) => `"k${at}":"v"`)}}`),
    'an applied list of two keys': (n) =>
      applied(
        `"containers":[{"name":"a","ports":[${times(n, (at) => `{"containerPort":${at + 1},"protocol":"TCP"}`)}]}]`,
      ),
    'one element again and again': (n) => applied(`"containers":[${times(n, () => '{"name":"a"}')}]`),
  })
})
