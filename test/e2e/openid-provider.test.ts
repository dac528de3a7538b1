// A certified OpenID Connect provider authenticates users: kubectl logs in there, and its keys rotate while clients
// send requests.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { login } from '../../src/cli/commands/login.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { browse, signingKey, startOpenIdProvider } from './openid-provider.ts'
import { programPath, skipWithout } from './reference-program.ts'
import { skipWithoutKubectl } from './session.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-openid-'))
const cache = join(directory, 'cache')
const SCOPES = ['openid', 'offline_access', 'email', 'groups']
const first = signingKey('first')
const second = signingKey('second')
const third = signingKey('third')

let provider: Awaited<ReturnType<typeof startOpenIdProvider>>
let kedge: KedgeProcess
beforeAll(async () => {
  provider = await startOpenIdProvider(first)
  const file = join(directory, 'authentication.yaml')
  writeFileSync(join(directory, 'ca.crt'), provider.authority)
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: ${provider.url}
    audiences: [kubectl]
    certificateAuthority: |
${provider.authority.replace(/^/gm, '      ')}
  claimMappings:
    username: {claim: email, prefix: ''}
    groups: {expression: "dyn(claims.groups).map(g, 'provider:' + g)"}
    uid: {claim: sub}
`,
  )
  kedge = await startKedge(['--ephemeral', '--port', '0', '--authentication-config', file])
})
afterAll(async () => {
  await kedge?.stop()
  provider?.close()
})

const whoami = async (kubeconfig: string) => {
  const child = spawn(findKubectlOrNot().kubectl!.path, [
    ...['--kubeconfig', kubeconfig, 'auth', 'whoami', '-o', 'json'],
  ])
  let [out, errors, visit] = ['', '', undefined as Promise<void> | undefined]
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    // kedge login and kubelogin print these lines.
    const [, address] = /(?:Log in at|in your browser:) (https?:\S+)\n/.exec(errors) ?? []
    if (address !== undefined) visit ??= browse(address, provider.authority, 'anna')
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  await visit
  expect(code, errors).toBe(0)
  return JSON.parse(out).status.userInfo
}

const ANNA = {
  username: 'anna@example.com',
  uid: 'anna',
  groups: ['provider:dev', 'provider:ops', 'system:authenticated'],
}

/** Writes a kubeconfig whose user runs the command as its exec plug-in. @returns its path */
function kubeconfigWith(command: string, args: readonly string[], version = 'v1'): string {
  const { clusters, contexts, ...config } = JSON.parse(readFileSync(kedge.kubeconfig, 'utf8'))
  const apiVersion = `client.authentication.k8s.io/${version}`
  const exec = { apiVersion, command, args, interactiveMode: 'Never' }
  const kubeconfig = join(mkdtempSync(join(directory, 'user-')), 'kubeconfig')
  const users = [{ name: contexts[0].context.user, user: { exec } }]
  writeFileSync(kubeconfig, JSON.stringify({ ...config, clusters, contexts, users }))
  return kubeconfig
}

test('kubectl logs in by kubelogin', async (context) => {
  skipWithoutKubectl(context)
  skipWithout('kubelogin', context)
  const flags = {
    '--oidc-issuer-url': provider.url,
    '--oidc-client-id': 'kubectl',
    '--certificate-authority': join(directory, 'ca.crt'),
    '--token-cache-dir': join(directory, 'kubelogin'),
    '--listen-address': '127.0.0.1:0',
  }
  const scopes = SCOPES.filter((scope) => scope !== 'openid').flatMap((scope) => ['--oidc-extra-scope', scope])
  const args = ['get-token', '--skip-open-browser', ...Object.entries(flags).flat(), ...scopes]
  const kubeconfig = kubeconfigWith(programPath('kubelogin')!, args, 'v1beta1')
  const before = provider.grants.length
  for (let time = 0; time < 2; time++) expect(await whoami(kubeconfig)).toMatchObject(ANNA)
  expect(provider.grants.slice(before)).toEqual(['authorization_code'])
})

test('kubectl logs in by kedge login, and its refresh token does the rest', async (context) => {
  skipWithoutKubectl(context)
  const flags = {
    '--issuer-url': provider.url,
    '--client-id': 'kubectl',
    '--certificate-authority': join(directory, 'ca.crt'),
    '--cache-dir': cache,
    '--port': '0',
  }
  const args = [LAUNCHER, 'login', '--no-browser', ...Object.entries(flags).flat()]
  const scopes = SCOPES.filter((scope) => scope !== 'openid').flatMap((scope) => ['--scope', scope])
  const kubeconfig = kubeconfigWith(process.execPath, [...args, ...scopes])
  const before = provider.grants.length

  // The token expires before kubectl needs it again.
  provider.lives.seconds = 50
  expect(await whoami(kubeconfig)).toMatchObject(ANNA)
  expect(provider.grants.slice(before)).toEqual(['authorization_code'])
  provider.lives.seconds = 300
  expect(await whoami(kubeconfig)).toMatchObject(ANNA)
  expect(provider.grants.slice(before)).toEqual(['authorization_code', 'refresh_token'])
  // The plug-in reuses a token that is valid for minutes.
  expect(await whoami(kubeconfig)).toMatchObject(ANNA)
  expect(provider.grants.slice(before)).toHaveLength(2)
})

/** A client with one login. @returns a function that gives its next ID token */
function client(name: string): () => Promise<string> {
  const visit = (address: string): void => void browse(address, provider.authority, name)
  const options = {
    issuer: provider.url,
    client: 'kubectl',
    secret: undefined,
    authority: provider.authority,
    scopes: SCOPES,
    port: 0,
    cache: join(directory, name),
    open: visit,
    say: () => {},
    now: () => Date.now(),
  }
  return async () => (await login(options)).status.token
}

const keyOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

const statusFor = (token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request(`${kedge.url}/version`, { headers, rejectUnauthorized: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    sent.once('error', reject).end()
  })

test('the provider rotates its keys while clients use tokens: no valid token is refused', async () => {
  provider.lives.seconds = 300
  const old = await client('berta')()
  expect(keyOf(old)).toBe('first')
  // Each of these requests has a new token.
  provider.lives.seconds = 50
  const seen = new Map<string, number>()
  let ended = false
  const loops = ['carl', 'dora', 'emil'].map(async (name) => {
    const next = client(name)
    while (!ended) {
      const token = await next()
      const answer = `${keyOf(token)} ${await statusFor(token)}`
      seen.set(answer, (seen.get(answer) ?? 0) + 1)
    }
  })
  const loaded = (answer: string, times = 5): Promise<void> =>
    eventually(() => expect(seen.get(answer) ?? 0).toBeGreaterThanOrEqual(times))
  await loaded('first 200')
  // The provider switches keys without notice: the server meets the new key first in a token.
  provider.publish(second, first)
  await loaded('second 200')
  expect(await statusFor(old)).toBe(200)
  // The provider publishes the third key in advance, and removes the first.
  provider.publish(second, third)
  await loaded('second 200', (seen.get('second 200') ?? 0) + 5)
  provider.publish(third, second)
  await loaded('third 200')
  ended = true
  await Promise.all(loops)
  expect([...seen.keys()].sort()).toEqual(['first 200', 'second 200', 'third 200'])
  // A token of a removed key is refused once the token cache has dropped it.
  await eventually(async () => expect(await statusFor(old)).toBe(401))
})

test('tokens with unknown keys make the server fetch the keys a few times only', async () => {
  const asks = (): number => provider.asked.filter((path) => path === '/jwks').length
  const before = asks()
  const [, payload, signature] = (await client('berta')()).split('.')
  const madeUp = (kid: string): string =>
    `${Buffer.from(JSON.stringify({ alg: 'RS256', kid })).toString('base64url')}.${payload}.${signature}`
  const statuses = await Promise.all(Array.from({ length: 40 }, (_, n) => statusFor(madeUp(`made-up-${n}`))))
  expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([])
  expect(asks() - before).toBeLessThan(statuses.length / 2) // once in five seconds
})

test('metrics count tokens and keys under kube-apiserver’s names, with a hash of the issuer', async () => {
  const { users } = JSON.parse(readFileSync(kedge.kubeconfig, 'utf8'))
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${users[0].user.token}` }
    request(`${kedge.url}/metrics`, { headers, rejectUnauthorized: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part: string) => (body += part))
      response.once('end', () => resolve(body))
    })
      .once('error', reject)
      .end()
  })
  const issuer = `jwt_issuer_hash="sha256:${createHash('sha256').update(provider.url).digest('hex')}"`
  const series = text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_authentication_jwt_authenticator') && !line.includes('_bucket'))
    .map((line) => line.replaceAll(/sha256:[0-9a-f]{64}/g, 'H').replace(/ [\d.e+-]+$/, ''))
  expect(text).toContain(issuer)
  const labels = 'jwt_issuer_hash="H"'
  const prefix = 'apiserver_authentication_jwt_authenticator'
  expect(series).toEqual(
    expect.arrayContaining([
      `${prefix}_jwks_fetch_last_key_set_info{${labels},apiserver_id_hash="H",hash="H"}`,
      `${prefix}_jwks_fetch_last_timestamp_seconds{result="success",${labels},apiserver_id_hash="H"}`,
      `${prefix}_latency_seconds_count{${labels},result="success"}`,
      `${prefix}_latency_seconds_count{${labels},result="failure"}`,
    ]),
  )
})
