import { describe, expect, it } from 'vitest'
import { inconsistentContinueToken, nextContinueToken, parseContinueToken } from '../../src/storage/continue-token.ts'
import type { ListResult } from '../../src/storage/storage.ts'

const page: ListResult = { revision: 42, continueAfter: 'team/web', isEmpty: false, values: new ReadableStream() }
const encoded = (json: string) => Buffer.from(json).toString('base64url')
const decoded = (token: string) => Buffer.from(token, 'base64url').toString()

describe('continue tokens', () => {
  it('are what kube-apiserver writes, relative to the namespace listed', () => {
    expect(decoded(nextContinueToken(page)!)).toBe('{"v":"meta.k8s.io/v1","rv":42,"start":"team/web\\u0000"}')
    expect(decoded(nextContinueToken(page, 'team')!)).toBe('{"v":"meta.k8s.io/v1","rv":42,"start":"web\\u0000"}')
    expect(nextContinueToken({ ...page, continueAfter: undefined })).toBeUndefined()
  })

  it('go on in whatever namespace they are used', () => {
    const token = nextContinueToken(page, 'team')!
    expect(parseContinueToken(token, 'team')).toEqual({ revision: 42, start: 'team/web\0' })
    expect(parseContinueToken(token, 'other')).toEqual({ revision: 42, start: 'other/web\0' })
    expect(parseContinueToken(encoded('{"v":"meta.k8s.io/v1","rv":7,"start":"/web\\u0000"}'), 'team').start).toBe(
      'team/web\0',
    )
  })

  it('of an expired list name no revision', () => {
    const token = inconsistentContinueToken({ revision: 42, start: 'team/web\0' }, 'team')
    expect(decoded(token)).toBe('{"v":"meta.k8s.io/v1","rv":-1,"start":"web\\u0000"}')
    expect(parseContinueToken(token, 'team')).toEqual({ revision: 'latest', start: 'team/web\0' })
  })

  it.each([
    ['!!!', 'illegal base64 data at input byte 0'],
    ['ab=', 'illegal base64 data at input byte 2'],
    ['abcde', 'illegal base64 data at input byte 4'],
    ['abc', "invalid character 'i' looking for beginning of value"],
    [encoded('{"v":'), 'unexpected end of JSON input'],
    [encoded('{}'), 'server does not recognize this encoded version '],
    [encoded('{"v":"v2"}'), 'server does not recognize this encoded version v2'],
    [encoded('{"v":1}'), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [encoded('{"v":"meta.k8s.io/v1","start":"a"}'), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [encoded('{"v":"meta.k8s.io/v1","rv":1}'), 'encoded start key empty (version meta.k8s.io/v1)'],
    [encoded('{"v":"meta.k8s.io/v1","rv":1,"start":"../secrets/a"}'), '../secrets/a'],
  ])('%j is refused', (token, why) => {
    expect(() => parseContinueToken(token)).toThrow(
      expect.objectContaining({ code: 400, message: `invalid continue token: continue key is not valid: ${why}` }),
    )
  })
})
