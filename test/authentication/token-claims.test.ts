import { describe, expect, test } from 'vitest'
import { compactForm, readClaims, readHeader } from '../../src/authentication/token-claims.ts'
import { prototypeNames } from '../prototype-names.ts'

describe('the compact form', () => {
  test.each<[string, string | undefined]>([
    ['aGVhZA.cGF5bA.c2ln', 'aGVhZA.cGF5bA.c2ln'],
    ['aGVhZA.cGF5bA.c2ln\n', 'aGVhZA.cGF5bA.c2ln'],
    ['aGVh\nZA.cGF5\r\nbA.c2 ln', 'aGVhZA.cGF5bA.c2ln'],
    ['aGVhZA.cGF5 bA.c2ln', undefined],
    ['aGVhZA.cGF5bA.c2ln==', undefined],
    ['aGVhZA.cGF5bA.c2ln=', undefined],
    ['aGVhZA==.cGF5bA.c2ln', undefined],
    ['aGVhZA.cGF5bA==.c2ln', undefined],
    ['aGVhZA.cGF5bA.c2+n', undefined],
    ['aGVhZA.cGF5bA.c2/n', undefined],
    ['aGVhZA.cGF5bA.c2lnc', undefined],
    ['aGVhZA.cGF5bA', undefined],
    ['aGVhZA.cGF5bA.c2ln.', undefined],
    ['{"payload":"a.b.c"}', undefined],
    ['..', '..'],
  ])('%j', (token, compact) => expect(compactForm(token)).toBe(compact))
})

describe('the header', () => {
  const header = (json: string) => readHeader(`${Buffer.from(json).toString('base64url')}.e30.`)
  test.each<[string, string | undefined]>([
    ['{"alg":"RS256","kid":"k"}', 'k'],
    ['{"alg":"RS256"}', ''],
    [' {"kid":"k"}\n', 'k'],
    ['{"alg":"none","alg":"RS256","kid":"k"}', undefined],
    ['{"kid":"k","kid":"k"}', undefined],
    ['{"kid":"a","\\u006bid":"b"}', undefined],
    ['{"kid":1}', undefined],
    ['\ufeff{"kid":"k"}', undefined],
    ['{"kid":"k"}x', undefined],
    ['[]', undefined],
    ['', undefined],
    ['x', undefined],
    ['{"kid":"k","b64":true,"nonce":"n","typ":1,"jwk":{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}}', 'k'],
    ['{"kid":"k","b64":false}', undefined],
    ['{"kid":"k","nonce":1}', undefined],
    ['{"kid":"k","x5c":["AAAA"]}', undefined],
    ['{"kid":"k","x5c":1}', undefined],
    ['{"kid":"k","jwk":{"kty":"RSA"}}', undefined],
    ['{"kid":"k","jwk":{"kty":"RSA","n":"AA","e":"AQAB","d":"AA"}}', undefined],
  ])('%j', (json, keyId) => expect(header(json)?.keyId).toBe(keyId))
})

const read = (json: string, isLegacy = false) => readClaims(new TextEncoder().encode(json), isLegacy)
const NO_TIME = 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'
const NO_AUDIENCE = 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'
const notText = (kind: string) => `json: cannot unmarshal ${kind} into Go value of type string`

describe('claims of the wrong type refuse the token', () => {
  test.each<[string, string]>([
    ...['exp', 'nbf', 'iat'].flatMap((name): [string, string][] =>
      ['"9999999999"', '"soon"', '""', 'true', '{}', '[]'].map((value) => [`{"${name}":${value}}`, NO_TIME]),
    ),
    ['{"kubernetes.io":{"warnafter":"later"}}', NO_TIME],
    ['{"exp":1e400}', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
    [`{"deep":${'['.repeat(20_000)}`, 'exceeded max depth'],
    ['{"aud":1}', NO_AUDIENCE],
    ['{"aud":null}', NO_AUDIENCE],
    ['{"aud":{"a":"b"}}', NO_AUDIENCE],
    ['{"aud":["a",1]}', NO_AUDIENCE],
    ['{"sub":1}', notText('number')],
    ['{"sub":["system:admin"]}', notText('array')],
    ['{"jti":{}}', notText('object')],
    ['{"kubernetes.io":"a"}', 'json: cannot unmarshal string into Go value of type serviceaccount.kubernetes'],
    ['{"kubernetes.io":{"pod":true}}', 'json: cannot unmarshal bool into Go value of type serviceaccount.ref'],
    ['{"kubernetes.io":{"namespace":["a"]}}', notText('array')],
    ['{"kubernetes.io":{"serviceaccount":{"uid":1}}}', notText('number')],
    ['\ufeff{}', 'invalid character'],
    ['{"exp":1,"exp":9999999999}', "json: duplicate key 'exp' in object"],
    ['{"kubernetes.io":{"namespace":"a","namespace":"b"}}', "json: duplicate key 'namespace' in object"],
  ])('%s', (json, message) => expect(() => read(json)).toThrow(message))

  test('of a Secret', () => {
    expect(() => read('{"kubernetes.io/serviceaccount/namespace":1}', true)).toThrow(notText('number'))
  })
})

test('claims that are absent or null', () => {
  for (const json of ['{}', '{"exp":null,"nbf":null,"iat":null,"sub":null,"kubernetes.io":null}'])
    expect(read(json)).toMatchObject({
      aud: [],
      sub: '',
      exp: undefined,
      kubernetes: { namespace: '', serviceaccount: { name: '', uid: '' } },
    })
})

test('times are whole seconds', () => {
  expect(read('{"exp":1.9,"nbf":1e3,"iat":-2.5}')).toMatchObject({ exp: 1, nbf: 1000, iat: -2 })
})

test.each(prototypeNames)('a claim named %s counts for nothing', (name) => {
  const claims = (more: string) => read(`{"sub":"a","aud":["b"],"kubernetes.io":{"namespace":"c"${more}}${more}}`)
  const { legacy: _, ...plain } = claims('')
  const { legacy: __, ...others } = claims(`,${JSON.stringify(name)}:{"exp":1}`)
  expect(others).toEqual(plain)
})
