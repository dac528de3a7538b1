// A local server accepts tokens of a test issuer, which serves over TLS. Its authentication configuration changes while
// it runs.
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'

const subject = { commonName: 'issuers' }
const authority = await createAuthority(subject, new Date(), 30)
const leaf = { subject: { commonName: 'issuer' }, usage: 'server', names: ['127.0.0.1'], days: 30 } as const
const { key: tlsKey, certificate } = await issue(authority, leaf, new Date())

const signing = (kid: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } }
}
const first = signing('first')
const second = signing('second')
let published: readonly object[] = [first.jwk]

const server = createServer({ key: tlsKey, cert: certificate }, (request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify(request.url === '/keys' ? { keys: published } : { issuer: issuer(), jwks_uri: `${issuer()}/keys` }),
  )
})
// of a server that listens on TCP
const issuer = (): string => `https://127.0.0.1:${(server.address() as AddressInfo).port}`

const file = join(mkdtempSync(join(tmpdir(), 'kedge-issuers-')), 'authentication.yaml')
const configure = (audience: string): void =>
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions: [{path: /livez}]
jwt:
- issuer:
    url: ${issuer()}
    audiences: [${audience}]
    certificateAuthority: |
${authority.certificate.replace(/^/gm, '      ')}
  claimMappings:
    username: {claim: sub, prefix: 'oidc:'}
    groups: {expression: claims.roles}
`,
  )

function token(sub: string, by = first, aud = 'kedge'): string {
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')
  const claims = { iss: issuer(), aud, sub, roles: ['dev'], exp: Math.floor(Date.now() / 1000) + 300 }
  const text = `${part({ alg: 'RS256', kid: by.jwk.kid })}.${part(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), by.privateKey).toString('base64url')}`
}

let kedge: KedgeProcess
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  configure('kedge')
  kedge = await startKedge(['--ephemeral', '--port', '0', '--authentication-config', file])
})
afterAll(async () => {
  await kedge?.stop()
  server.close()
})

interface Said {
  readonly status: number
  readonly text: string
}

/** @param bearer '' for a request without credentials */
const send = (method: string, path: string, bearer: string, body?: object): Promise<Said> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
    }
    const sent = request(`${kedge.url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const asks = (bearer: string) => send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', bearer, review)

test('a token of the issuer stands for its user', async () => {
  const answer = await asks(token('anna'))
  expect(answer.status).toBe(201)
  expect(JSON.parse(answer.text).status.userInfo).toEqual({
    username: 'oidc:anna',
    groups: ['dev', 'system:authenticated'],
  })
})

test('the server accepts tokens of a new key after the issuer rotates its keys', async () => {
  published = [first.jwk, second.jwk]
  // The server fetches unknown keys at most once in five seconds.
  await eventually(async () => expect((await asks(token('berta', second))).status).toBe(201))
})

test('requests without credentials are refused, except on the configured paths', async () => {
  expect((await send('GET', '/livez', '')).status).toBe(200)
  expect((await send('GET', '/readyz', '')).status).toBe(401)
})

test('the server follows changes of the file', async () => {
  configure('another')
  await eventually(async () => expect((await asks(token('carl'))).status).toBe(401))
  expect((await asks(token('carl', first, 'another'))).status).toBe(201)
  const { users } = JSON.parse(readFileSync(kedge.kubeconfig, 'utf8'))
  const { text } = await send('GET', '/metrics', users[0].user.token)
  expect(text).toMatch(
    /^apiserver_authentication_config_controller_automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="success"\} 1$/m,
  )
})

test('a wrong configuration is reported at the start, in kube-apiserver’s words', async () => {
  const wrong = join(tmpdir(), `kedge-wrong-${process.pid}.yaml`)
  writeFileSync(
    wrong,
    'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: "http://a", audiences: [a]}\n  claimMappings: {username: {expression: claims.}}\n',
  )
  await expect(startKedge(['--ephemeral', '--port', '0', '--authentication-config', wrong])).rejects.toThrow(
    /jwt\[0\]\.issuer\.url: Invalid value: "http:\/\/a": URL scheme must be https/,
  )
})
