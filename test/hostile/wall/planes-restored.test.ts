// A backup of one control plane, restored into two others: objects come over, identities do not. One of the two has the
// keys of the first, which an operator copies to move a control plane; the other has keys of its own.
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf } from './row.ts'
import type { Headers, Received, Who } from './row.ts'
import { World } from './world.ts'

const A = '/api/v1/namespaces/a'
const SECRETS = `${A}/secrets`
const MARK = 'only-in-the-first-plane'
const ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'
const directory = (): string => mkdtempSync(join(tmpdir(), 'kedge-restored-'))
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` })
const REFUSED = '401 Unauthorized'

const known: Record<'first' | 'moved' | 'other', World | undefined> = {
  first: undefined,
  moved: undefined,
  other: undefined,
}
const plane = (name: keyof typeof known): World => known[name] ?? expect.fail(`${name} is not there`)
const RESTORED = ['moved', 'other'] as const
/** Tokens that the first control plane issued, by their kind. */
const tokens = new Map<string, string>()
const KINDS = ['of reader', 'of owner', 'bound to a Secret', 'without an end'] as const
let backup = ''
let versionOfFirst = ''
let placeInFirst = ''
const before: Record<(typeof RESTORED)[number], { token: string; version: string }> = {
  moved: { token: '', version: '' },
  other: { token: '', version: '' },
}

beforeAll(async () => {
  const [here, moved] = [directory(), directory()]
  const first = (known.first = await World.startIn(here))
  cpSync(join(here, 'pki'), join(moved, 'pki'), { recursive: true })
  known.moved = await World.startIn(moved)
  known.other = await World.startIn(directory(), '--encryption-keys', await keys())
  await first.prepare()
  await first.make(SECRETS, { metadata: { name: MARK }, stringData: { k: MARK } })
  await first.make(SECRETS, {
    metadata: { name: 'long', annotations: { 'kubernetes.io/service-account.name': 'owner' } },
    type: ACCOUNT_TOKEN,
  })
  for (let tries = 0; tries < 100 && !tokens.has('without an end'); tries++) {
    const { data } = JSON.parse((await first.send('admin', 'GET', `${SECRETS}/long`)).text) as {
      data?: { token?: string }
    }
    if (data?.token !== undefined) tokens.set('without an end', Buffer.from(data.token, 'base64').toString())
    else await new Promise((resolve) => setTimeout(resolve, 100))
  }
  for (const who of ['reader', 'owner'] as const) tokens.set(`of ${who}`, first.tokenOf(who))
  const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: 'one' }
  tokens.set('bound to a Secret', await first.token('a', 'owner', { boundObjectRef }))
  // one user has all rights in a namespace, another has all rights but is not in system:masters
  await first.make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'a', name: 'granter' }],
  })
  const { text } = await first.send('owner', 'GET', `${SECRETS}?limit=1`)
  const { metadata } = JSON.parse(text) as { metadata: { continue: string; resourceVersion: string } }
  versionOfFirst = metadata.resourceVersion
  placeInFirst = metadata.continue
  backup = (await first.send('admin', 'GET', '/backup')).text
  // tokens that the other planes issued before the restore
  for (const name of RESTORED) {
    before[name].token = await plane(name).token('kube-system', 'namespace-controller')
    const received = await plane(name).send('admin', 'GET', '/api/v1/namespaces')
    before[name].version = (
      JSON.parse(received.text) as { metadata: { resourceVersion: string } }
    ).metadata.resourceVersion
  }
})
afterAll(async () => {
  await Promise.all(Object.values(known).map((one) => one?.stop()))
})

async function keys(): Promise<string> {
  const { writeFileSync } = await import('node:fs')
  const { randomBytes } = await import('node:crypto')
  const file = join(directory(), 'keys')
  writeFileSync(file, `k1:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  return file
}

describe('before', () => {
  test.each(RESTORED)('%s takes a backup of its own masters alone', async (name) => {
    for (const kind of KINDS) {
      const received = await plane(name).send('anonymous', 'POST', '/restore', backup, bearer(tokens.get(kind) ?? ''))
      expect(answerOf(received)).toBe(REFUSED)
    }
    expect(answerOf(await plane(name).send('anonymous', 'POST', '/restore', backup))).toBe('403 Forbidden')
    const received = await plane(name).send('anonymous', 'POST', '/restore', backup, bearer(before[name].token))
    expect(answerOf(received)).toBe('403 Forbidden')
  })

  test('whoever has every right in the first, but is no master, gets no backup of it', async () => {
    for (const who of ['granter', 'owner', 'scraper', 'reader'] satisfies Who[]) {
      expect(answerOf(await plane('first').send(who, 'GET', '/backup'))).toBe('403 Forbidden')
      expect(answerOf(await plane('first').send(who, 'POST', '/restore', backup))).toBe('403 Forbidden')
    }
    expect(answerOf(await plane('first').send('granter', 'GET', SECRETS))).toBe('200')
  })

  test.each(RESTORED)('%s is restored by its master', async (name) => {
    const received = await plane(name).send('admin', 'POST', '/restore', backup)
    expect(received.status, received.text).toBe(200)
    const { text } = await plane(name).send('admin', 'GET', `${SECRETS}/${MARK}`)
    expect(JSON.parse(text)).toMatchObject({ data: { k: Buffer.from(MARK).toString('base64') } })
  })

  test.each(RESTORED)('%s is restored once: what somebody made is not written over', async (name) => {
    expect(answerOf(await plane(name).send('admin', 'POST', '/restore', backup))).toBe('409 Conflict')
  })
})

