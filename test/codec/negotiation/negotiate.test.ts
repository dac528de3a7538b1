import { describe, expect, test } from 'vitest'
import { StatusError } from '../../../src/api/status.ts'
import {
  negotiateError,
  negotiateInput,
  negotiateOutput,
  negotiatePatchType,
  parseIncludeObject,
} from '../../../src/codec/negotiation/negotiate.ts'
import type { OutputEndpoint } from '../../../src/codec/negotiation/negotiate.ts'
import { fakeRequest, METADATA, TABLE } from '../fake-scope.ts'
import { builtInForms } from '../../../src/codec/built-in-forms.ts'
import { builtInResource } from '../../../src/registry/built-in-resource.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { customForms } from '../../../src/codec/custom-forms.ts'

const messageOf = (work: () => unknown): string => {
  try {
    return JSON.stringify(work())
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`
    throw error
  }
}

const PLAIN = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const LIST = `${PLAIN}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`
const unavailable = (list: string) => `406 406: Not Acceptable\n\nAvailable representations: ${list}`
const only = (list = PLAIN) => `406 only the following media types are accepted: ${list}`

const output = (accept: string | undefined, endpoint: OutputEndpoint, line = 'GET /api/v1/pods', gates = ''): string =>
  messageOf(() => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept }
    const { serialization, pretty, transform } = negotiateOutput(fakeRequest(line, headers, gates), endpoint)
    return `${serialization}${pretty ? ' pretty' : ''}${transform === undefined ? '' : ` ${transform.kind} ${transform.version}`}`
  })

const object: OutputEndpoint = { kind: 'object', forms: builtInForms }
const list: OutputEndpoint = { kind: 'list', forms: builtInForms }
const watch: OutputEndpoint = { kind: 'watch', forms: builtInForms }
const custom: OutputEndpoint = { kind: 'object', forms: customForms }

describe('the form of the answer', () => {
  test.each<[accept: string | undefined, endpoint: OutputEndpoint, answer: string]>([
    [undefined, object, '"json"'],
    ['', object, '"json"'],
    ['*/*', object, '"json"'],
    ['application/yaml;q=0.9,application/json;q=0.5', object, '"yaml"'],
    ['application/vnd.kubernetes.protobuf,application/json', object, '"protobuf"'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', object, '"json"'],
    ['application/*', object, unavailable(PLAIN)],
    ['text/plain', object, unavailable(PLAIN)],
    ['text/plain', list, unavailable(LIST)],
    ['APPLICATION/JSON', list, unavailable(LIST)],
    ['application/cbor', object, unavailable(PLAIN)],
    ['application/json;pretty=1', object, '"json pretty"'],
    ['application/json;sv=v1', object, '"json"'],
    ['application/json;sv=v2', object, only()],
    ['application/json;stream=watch', list, '"json"'],
    ['application/json;stream=other', list, only()],
    [TABLE, list, '"json Table v1"'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', list, '"json Table v1beta1"'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io', list, only()],
    ['application/json;as=Table;v=v1', list, only()],
    ['application/json;as=table;v=v1;g=meta.k8s.io', list, only()],
    ['application/json;v=v1;g=meta.k8s.io', list, only()],
    [TABLE.replace('json', 'yaml'), list, '"yaml Table v1"'],
    [TABLE.replace('json', 'vnd.kubernetes.protobuf'), list, only()],
    [METADATA.replace('json', 'vnd.kubernetes.protobuf'), list, '"protobuf PartialObjectMetadata v1"'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', list, '"json"'],
    ['application/yaml', watch, '"yaml"'],
    ['application/vnd.kubernetes.protobuf', custom, only()],
    ['application/vnd.kubernetes.protobuf,application/json', custom, '"json"'],
    [METADATA.replace('json', 'vnd.kubernetes.protobuf'), custom, '"protobuf PartialObjectMetadata v1"'],
    ['text/plain', custom, only()],
    ['application/*', custom, '"json"'],
  ])('%s at %o', (accept, endpoint, answer) => expect(output(accept, endpoint)).toBe(answer))

  test('a deletion of a collection lists but does not watch', () =>
    expect(output('text/plain', list, 'DELETE /api/v1/namespaces/a/pods')).toBe(unavailable(PLAIN)))

  test('kinds without a table', () => {
    const of = (group: string, resource: string, subresource: string): OutputEndpoint => {
      const { forms } = builtInResource(builtInResources().find(group, 'v1', resource)!, subresource)
      return { kind: 'object', forms }
    }
    expect(output(TABLE, of('authentication.k8s.io', 'tokenreviews', ''))).toBe(only())
    expect(output(TABLE, of('', 'pods', 'resize'))).toBe(only())
    expect(output(TABLE, of('', 'pods', 'status'))).toBe('"json Table v1"')
  })

  test('CBOR behind its gate', () => {
    const gate = 'CBORServingAndStorage=true'
    expect(output('application/cbor', object, 'GET /api/v1/pods', gate)).toBe('"cbor"')
    expect(output('text/plain', object, 'GET /api/v1/pods', gate)).toBe(unavailable(`${PLAIN}, application/cbor`))
  })
})

describe('pretty', () => {
  test.each<[query: string, agent: string, pretty: boolean]>([
    ['', 'kubectl/v1.36', false],
    ['', 'curl/8', true],
    ['', 'curlish', true],
    ['', 'Curl/8', false],
    ['', 'Wget/1', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['', 'Mozilla/4.0', false],
    ['?pretty=1', 'x', true],
    ['?pretty=TRUE', 'x', true],
    ['?pretty=yes', 'x', false],
    ['?pretty=0', 'curl/8', false],
    ['?pretty=', 'curl/8', true],
    ['?pretty=0&pretty=1', 'x', false],
  ])('%s %s', (query, agent, pretty) => {
    const request = fakeRequest(`GET /api/v1/pods${query}`, { 'User-Agent': agent })
    expect(negotiateOutput(request, list).pretty).toBe(pretty)
  })
})

test('errors have no transform: a client that accepts only tables gets indented JSON', () => {
  const form = (accept: string) => negotiateError(fakeRequest('GET /api/v1/pods', { Accept: accept }), 'handler')
  expect(form(TABLE)).toBeUndefined()
  expect(form('text/plain')).toBeUndefined()
  expect(form(`${TABLE},application/json`)?.serialization).toBe('json')
  expect(form('application/yaml')?.serialization).toBe('yaml')
})

test('includeObject', () => {
  expect(['', 'None', 'Metadata', 'Object'].map(parseIncludeObject)).toEqual(['Metadata', 'None', 'Metadata', 'Object'])
  expect(messageOf(() => parseIncludeObject('none'))).toBe(
    `400 Unable to convert to Table as requested: includeObject: Invalid value: "none": must be 'Metadata', 'Object', 'None', or empty`,
  )
})

const UNKNOWN_FORMAT = '415 the body of the request was in an unknown format - accepted media types include: '

test.each<[type: string | undefined, answer: string]>([
  [undefined, '"json"'],
  ['application/json; charset=utf-8', '"json"'],
  ['APPLICATION/JSON', '"json"'],
  ['application/yaml', '"yaml"'],
  ['application/vnd.kubernetes.protobuf', '"protobuf"'],
  ['application/cbor', UNKNOWN_FORMAT + PLAIN],
  ['text/plain', UNKNOWN_FORMAT + PLAIN],
  ['application/json, application/yaml', UNKNOWN_FORMAT + PLAIN],
])('a body of type %s', (type, answer) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type }
  expect(messageOf(() => negotiateInput(fakeRequest('POST /api/v1/pods', headers)))).toBe(answer)
})

const CUSTOM_PATCHES = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'

test.each<[type: string, custom: boolean, answer: string]>([
  ['application/merge-patch+json', false, '"application/merge-patch+json"'],
  ['application/merge-patch+json; charset=utf-8', false, '"application/merge-patch+json"'],
  ['application/strategic-merge-patch+json', false, '"application/strategic-merge-patch+json"'],
  ['application/strategic-merge-patch+json', true, UNKNOWN_FORMAT + CUSTOM_PATCHES],
  ['application/json', false, '415 415: Unsupported Media Type'],
  ['application/json', true, UNKNOWN_FORMAT + CUSTOM_PATCHES],
  ['', false, '415 415: Unsupported Media Type'],
])('a patch of type %s, custom: %s', (type, custom, answer) => {
  const request = fakeRequest('PATCH /api/v1/pods', type === '' ? {} : { 'Content-Type': type })
  expect(messageOf(() => negotiatePatchType(request, custom ? customForms : builtInForms))).toBe(answer)
})
