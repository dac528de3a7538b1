// What signs is replaced while clients go on: keys of ServiceAccounts' tokens, and the CA with two bundles.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { LAUNCHER, startKedge } from '../cli/kedge-process.ts'

const data = join(mkdtempSync(join(tmpdir(), 'kedge-rotation-')), 'data')
const kedgeCommand = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [LAUNCHER, ...args, '--data-dir', data])).stdout
const authorities = (): string => readFileSync(join(data, 'pki/ca.crt'), 'utf8')
const certificatesIn = (text: string): number => text.split('BEGIN CERTIFICATE').length - 1

let kedge: KedgeProcess
let url = ''
const start = async (port: string): Promise<void> => {
  kedge = await startKedge(['--port', port, '--data-dir', data])
  url = kedge.url
}
const restart = async (): Promise<void> => {
  await kedge.stop()
  await start(new URL(url).port)
}
beforeAll(() => start('0'))
afterAll(() => kedge?.stop())

interface Said {
  readonly status: number
  readonly object: any
}

type Credentials = Pick<RequestOptions, 'ca' | 'cert' | 'key'> & {
  readonly token?: string
  /** For whom a front proxy asks. */
  readonly asks?: string
}

/** Rejects where there is no answer. */
const send = (method: string, path: string, { token, asks, ...tls }: Credentials, body?: object): Promise<Said> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(asks === undefined ? {} : { 'x-remote-user': asks }),
    }
    const options = {
      method,
      headers,
      agent: false,
      ...(tls.ca === undefined ? { rejectUnauthorized: false } : {}),
    } as const
    const sent = request(`${url}${path}`, { ...options, ...tls }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode ?? 0, object: JSON.parse(text) }))
    })
    sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })

const administrator = (): Credentials => ({ token: readFileSync(join(data, 'pki/admin.token'), 'utf8') })

const newToken = async (): Promise<string> => {
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
  const spec = { expirationSeconds: 3600 }
  const { status, object } = await send('POST', path, administrator(), { spec })
  expect(status).toBe(201)
  return object.status.token
}
const keyOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

