/** URIs for which kube-apiserver 1.36.3 takes or refuses a certificate signing request, with its texts. */
import { expect, test } from 'vitest'
import { uriProblem } from '../../src/x509/uri-names.ts'

const problemOf = (...uris: string[]) => uriProblem({ dnsNames: [], emails: [], addresses: [], uris })

test.each([
  ['http://a b', 'parse "http://a b": invalid character " " in host name'],
  ['%zz://', 'parse "%zz://": first path segment in URL cannot contain colon'],
  ['http://a.b./', 'invalid domain'],
  ['http://.a/', 'invalid domain'],
  ['http://a..b', 'invalid domain'],
  ['http://%ff', 'invalid domain'],
  ['http://a:b', 'parse "http://a:b": invalid port ":b" after host'],
  [':a', 'parse ":a": missing protocol scheme'],
  ['http://[::1', 'parse "http://[::1": missing \']\' in host'],
  ['http://%41', 'parse "http://%41": invalid URL escape "%41"'],
  ['http://a/%zz', 'parse "http://a/%zz": invalid URL escape "%zz"'],
  ['http://u p@h/', 'parse "http://u p@h/": net/url: invalid userinfo'],
  ['http://a/#%zz', 'parse "http://a/#%zz": invalid URL escape "%zz"'],
  ['http://[fe80::1%en0]/', 'parse "http://[fe80::1%en0]/": invalid URL escape "%en"'],
])('%s is refused', (uri, why) => {
  expect(problemOf('urn:a:b', uri)).toBe(`x509: cannot parse URI "${uri}": ${why}`)
})

test.each([
  'spiffe://cluster.local/ns/a/sa/b',
  'http://a_b:80/x',
  'mailto:x@y',
  'x',
  '',
  '//a/b',
  'http://[::1]/',
  'http://u:p@h/',
  'http://h/a b',
  'http:///x',
  'http://a?%zz',
  'http://a"b',
  'HTTP://A.B',
  'http://a,b',
  '*',
  'http://[fe80::1%25en0]/',
])('%s is taken', (uri) => {
  expect(problemOf(uri)).toBeUndefined()
})
