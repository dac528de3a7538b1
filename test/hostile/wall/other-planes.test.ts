// A control plane does not accept the credentials of another one. The first issues them, "stranger" is unrelated, and
// "reborn" is new with the name and the keys of the first. All three have namespaces, accounts and Secrets of the same
// names.
import { cpSync, mkdtempSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issue } from '../../../src/cli/data-directory/certificate.ts'
import { answerOf } from './row.ts'
import type { Headers, Received, Who } from './row.ts'
import { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const SECRETS = `${A}/secrets`
const MARK = 'only-in-the-first-plane'
const REFUSED = '401 Unauthorized'
const ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'

const directory = (): string => mkdtempSync(join(tmpdir(), 'kedge-planes-'))
const known: Record<'first' | 'reborn' | 'stranger', World | undefined> = {
  first: undefined,
  reborn: undefined,
  stranger: undefined,
}
const plane = (name: keyof typeof known): World => {
  const world = known[name]
  if (world === undefined) throw new Error(`${name} is not there`)
  return world
}
/** Tokens that the first control plane issued, by their kind. */
const tokens = new Map<string, string>()

beforeAll(async () => {
  const [here, again] = [directory(), directory()]
  const first = (known.first = await World.startIn(here))
  cpSync(join(here, 'pki'), join(again, 'pki'), { recursive: true })
  known.reborn = await World.startIn(again)
  known.stranger = await World.startIn(directory())
  for (const one of Object.values(known)) await one?.prepare()
  await first.make(SECRETS, { metadata: { name: MARK }, stringData: { k: MARK } })
  await makeTokens(first)
  const read = (name: string): string => readFileSync(join(here, 'pki', name), 'utf8')
  const subject = { commonName: 'eve', organizations: ['system:masters'] }
  const authority = { certificate: read('ca.crt'), key: read('ca.key') }
  const { certificate, key } = await issue(authority, { subject, usage: 'client', days: 1 }, new Date())
  eve = new Agent({ cert: certificate, key, rejectUnauthorized: false })
})
/** A member of system:masters with a certificate of the first plane’s authority. */
let eve: Agent
afterAll(async () => {
  eve.destroy()
  await Promise.all(Object.values(known).map((one) => one?.stop()))
})

async function makeTokens(first: World): Promise<void> {
  for (const who of ['reader', 'owner', 'granter', 'nobody'] as const) tokens.set(`of ${who}`, first.tokenOf(who))
  tokens.set('for another audience, too', await first.token('a', 'owner', { audiences: AUDIENCES }))
  const bound = (kind: string, name: string) => ({ boundObjectRef: { kind, apiVersion: 'v1', name } })
  tokens.set('bound to a Secret', await first.token('a', 'owner', bound('Secret', 'one')))
  tokens.set('bound to a node', await first.token('a', 'owner', bound('Node', 'n1')))
  tokens.set('of an account that each plane makes by itself', await first.token('kube-system', 'namespace-controller'))
  await first.make(SECRETS, {
    metadata: { name: 'long', annotations: { 'kubernetes.io/service-account.name': 'owner' } },
    type: ACCOUNT_TOKEN,
  })
  for (let tries = 0; tries < 100 && !tokens.has('without an end'); tries++) {
    const { text } = await first.send('admin', 'GET', `${SECRETS}/long`)
    const { data = {} } = JSON.parse(text) as { data?: { token?: string } }
    if (data.token !== undefined) tokens.set('without an end', Buffer.from(data.token, 'base64').toString())
    else await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
const AUDIENCES = ['https://kubernetes.default.svc.cluster.local', 'https://kubernetes.default.svc', 'other']
const KINDS = [
  'of reader',
  'of owner',
  'of granter',
  'of nobody',
  'for another audience, too',
  'bound to a Secret',
  'bound to a node',
  'of an account that each plane makes by itself',
  'without an end',
]
const tokenOf = (kind: string): string => tokens.get(kind) ?? expect.fail(`the first plane made no token ${kind}`)

const HANDSHAKE: Headers = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  Origin: 'https://console.example.com',
}
const ASKED: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/api'],
  ['GET', SECRETS],
  ['GET', `${SECRETS}/one`],
  ['GET', `${SECRETS}?watch=1&timeoutSeconds=1`],
  ['DELETE', `${SECRETS}?dryRun=All`],
  ['POST', `${A}/configmaps?dryRun=All`, { metadata: { name: 'tried' } }],
  ['POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}],
  ['POST', `${A}/serviceaccounts/owner/token`, {}],
  ['GET', '/metrics'],
  ['GET', '/backup'],
  ['POST', '/restore', {}],
  ['GET', '/debug/shards'],
]
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` })
const nothingOfFirst = ({ text }: Received): void => {
  for (const mark of [MARK, Buffer.from(MARK).toString('base64')])
    expect(text.includes(mark), `tells of the first: ${text.slice(0, 300)}`).toBe(false)
}

test.each(KINDS)('the first takes its own token %s', async (kind) => {
  const { status } = await plane('first').send('anonymous', 'GET', '/api', undefined, bearer(tokenOf(kind)))
  expect(status).toBe(200)
})

describe.each(['reborn', 'stranger'] as const)('at the plane that is %s', (name) => {
  describe.each(KINDS)('a token %s', (kind) => {
    for (const [method, path, body] of ASKED)
      test(`${method} ${path}`, async () => {
        const received = await plane(name).send('anonymous', method, path, body, bearer(tokenOf(kind)))
        expect(answerOf(received), received.text.slice(0, 300)).toBe(REFUSED)
      })

    test('is nobody’s in a review', async () => {
      const spec = { token: tokenOf(kind), audiences: AUDIENCES }
      const path = '/apis/authentication.k8s.io/v1/tokenreviews'
      const { text } = await plane(name).send('admin', 'POST', path, { spec })
      const { status } = JSON.parse(text) as { status: { authenticated?: boolean; user?: { username?: string } } }
      expect(status.authenticated ?? false, text).toBe(false)
      expect(status.user?.username ?? '').toBe('')
    })

    test('opens no WebSocket', async () => {
      const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from(tokenOf(kind)).toString('base64url')}`
      const headers = { ...HANDSHAKE, 'Sec-WebSocket-Protocol': `v4.channel.k8s.io, ${protocol}` }
      const received = await plane(name).send('anonymous', 'GET', `${SECRETS}?watch=1`, undefined, headers)
      expect(answerOf(received)).toBe(REFUSED)
    })
  })

  // the reborn plane has the keys of the first, so it accepts what these keys signed
  const taken = name === 'reborn' ? '200' : REFUSED

  test('a certificate is its authority’s', async () => {
    expect(await certified(plane('first'), SECRETS)).toBe('200')
    expect(await certified(plane(name), SECRETS)).toBe(taken)
  })

  test('the administrator’s token is its directory’s', async () => {
    const headers = bearer(plane('first').access.token ?? '')
    for (const path of [SECRETS, '/debug/shards', '/metrics']) {
      expect(answerOf(await plane('first').send('anonymous', 'GET', path, undefined, headers))).toBe('200')
      expect(answerOf(await plane(name).send('anonymous', 'GET', path, undefined, headers))).toBe(taken)
    }
  })

  test('a place in a list of the first shows what is here', async () => {
    const { text } = await plane('first').send('owner', 'GET', `${SECRETS}?limit=1`)
    const { metadata } = JSON.parse(text) as { metadata: { continue: string; resourceVersion: string } }
    const { continue: place, resourceVersion: version } = metadata
    for (const query of [
      `limit=500&continue=${encodeURIComponent(place)}`,
      `resourceVersion=${version}`,
      `resourceVersion=${version}&resourceVersionMatch=Exact`,
      `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      `watch=1&timeoutSeconds=1&resourceVersion=${version}`,
    ]) {
      const received = await plane(name).send('owner', 'GET', `${SECRETS}?${query}`)
      expect([200, 400, 410, 504], `${query}: ${received.text}`).toContain(received.status)
      nothingOfFirst(received)
    }
    const one = await plane(name).send('owner', 'GET', `${SECRETS}/one?resourceVersion=${version}`)
    expect([200, 504]).toContain(one.status)
  })

  test('no host, header or path leads to the first', async () => {
    const { host, port } = plane('first').access
    const first = `${host}:${port}`
    const headers: readonly Headers[] = [
      { Host: first },
      { Host: 'first' },
      { 'X-Forwarded-Host': first, Forwarded: `host=${first}` },
      { 'X-Kedge-Tenant': 'root', 'X-Tenant': 'root' },
      { 'X-Original-URL': SECRETS, 'X-Rewrite-URL': SECRETS },
    ]
    // a server takes an absolute URL for its own path
    nothingOfFirst(await plane(name).send('reader', 'GET', `https://${first}${SECRETS}`))
    for (const more of headers) {
      const received = await plane(name).send('reader', 'GET', SECRETS, undefined, more)
      expect([200, 400, 421]).toContain(received.status)
      nothingOfFirst(received)
    }
    for (const before of ['/clusters/first', '/tenants/root', '/t/root', '/root', '/controlplanes/root'])
      for (const who of ['reader', 'anonymous'] satisfies Who[]) {
        const received = await plane(name).send(who, 'GET', `${before}${SECRETS}`)
        expect(received.status, `${before}: ${received.text}`).toBeOneOf([400, 403, 404])
        nothingOfFirst(received)
      }
  })
})

/** The answer to eve, who presents a certificate. */
async function certified({ access: { host, port } }: World, path: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: eve }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve(answerOf({ status: answer.statusCode ?? 0, headers: answer.headers, text })))
    })
    // a refused handshake is a refusal, too
    asked.on('error', () => resolve(REFUSED)).end()
  })
}
