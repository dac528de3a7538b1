/** An OpenID Connect provider (the certified package oidc-provider) over TLS with rotating keys, and a login client. */
import { generateKeyPairSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { get as getHttp } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'

export interface SigningKey {
  readonly kid: string
}

export function signingKey(kid: string): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
  return key
}

/** @param keys the first key signs */
export async function startOpenIdProvider(...keys: readonly SigningKey[]) {
  const authority = await createAuthority({ commonName: 'provider' }, new Date(), 30)
  const leaf = { subject: { commonName: 'provider' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { key, certificate } = await issue(authority, leaf, new Date())
  const grants: string[] = []
  /** The requested paths in order. */
  const asked: string[] = []
  /** The lifetime of the next ID tokens in seconds. */
  const lives = { seconds: 300 }
  let serve: ReturnType<Provider['callback']>
  const server = createServer({ key, cert: certificate }, (message, response) => {
    asked.push(new URL(message.url ?? '', 'https://provider').pathname)
    void serve(message, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP

  /** Replaces the keys. Sessions, codes and refresh tokens stay: providers of one process share them. */
  const publish = (...keys: readonly SigningKey[]): void => {
    const provider = new Provider(url, {
      jwks: { keys },
      clients: [
        {
          client_id: 'kubectl',
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          redirect_uris: ['http://localhost'],
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'offline_access', 'email', 'groups'],
      conformIdTokenClaims: false,
      cookies: { keys: ['of a test'] },
      ttl: {
        IdToken: () => lives.seconds,
        ...Object.fromEntries(
          ['AccessToken', 'Grant', 'Interaction', 'RefreshToken', 'Session'].map((of) => [of, 600]),
        ),
      },
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => ({
          sub: accountId,
          email: `${accountId}@example.com`,
          email_verified: true,
          groups: ['dev', 'ops'],
        }),
      }),
    })
    provider.on('grant.success', ({ oidc }) => grants.push(oidc.params.grant_type))
    serve = provider.callback()
  }
  publish(...keys)
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url, authority: authority.certificate, grants, asked, lives, publish, close }
}

/** Logs in and consents on the provider's pages, until the provider redirects to the waiting program. */
export async function browse(address: string, authority: string, login: string): Promise<void> {
  const cookies = new Map<string, string>()
  let [url, form] = [await leadingOn(new URL(address)), undefined as URLSearchParams | undefined]
  for (let page = 0; page < 12; page++) {
    if (url.hostname === 'localhost') return back(url.port + url.pathname + url.search)
    const { message, text } = await load(url, authority, cookies, form)
    const { location } = message.headers
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? []
    const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(text) ?? []
    form = location === undefined ? new URLSearchParams({ prompt, login, password: 'any' }) : undefined
    const next = location ?? action
    if (next === undefined) throw new Error(`${url.href} leads nowhere: ${message.statusCode} ${text.slice(0, 500)}`)
    url = new URL(next, url)
  }
  throw new Error(`${address} leads round in circles`)
}

/** Follows the address that a program prints: it may be the program's own and redirect to the provider. */
const leadingOn = (url: URL): Promise<URL> =>
  url.protocol === 'https:'
    ? Promise.resolve(url)
    : new Promise((resolve, reject) => {
        getHttp(`http://127.0.0.1:${url.port}${url.pathname}`, ({ headers: { location } }) =>
          location === undefined ? reject(new Error(`${url.href} leads nowhere`)) : resolve(new URL(location)),
        ).once('error', reject)
      })

/** Sends the code to the program that waits for it. */
const back = (place: string): Promise<void> =>
  new Promise((resolve, reject) => {
    getHttp(`http://127.0.0.1:${place}`, (response) => response.resume().once('end', resolve)).once('error', reject)
  })

const load = (url: URL, ca: string, cookies: Map<string, string>, form: URLSearchParams | undefined) =>
  new Promise<{ message: IncomingMessage; text: string }>((resolve, reject) => {
    const headers = {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
    }
    const sent = request(url.href, { method: form ? 'POST' : 'GET', ca, headers }, (message) => {
      for (const line of message.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      let text = ''
      message.setEncoding('utf8').on('data', (part: string) => (text += part))
      message.once('end', () => resolve({ message, text }))
    })
    sent.once('error', reject).end(form?.toString())
  })
