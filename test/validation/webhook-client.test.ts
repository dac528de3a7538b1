import { describe, expect, test } from 'vitest'
import { path } from '../../src/api/field.ts'
import { webhookClientErrors } from '../../src/validation/webhook-client.ts'

const at = path('clientConfig')
const textsOf = (client: Parameters<typeof webhookClientErrors>[0]) =>
  webhookClientErrors(client, at).map(({ field, message }) => `${field}: ${message}`)

describe('where webhooks are called', () => {
  test.each([
    ['https://example.com/hook', []],
    ['https://example.com:8443', []],
    ['http://example.com', [/'https' is the only allowed URL scheme/]],
    ['https:///hook', [/host must be specified/]],
    ['https://u:p@example.com', [/"u:p": user information is not permitted/]],
    ['https://example.com?a=b#c', [/"c": fragments are not permitted/, /"a=b": query parameters are not permitted/]],
    [' https://example.com', [/first path segment in URL cannot contain colon/]],
    ['https://example.com:port', [/invalid port ":port" after host/]],
    [':', [/missing protocol scheme/]],
  ])('%j', (url, expected) => {
    const texts = textsOf({ url })
    expect(texts).toHaveLength(expected.length)
    expected.forEach((pattern, index) => expect(texts[index]).toMatch(pattern))
  })

  test('one of URL and Service', () => {
    expect(textsOf({})).toEqual(['clientConfig: Required value: exactly one of url or service is required'])
    expect(textsOf({ url: 'https://a', service: { name: 'n', namespace: 's' } })).toHaveLength(1)
  })

  test('errors of name and namespace are reported at each other’s path', () => {
    expect(textsOf({ service: { name: 'n' } })).toEqual(['clientConfig.service.name: Required value'])
  })

  test.each([
    ['/', 0],
    ['/a/b/', 0],
    ['//', 1],
    ['a', 2],
    ['/a//b', 1],
    ['/A', 1],
  ])('path %j has %d faults', (servicePath, faults) => {
    expect(textsOf({ service: { name: 'n', namespace: 's', path: servicePath } })).toHaveLength(faults)
  })
})
