// `kedge login`: an exec plugin of kubectl for an OpenID Connect provider. The browser brings the authorization code
// (RFC 8252, with PKCE of RFC 7636) to a port of this machine. The refresh token is kept for the next login.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { checked, checkedOrNot } from '../checked.ts'
import { makeDirectory } from '../data-directory/make-directory.ts'
import { replaceFile } from '../data-directory/replace-file.ts'

export interface LoginOptions {
  readonly issuer: string
  readonly client: string
  readonly secret: string | undefined
  /** PEM of the provider's authorities; undefined: Node's own. */
  readonly authority: string | undefined
  readonly scopes: readonly string[]
  readonly port: number
  /** Directory of refresh tokens. */
  readonly cache: string
  /** Opens an address in the browser; undefined: the address is only printed. */
  readonly open: ((url: string) => void) | undefined
  readonly say: (text: string) => void
  readonly now: () => number
}

export interface ExecCredential {
  readonly apiVersion: 'client.authentication.k8s.io/v1'
  readonly kind: 'ExecCredential'
  readonly status: { readonly token: string; readonly expirationTimestamp: string }
}

const provider = z.object({ issuer: z.string(), authorization_endpoint: z.string(), token_endpoint: z.string() })
const grant = z.object({ id_token: z.string(), refresh_token: z.optional(z.string()) })
const kept = z.object({ id_token: z.string(), refresh_token: z.optional(z.string()) })
const claims = z.object({ exp: z.number(), nonce: z.optional(z.string()) })

/** Milliseconds. A token that ends earlier is not used. */
const SOON = 60_000
/** Milliseconds to wait for the person, and for an answer of the provider. */
const PATIENCE = 300_000
const TIMEOUT = 30_000
const MAX_ANSWER = 1024 * 1024

export async function login(options: LoginOptions): Promise<ExecCredential> {
  const file = join(
    options.cache,
    `${hash(`${options.issuer} ${options.client} ${options.scopes.join(' ')}`, 'hex')}.json`,
  )
  const known = readKept(file)
  if (known !== undefined && endOf(known.id_token) > options.now() + SOON) return credential(known.id_token)
  const found = checked(provider, await call(options, wellKnown(options.issuer)), 'the provider')
  if (found.issuer !== options.issuer)
    throw new Error(`The provider at ${options.issuer} says that it is ${found.issuer}.`)
  const refreshed = known?.refresh_token && (await refresh(options, found.token_endpoint, known.refresh_token))
  const granted = refreshed || (await byBrowser(options, found))
  keep(options.cache, file, { ...granted, refresh_token: granted.refresh_token ?? known?.refresh_token })
  return credential(granted.id_token)
}

const wellKnown = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** An answer other than 200. */
class Refused extends Error {
  readonly status: number | undefined

  constructor(url: string, status: number | undefined, text: string) {
    super(`${url} answered ${status}: ${text.slice(0, 200)}`)
    this.status = status
  }
}

type Grant = z.infer<typeof grant>

/** Undefined where the provider no longer accepts the token. */
async function refresh(options: LoginOptions, endpoint: string, token: string): Promise<Grant | undefined> {
  const form = { grant_type: 'refresh_token', refresh_token: token, client_id: options.client }
  const answer = await call(options, endpoint, form).catch((error: unknown) => {
    // RFC 6749, 5.2; a provider that does not answer now may still accept the token later
    if (error instanceof Refused && (error.status === 400 || error.status === 401)) return undefined
    throw error
  })
  return checkedOrNot(grant, answer)
}

async function byBrowser(options: LoginOptions, found: z.infer<typeof provider>): Promise<Grant> {
  const [verifier, state, nonce] = [secret(), secret(), secret()]
  const { code, redirect } = await codeFromBrowser(options, state, (redirect) => {
    const url = new URL(found.authorization_endpoint)
    const asked = {
      response_type: 'code',
      client_id: options.client,
      redirect_uri: redirect,
      scope: options.scopes.join(' '),
      state,
      nonce,
      code_challenge: hash(verifier, 'base64url'),
      code_challenge_method: 'S256',
      // some providers give a refresh token only with it
      prompt: 'consent',
    }
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
    return url.href
  })
  const answer = await call(options, found.token_endpoint, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect,
    client_id: options.client,
    code_verifier: verifier,
  })
  const granted = checked(grant, answer, 'the answer of the provider')
  if (claimsOf(granted.id_token).nonce !== nonce) throw new Error('The token is none that this login asked for.')
  return granted
}

