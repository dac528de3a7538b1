// kube-apiserver 1.36.3 rewrote the locations of a pod at 10.0.0.1:8080 like this, but for a prefix that is a part of a
// name, and for dots that lead out of the proxy.
import { expect, test } from 'vitest'
import { ownLocation } from '../../../src/endpoints/pods/own-location.ts'

const prefix = '/api/v1/namespaces/a/pods/p/proxy'
const rewritten = (location: string) => ownLocation(location, { prefix, server: '10.0.0.1:8080', own: 'api:6443' })

test.each([
  ['/z', `${prefix}/z`],
  ['/z/', `${prefix}/z/`],
  ['/z?a=/b#c', `${prefix}/z?a=/b#c`],
  ['/a b', `${prefix}/a%20b`],
  ['/é', `${prefix}/%C3%A9`],
  ['http://10.0.0.1:8080/z', `${prefix}/z`],
  ['https://10.0.0.1:8080/z', `${prefix}/z`],
  ['//10.0.0.1:8080/z', `${prefix}/z`],
  ['http:///z', `${prefix}/z`],
  ['///evil.example.com', `${prefix}/evil.example.com`],
  ['/\\evil.example.com', `${prefix}/%5Cevil.example.com`],
])('%s is a path of the server: %s', (location, expected) => expect(rewritten(location)).toBe(expected))

test.each(['https:', 'http:', ''])('%s//OWN HOST stays, with a path below the proxy', (scheme) =>
  expect(rewritten(`${scheme}//api:6443/z`)).toBe(`${scheme}//api:6443${prefix}/z`),
)

test.each([`${prefix}/z`, prefix, `https://api:6443${prefix}/z?q`])('%s is below the proxy already', (location) =>
  expect(rewritten(location)).toBe(location),
)

test('a path that only begins like the proxy is not below it', () =>
  expect(rewritten(`${prefix}2/z`)).toBe(`${prefix}${prefix}2/z`))

test('dots do not lead out of the proxy', () => expect(rewritten('/../../../../../secrets')).toBe(`${prefix}/secrets`))

test.each(['rel', '../up', '?q=1', '#f', '', 'https://other.example.com/z', '//other.example.com/z', 'mailto:x'])(
  '%s stays as it is',
  (location) => expect(rewritten(location)).toBe(location),
)

test('http://[::1 is no URL', () => expect(rewritten('http://[::1')).toBeUndefined())
