/** `kedge login` with an OpenID Connect provider, and a fake browser that follows redirects. */
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { get as getHttp } from 'node:http'
import { get as getHttps } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { LoginOptions } from '../../../src/cli/commands/login.ts'
import { login } from '../../../src/cli/commands/login.ts'
import { startProvider } from '../provider.ts'

let provider: Awaited<ReturnType<typeof startProvider>>
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())
let cache: string
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'kedge-login-'))
  provider.grants.length = 0
  Object.assign(provider.spoil, { claims: {}, lives: 300 })
})

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    getHttp(url.replace('localhost', '127.0.0.1'), (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    }).once('error', reject)
  })

/** Opens the URL and follows its redirects. */
const browser = (url: string): void => {
  getHttps(url, { ca: provider.authority }, ({ headers }) => void statusOf(headers.location ?? '').catch(() => {}))
}

const options = (more: Partial<LoginOptions> = {}): LoginOptions => ({
  issuer: provider.url,
  client: 'kubectl',
  secret: undefined,
  authority: provider.authority,
  scopes: ['openid', 'offline_access'],
  port: 0,
  cache,
  open: browser,
  say: () => {},
  now: Date.now,
  ...more,
})

test('the first time by the browser, then by what was kept, then by the refresh token', async () => {
  const first = await login(options())
  expect(first).toMatchObject({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' })
  expect(first.status.expirationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  expect(await login(options())).toEqual(first)
  expect(provider.grants).toEqual(['authorization_code'])
  await login(options({ now: () => Date.now() + 250_000 }))
  expect(provider.grants).toEqual(['authorization_code', 'refresh_token'])
})

test('the kept token is readable by its owner only', async () => {
  await login(options())
  const [file = ''] = readdirSync(cache)
  expect(statSync(join(cache, file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(join(cache, file), 'utf8'))).toHaveProperty('refresh_token')
})

test('a refresh token that is not taken any more: by the browser again', async () => {
  provider.spoil.lives = 30
  await login(options())
  const [file = ''] = readdirSync(cache)
  const kept = JSON.parse(readFileSync(join(cache, file), 'utf8'))
  await login(options())
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(cache, file), JSON.stringify(kept)) // a refresh token that was used before
  await login(options())
  expect(provider.grants).toEqual(['authorization_code', 'refresh_token', 'refresh_token', 'authorization_code'])
})

test('a provider that cannot answer now is no reason for the browser', async () => {
  provider.spoil.lives = 30
  await login(options())
  provider.spoil.refuses = 503
  await expect(login(options())).rejects.toThrow('/token answered 503')
  delete provider.spoil.refuses
  await login(options())
  expect(provider.grants).toEqual(['authorization_code', 'refresh_token', 'refresh_token'])
})

describe('refused', () => {
  test('a token of another login', async () => {
    provider.spoil.claims = { nonce: 'other' }
    await expect(login(options())).rejects.toThrow('The token is none that this login asked for.')
  })

  test('an issuer that calls itself otherwise', async () => {
    await expect(login(options({ issuer: `${provider.url}/x` }))).rejects.toThrow('says that it is')
  })

  test('requests that are not this login change nothing', async () => {
    const open = (url: string): void => {
      const redirect = new URL(url).searchParams.get('redirect_uri') ?? ''
      void Promise.all([
        statusOf(`${redirect}/?code=x&state=y`),
        statusOf(`${redirect}/favicon.ico`),
        statusOf(`${redirect}/?error=access_denied`),
      ]).then((statuses) => {
        expect(statuses).toEqual([400, 400, 400])
        browser(url)
      })
    }
    expect(await login(options({ open }))).toHaveProperty('status')
  })
})