/** Requests one after the other, until the end; those that find no server are sent again. */
function load(credentials: readonly Credentials[]) {
  const statuses = new Map<number, number>()
  let ended = false
  const loops = credentials.map(async (one) => {
    while (!ended)
      try {
        const { status } = await send('GET', '/api/v1/namespaces/default', one)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
  })
  return {
    statuses,
    async end(): Promise<void> {
      ended = true
      await Promise.all(loops)
    },
  }
}
const count = (statuses: Map<number, number>): number => [...statuses.values()].reduce((sum, one) => sum + one, 0)

test('keys rotate under load: nobody is turned away, and tokens of before go on', async () => {
  const before = await newToken()
  const running = load([{ token: before }, { token: before }, administrator()])
  await eventually(() => expect(count(running.statuses)).toBeGreaterThan(20))
  for (const times of [2, 3]) {
    await kedgeCommand('keys', 'rotate')
    await restart()
    const seen = count(running.statuses)
    await eventually(() => expect(count(running.statuses)).toBeGreaterThan(seen + 20))
    const fresh = await newToken()
    const { object } = await send('GET', '/openid/v1/jwks', administrator())
    expect(object.keys.map(({ kid }: { kid: string }) => kid)).toHaveLength(times)
    expect(object.keys[0].kid).toBe(keyOf(fresh))
    expect(keyOf(fresh)).not.toBe(keyOf(before))
    for (const token of [before, fresh])
      expect((await send('GET', '/version', { token })).status, keyOf(token)).toBe(200)
  }
  await running.end()
  // an account that may not read the namespace is known all the same
  expect([...running.statuses.keys()].sort()).toEqual([200, 403])
})

interface Person {
  readonly clusters: { readonly cluster: { readonly 'certificate-authority-data': string } }[]
  readonly users: { readonly user: { 'client-certificate-data': string; 'client-key-data': string } }[]
}
const fromBase64 = (text = ''): string => Buffer.from(text, 'base64').toString()

/** Anna with a certificate of the CA that signs now. */
async function anna(): Promise<Credentials & { readonly ca: string }> {
  const { clusters, users }: Person = JSON.parse(await kedgeCommand('kubeconfig', '--user', 'anna'))
  const { user } = users[0]!
  return {
    ca: fromBase64(clusters[0]!.cluster['certificate-authority-data']),
    cert: fromBase64(user['client-certificate-data']),
    key: fromBase64(user['client-key-data']),
  }
}
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
async function nameOf(who: Credentials): Promise<string> {
  const { status, object } = await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', who, review)
  return status === 201 ? object.status.userInfo.username : String(status)
}

/** What the namespace tells of the CA. */
const published = async (namespace: string): Promise<string> =>
  (await send('GET', `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`, administrator())).object.data[
    'ca.crt'
  ]
const publishedEverywhere = (certificates: number): Promise<void> =>
  eventually(async () => {
    for (const namespace of ['kube-system', 'team'])
      expect(certificatesIn(await published(namespace)), namespace).toBe(certificates)
  })

/** Until all of them were answered a few more times. */
async function goesOn(running: ReturnType<typeof load>): Promise<void> {
  const seen = count(running.statuses)
  await eventually(() => expect(count(running.statuses)).toBeGreaterThan(seen + 20))
}

test('the CA rotates with two bundles', async () => {
  await send('POST', '/api/v1/namespaces', administrator(), { metadata: { name: 'team' } })
  const old = await anna()
  const oldAuthority = authorities()
  expect(await nameOf(old)).toBe('anna')
  // these trust whatever server they find: it is they who are to be known
  const running = load([
    { cert: old.cert, key: old.key },
    { token: await newToken() },
    { cert: old.cert, key: old.key },
    administrator(),
  ])

  await kedgeCommand('keys', 'rotate', '--ca', 'begin')
  await restart()
  await publishedEverywhere(2)
  const begun = await anna()
  expect(certificatesIn(begun.ca)).toBe(2)
  expect(authorities()).toBe(oldAuthority)
  // who trusts the old one alone still finds the server
  for (const who of [old, begun]) expect(await nameOf(who)).toBe('anna')
  await goesOn(running)
  const config = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  expect(certificatesIn((await send('GET', config, administrator())).object.data['client-ca-file'])).toBe(2)

  await kedgeCommand('keys', 'rotate', '--ca', 'switch')
  await restart()
  await publishedEverywhere(2)
  expect(authorities()).not.toBe(oldAuthority)
  await expect(nameOf({ ...old, ca: oldAuthority })).rejects.toThrow(/certificate/)
  const switched = await anna()
  // certificates of both count
  for (const who of [old, begun, switched]) expect(await nameOf({ ...who, ca: begun.ca })).toBe('anna')
  await goesOn(running)
  await running.end()
  expect([...running.statuses.keys()].sort()).toEqual([200, 403])

  await kedgeCommand('keys', 'rotate', '--ca', 'finish')
  await restart()
  await publishedEverywhere(1)
  expect(await nameOf({ ...switched, ca: authorities() })).toBe('anna')
  expect(await nameOf({ ...begun, ca: authorities() })).toBe('401')
})

/** This server's own front proxy, which speaks for Frida. */
const frontProxy = (): Credentials => {
  const read = (file: string): string => readFileSync(join(data, 'pki', file), 'utf8')
  return { cert: read('front-proxy-client.crt'), key: read('front-proxy-client.key'), asks: 'frida' }
}

test('the CA of front proxies rotates under load', async () => {
  const old = frontProxy()
  expect(await nameOf(old)).toBe('frida')
  const running = load([old, old, administrator()])
  const config = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const trusted = (certificates: number): Promise<void> =>
    eventually(async () => {
      const { object } = await send('GET', config, administrator())
      expect(certificatesIn(object.data['requestheader-client-ca-file'])).toBe(certificates)
    })
  for (const step of ['begin', 'switch']) {
    await kedgeCommand('keys', 'rotate', '--front-proxy-ca', step)
    await restart()
    await trusted(2)
    expect(frontProxy().cert === old.cert).toBe(step === 'begin')
    for (const who of [old, frontProxy()]) expect(await nameOf(who)).toBe('frida')
    await goesOn(running)
  }
  await running.end()
  expect([...running.statuses.keys()].sort()).toEqual([200, 403])
  await kedgeCommand('keys', 'rotate', '--front-proxy-ca', 'finish')
  await restart()
  await trusted(1)
  expect(await nameOf(frontProxy())).toBe('frida')
  expect(await nameOf(old)).toBe('401')
})
