// Pages of other origins: which of them may read answers (--cors-allowed-origins).
import { describe, expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import { configurationProblem } from '../../src/authorization/configuration-problem.ts'
import { serve } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const EXACT = String.raw`^https://app\.example\.com$`
const LOCAL = '//localhost(:|$)'

const execution = { waitUntil: () => {} } as unknown as ExecutionContext

function pages(...patterns: string[]) {
  const setting = patterns.length === 0 ? {} : { KEDGE_CORS_ALLOWED_ORIGINS: patterns.join(',') }
  const { env } = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN, ...setting })
  return (path: string, headers: Record<string, string>, method = 'GET') =>
    serve(new Request(`https://server${path}`, { method, headers }), env, execution, platformClock)
}

const allowed = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-')))

describe('a page', () => {
  test.each([
    ['https://app.example.com', true],
    ['http://app.example.com', false],
    ['https://app.example.com.evil.org', false],
    ['https://app-example.com', false],
    ['http://localhost', true],
    ['http://localhost:3000', true],
    ['http://localhost.evil.org', false],
    ['null', false],
    ['', false],
    [`http://localhost:${'3'.repeat(2_000)}`, false],
  ])('of %j may read answers: %s', async (origin, may) => {
    const response = await pages(EXACT, LOCAL)('/version', { Origin: origin })
    expect(response.status).toBe(200)
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe(may ? origin : null)
  })

  test('is told what it may send, with every answer, refusals included', async () => {
    const response = await pages(EXACT)('/api/v1/secrets', { Origin: 'https://app.example.com' })
    expect(response.status).toBe(403)
    expect(allowed(response)).toEqual({
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers':
        'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
      'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-expose-headers': 'Date',
    })
  })
})

describe('OPTIONS', () => {
  const ask = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'PATCH' }

  test('of an allowed page is answered before anybody has to say who it is', async () => {
    const response = await pages(EXACT)('/api/v1/secrets', ask, 'OPTIONS')
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(allowed(response)).toMatchObject({ 'access-control-allow-origin': ask.Origin })
    expect(response.headers.get('Cache-Control')).toBe('no-cache, private')
    expect(response.headers.get('Audit-Id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.each([
    ['of another page', { ...ask, Origin: 'https://evil.org' }, [EXACT]],
    ['without a page', {}, [EXACT]],
    ['without the setting', ask, []],
  ])('%s is a request like any other', async (_what, headers, patterns) => {
    const response = await pages(...patterns)('/version', { ...headers, Authorization: `Bearer ${TOKEN}` }, 'OPTIONS')
    expect(response.status).toBe(405)
    expect(allowed(response)).toEqual({})
  })
})

test('a pattern that is no regular expression is refused', async () => {
  const { env } = memoryServer({ KEDGE_CORS_ALLOWED_ORIGINS: '//a(:' })
  expect(await configurationProblem(env)).toEqual({
    message: 'KEDGE_CORS_ALLOWED_ORIGINS cannot be used',
    details: 'KEDGE_CORS_ALLOWED_ORIGINS: error parsing regexp: missing closing ): `//a(:`',
  })
})