/** Waits for the browser to come back with the code. */
async function codeFromBrowser(
  { port, open, say }: LoginOptions,
  state: string,
  addressFor: (redirect: string) => string,
): Promise<{ code: string; redirect: string }> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const redirect = `http://localhost:${(server.address() as AddressInfo).port}` // of a server that listens on TCP
  const timer = setTimeout(() => server.emit('error', new Error('Nobody logged in within five minutes.')), PATIENCE)
  try {
    const code = await new Promise<string>((resolve, reject) => {
      server.once('error', reject)
      server.on('request', ({ url = '' }, response) => {
        const { searchParams, pathname } = new URL(url, redirect)
        const isOurs = pathname === '/' && searchParams.get('state') === state
        const [code, error] = [searchParams.get('code'), searchParams.get('error')]
        response.setHeader('Connection', 'close')
        // requests of other clients change nothing
        if (!isOurs || (code === null && error === null)) return void response.writeHead(400).end('not this login')
        response.end(code === null ? 'The login failed.' : 'You are logged in. This window can be closed.')
        if (code === null) reject(new Error(`The provider refused: ${searchParams.get('error_description') ?? error}`))
        else resolve(code)
      })
      const address = addressFor(redirect)
      say(`Log in at ${address}`)
      open?.(address)
    })
    return { code, redirect }
  } finally {
    clearTimeout(timer)
    server.close()
  }
}

/**
 * Posts a form; without a form it GETs the address.
 * @throws Error with the provider's text
 */
function call(
  { authority, client, secret: password }: LoginOptions,
  url: string,
  form?: Readonly<Record<string, string>>,
): Promise<unknown> {
  const body = form && new URLSearchParams(form).toString()
  const basic =
    password && Buffer.from(`${encodeURIComponent(client)}:${encodeURIComponent(password)}`).toString('base64')
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          Accept: 'application/json',
          ...(body !== undefined && { 'Content-Type': 'application/x-www-form-urlencoded' }),
          ...(body !== undefined && basic && { Authorization: `Basic ${basic}` }),
        },
        signal: AbortSignal.timeout(TIMEOUT),
        ...(authority && { ca: authority }),
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
          if (text.length > MAX_ANSWER) sent.destroy(new Error(`${url} answered with too much.`))
        })
        response.once('end', () => {
          if (response.statusCode !== 200) return reject(new Refused(url, response.statusCode, text))
          try {
            resolve(JSON.parse(text))
          } catch {
            reject(new Error(`${url} answered with no JSON.`))
          }
        })
      },
    )
    sent.once('error', reject).end(body)
  })
}

function readKept(file: string): z.infer<typeof kept> | undefined {
  try {
    return checkedOrNot(kept, JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined // there is no file yet, or it is incomplete
  }
}

/** Two kubectl may log in at once. */
function keep(directory: string, file: string, tokens: z.infer<typeof kept>): void {
  makeDirectory(directory, 0o700)
  replaceFile(file, JSON.stringify(tokens))
}

/** Reads the claims of a token that the server will verify: its end, and its login. */
function claimsOf(token: string): z.infer<typeof claims> {
  const [, payload = ''] = token.split('.')
  return checked(claims, JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), 'the token of the provider')
}

const endOf = (token: string): number => claimsOf(token).exp * 1000

const credential = (token: string): ExecCredential => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  kind: 'ExecCredential',
  status: { token, expirationTimestamp: new Date(endOf(token)).toISOString().replace(/\.\d+Z$/, 'Z') },
})

const secret = (): string => randomBytes(32).toString('base64url')
const hash = (text: string, encoding: 'hex' | 'base64url'): string => createHash('sha256').update(text).digest(encoding)