describe.each(KINDS)('a token %s of the first', (kind) => {
  const asked = ['/api', SECRETS, `${A}/pods`] as const
  const send = (name: keyof typeof known, path: string): Promise<Received> =>
    plane(name).send('anonymous', 'GET', path, undefined, bearer(tokens.get(kind) ?? ''))

  test('is nobody’s where the keys are others, though its account is there with the same uid', async () => {
    for (const path of asked) expect(answerOf(await send('other', path))).toBe(REFUSED)
    const spec = { token: tokens.get(kind) }
    const { text } = await plane('other').send('admin', 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec })
    expect((JSON.parse(text) as { status: { authenticated?: boolean } }).status.authenticated ?? false, text).toBe(
      false,
    )
  })

  test('is its account’s where the keys came over with it', async () => {
    expect(answerOf(await send('moved', '/api'))).toBe('200')
    expect((await send('moved', SECRETS)).status).toBe(200)
  })
})

describe.each(RESTORED)('in %s', (name) => {
  test('accounts have the uids that they had, and get tokens that the first refuses, or takes by its keys', async () => {
    const uidIn = async (world: World): Promise<string> =>
      (
        JSON.parse((await world.send('admin', 'GET', `${A}/serviceaccounts/owner`)).text) as {
          metadata: { uid: string }
        }
      ).metadata.uid
    expect(await uidIn(plane(name))).toBe(await uidIn(plane('first')))
    const made = await plane(name).token('a', 'owner')
    expect(answerOf(await plane(name).send('anonymous', 'GET', SECRETS, undefined, bearer(made)))).toBe('200')
    const atFirst = answerOf(await plane('first').send('anonymous', 'GET', SECRETS, undefined, bearer(made)))
    expect(atFirst).toBe(name === 'moved' ? '200' : REFUSED)
  })

  test('what it gave out to an account that is another one now is refused', async () => {
    const received = await plane(name).send('anonymous', 'GET', '/api', undefined, bearer(before[name].token))
    expect(answerOf(received)).toBe(REFUSED)
  })

  test('rights are those of the backup, and its own master rules', async () => {
    const made = async (account: string) => bearer(await plane(name).token('a', account))
    const asked = async (account: string, method: string, path: string): Promise<string> =>
      answerOf(await plane(name).send('anonymous', method, path, undefined, await made(account)))
    expect(await asked('nobody', 'GET', SECRETS)).toBe('403 Forbidden')
    expect(await asked('owner', 'GET', SECRETS)).toBe('200')
    expect(await asked('owner', 'GET', '/api/v1/namespaces/b/secrets')).toBe('403 Forbidden')
    expect(await asked('granter', 'GET', '/backup')).toBe('403 Forbidden')
    expect(await asked('granter', 'POST', '/restore?abandon=true')).toBe('403 Forbidden')
    const masterOfFirst = bearer(plane('first').access.token ?? '')
    const received = await plane(name).send('anonymous', 'GET', SECRETS, undefined, masterOfFirst)
    expect(answerOf(received)).toBe(name === 'moved' ? '200' : REFUSED)
  })

  test('versions and places that the first told begin anew', async () => {
    const asked = (query: string): Promise<Received> => plane(name).send('admin', 'GET', `${SECRETS}?${query}`)
    expect(answerOf(await asked(`limit=1&continue=${encodeURIComponent(placeInFirst)}`))).toBe('410 Expired')
    expect(answerOf(await asked(`resourceVersion=${versionOfFirst}&resourceVersionMatch=Exact`))).toBe('410 Expired')
    for (const version of [versionOfFirst, before[name].version]) {
      const { status, text } = await asked(`watch=1&timeoutSeconds=1&resourceVersion=${version}`)
      const isAnew = status === 410 || (status === 200 && text.includes('"code":410'))
      expect(isAnew, `${status} ${text.slice(0, 300)}`).toBe(true)
      expect(answerOf(await asked(`resourceVersion=${version}&resourceVersionMatch=NotOlderThan`))).toBe('200')
    }
  })

  test('what is written in one is not in the other', async () => {
    await plane(name).make(SECRETS, { metadata: { name: `of-${name}` }, stringData: { k: name } })
    expect(answerOf(await plane('first').send('admin', 'GET', `${SECRETS}/of-${name}`))).toBe('404 NotFound')
    await plane('first').make(SECRETS, { metadata: { name: `later-${name}` }, stringData: { k: 'later' } })
    expect(answerOf(await plane(name).send('admin', 'GET', `${SECRETS}/later-${name}`))).toBe('404 NotFound')
  })
})
