/** An OpenID Connect provider without a login form: every visitor is logged in as anna. */
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'

const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')

export async function startProvider() {
  const authority = await createAuthority({ commonName: 'provider' }, new Date(), 30)
  const leaf = { subject: { commonName: 'provider' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
  const { key, certificate } = await issue(authority, leaf, new Date())
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, URLSearchParams>()
  const refreshTokens = new Set<string>()
  const grants: string[] = []
  /** Overrides for the claims and the lifetime of the next tokens, and the status that they are refused with. */
  const spoil: { claims: object; lives: number; refuses?: number } = { claims: {}, lives: 300 }

  const tokens = (nonce: string | undefined) => {
    const claims = { iss: url(), aud: 'kubectl', sub: 'anna', exp: Math.floor(Date.now() / 1000) + spoil.lives, nonce }
    const text = `${part({ alg: 'RS256', kid: 'k' })}.${part({ ...claims, ...spoil.claims })}`
    const refresh = randomUUID()
    refreshTokens.add(refresh)
    const signature = sign('sha256', Buffer.from(text), signing.privateKey).toString('base64url')
    return { id_token: `${text}.${signature}`, refresh_token: refresh }
  }

  const granted = (form: URLSearchParams): object | undefined => {
    grants.push(form.get('grant_type') ?? '')
    if (spoil.refuses !== undefined) return undefined
    const refresh = form.get('refresh_token') ?? ''
    if (form.get('grant_type') === 'refresh_token') return refreshTokens.delete(refresh) ? tokens(undefined) : undefined
    const asked = codes.get(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    return asked?.get('code_challenge') === challenge ? tokens(asked.get('nonce') ?? undefined) : undefined
  }

  const server = createServer({ key, cert: certificate }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url())
    const json = (body: object | undefined) =>
      response
        .writeHead(body === undefined ? (spoil.refuses ?? 400) : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(body ?? {}))
    if (pathname === '/keys') return json({ keys: [{ ...signing.publicKey.export({ format: 'jwk' }), kid: 'k' }] })
    if (pathname === '/authorize') {
      const code = randomUUID()
      codes.set(code, searchParams)
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString()
      return response.writeHead(302, { location: back.href }).end()
    }
    if (pathname !== '/token')
      return json({
        issuer: url(),
        authorization_endpoint: `${url()}/authorize`,
        token_endpoint: `${url()}/token`,
        jwks_uri: `${url()}/keys`,
      })
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    return request.on('end', () => json(granted(new URLSearchParams(text))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = (): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP
  return { url: url(), authority: authority.certificate, grants, spoil, close: () => server.close() }
}
