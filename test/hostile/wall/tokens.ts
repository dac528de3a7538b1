// ServiceAccount tokens that are forged, changed or expired, or whose bound object is gone.
import { bearer, bySomebodyElse, forge, hmacWithPublicKey, withDigest } from './forge.ts'
import type { Claims, Forged } from './forge.ts'
import { row } from './row.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

const SECRET = 'GET /api/v1/namespaces/b/secrets/one'
const REFUSED = '401 Unauthorized'
const now = (): number => Math.floor(Date.now() / 1000)

const refused = (rule: string, forged: Forged): Row =>
  row(rule, 'anonymous', SECRET, REFUSED, (world) => bearer(forge(world, forged)))
const accepted = (rule: string, forged: Forged): Row =>
  row(rule, 'anonymous', SECRET, '200', (world) => bearer(forge(world, forged)))
const claims = (change: Claims): Forged => ({ claims: (old) => ({ ...old, ...change }) })
const header = (change: Claims): Forged => ({ header: (old) => ({ ...old, ...change }) })
const without = (name: string): Forged => ({
  claims: (old) => Object.fromEntries(Object.entries(old).filter(([key]) => key !== name)),
})
const bound = (change: (claims: Record<string, Claims | string>) => Claims): Forged => ({
  // the claims that TokenRequest writes
  claims: (old) => ({ ...old, 'kubernetes.io': change(old['kubernetes.io'] as Record<string, Claims | string>) }),
})

/** A request with a token of a new account, after the story has run. */
const outlived = (rule: string, answer: string, story: (world: World, name: string) => Promise<string>): Row =>
  row(rule, 'anonymous', 'GET /apis/authentication.k8s.io', answer, async (world) => {
    const name = `outlived-${rule.replaceAll(/[^a-z]+/g, '-')}`.slice(0, 60).replace(/-$/, '')
    await world.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name } })
    return bearer(await story(world, name))
  })
const ACCOUNTS = '/api/v1/namespaces/a/serviceaccounts'
const remove = (world: World, path: string): Promise<unknown> => world.make(path, { gracePeriodSeconds: 0 }, 'DELETE')
const boundTo = async (world: World, account: string, kind: string, name: string): Promise<string> => {
  const path = `/api/v1/namespaces/a/${kind === 'Pod' ? 'pods' : 'secrets'}`
  const pod = {
    metadata: { name },
    spec: { serviceAccountName: account, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
  }
  await world.make(path, kind === 'Pod' ? pod : { metadata: { name } })
  return world.token('a', account, { boundObjectRef: { kind, apiVersion: 'v1', name } })
}

const boundToNode = async (world: World, name: string): Promise<string> => {
  await world.make('/api/v1/nodes', { metadata: { name } })
  return world.token('a', name, { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name } })
}
/** The token of a Secret that the controllers fill. */
async function secretToken(world: World, name: string): Promise<string> {
  const path = '/api/v1/namespaces/a/secrets'
  const annotations = { 'kubernetes.io/service-account.name': name }
  await world.make(path, { metadata: { name, annotations }, type: 'kubernetes.io/service-account-token' })
  for (let tries = 0; tries < 600; tries++) {
    const { text } = await world.send('admin', 'GET', `${path}/${name}`)
    const { data } = JSON.parse(text) as { data?: { token?: string } } // a Secret
    if (data?.token) return Buffer.from(data.token, 'base64').toString()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the Secret ${name} got no token`)
}

export const tokens: readonly Row[] = [
  accepted('the server’s own key signs', {}),
  refused('nobody signs', { header: (h) => ({ ...h, alg: 'none' }), signature: () => '' }),
  ...['None', 'NONE', 'nOnE', '', null, 0, ['RS256']].map((alg) =>
    refused(`the algorithm ${JSON.stringify(alg)}`, header({ alg })),
  ),
  refused('no algorithm', { header: ({ kid }) => ({ kid }) }),
  refused('the algorithm none with a good signature', header({ alg: 'none' })),
  ...(['spki', 'pkcs1'] as const).map((form) =>
    refused(`the public key (${form}) as the secret of an HMAC`, {
      ...header({ alg: 'HS256' }),
      signature: hmacWithPublicKey(form),
    }),
  ),
  ...['ES256', 'PS256', 'EdDSA', 'HS256', 'rs256'].map((alg) => refused(`${alg} named, RS256 done`, header({ alg }))),
  refused('RS256 named, RS1 done', { signature: withDigest('sha1') }),
  refused('a key of somebody else', { signature: bySomebodyElse }),
  refused('a key of somebody else with its own kid', { ...header({ kid: 'mine' }), signature: bySomebodyElse }),
  refused('a key in the header', {
    ...header({ jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB' } }),
    signature: bySomebodyElse,
  }),
  refused('a key behind a URL', { ...header({ jku: 'https://example.com/jwks' }), signature: bySomebodyElse }),
  refused('a certificate in the header', { ...header({ x5c: ['AAAA'] }), signature: bySomebodyElse }),
  refused('a kid that is a path', { ...header({ kid: '../../dev/null' }), signature: () => '' }),
  refused('critical extensions', header({ crit: ['b64'], b64: false })),
  refused('unknown critical extensions', header({ crit: ['exp'] })),
  refused('another audience', claims({ aud: ['vault'] })),
  refused('another audience as text', claims({ aud: 'vault' })),
  refused(
    'an audience that only begins so',
    claims({ aud: ['https://kubernetes.default.svc.cluster.local.example.com'] }),
  ),
  refused('an issuer elsewhere', claims({ iss: 'https://example.com' })),
  refused('an issuer with a slash more', claims({ iss: 'https://kubernetes.default.svc.cluster.local/' })),
  refused('no issuer', without('iss')),
  refused('expired', claims({ exp: now() - 120 })),
  refused('ended long ago', claims({ exp: 1 })),
  refused('not yet', claims({ nbf: now() + 3600 })),
  refused('text where a time belongs', claims({ exp: '99999999999' })),
  refused('an expiry that is an object', claims({ exp: {} })),
  refused('a start that is text', claims({ nbf: 'now' })),
  refused('no claims of Kubernetes', without('kubernetes.io')),
  refused('claims of Kubernetes that are text', claims({ 'kubernetes.io': 'a' })),
  refused(
    'another uid',
    bound((k) => ({ ...k, serviceaccount: { ...(k['serviceaccount'] as Claims), uid: 'x' } })),
  ),
  refused(
    'an account that is not there',
    bound((k) => ({ ...k, serviceaccount: { name: 'ghost', uid: 'x' } })),
  ),
  refused(
    'a namespace that is not there',
    bound((k) => ({ ...k, namespace: 'ghost' })),
  ),
  // The private claims name the account; the subject is not read.
  accepted('another account’s subject', claims({ sub: 'system:serviceaccount:a:owner' })),
  accepted('a subject that is no account', claims({ sub: 'system:admin' })),
  refused(
    'bound to a pod that never was',
    bound((k) => ({ ...k, pod: { name: 'ghost', uid: 'x' } })),
  ),
  refused(
    'bound to a secret that never was',
    bound((k) => ({ ...k, secret: { name: 'ghost', uid: 'x' } })),
  ),
  refused(
    'bound to a node that never was',
    bound((k) => ({ ...k, node: { name: 'ghost', uid: 'x' } })),
  ),
  refused('claims that are a list', { claims: () => '[]' }),
  refused('claims that are cut off', { claims: (old) => JSON.stringify(old).slice(0, -1) }),
  refused('claims with words behind', { claims: (old) => JSON.stringify(old) + 'x' }),
  ...['=', '==', '\u0021', '.', 'A', '.e30'].map((end) =>
    refused(`${JSON.stringify(end)} behind the token`, { finish: (t) => t + end }),
  ),
  refused('padding inside', { finish: (t) => t.replace('.', '=.') }),
  refused('the signature cut', { finish: (t) => t.slice(0, -4) }),
  refused('no signature', { finish: (t) => t.slice(0, t.lastIndexOf('.') + 1) }),
  refused('two parts', { finish: (t) => t.slice(0, t.lastIndexOf('.')) }),
  refused('a space inside', { finish: (t) => t.replace('.', '. ') }),
  refused('base64 of the other alphabet', { finish: (t) => t.replaceAll('-', '+').replaceAll('_', '/') + '+/' }),
  refused('claims exchanged under a signature', {
    finish: (t) => t.replace(/\.[^.]+\./, `.${Buffer.from('{}').toString('base64url')}.`),
  }),
  refused('as JSON', {
    finish: (t) => JSON.stringify({ payload: t.split('.')[1], protected: t.split('.')[0], signature: t.split('.')[2] }),
  }),
  ...['x', 'null', 'undefined', 'constructor', '__proto__', '..', '...', 'a.b.c', 'A'.repeat(8_000)].map((token) =>
    row('a token that is none', 'anonymous', SECRET, REFUSED, bearer(token)),
  ),
  ...['Basic YWRtaW46YWRtaW4=', 'Negotiate abc', 'Digest x', 'Token x', 'Bearer', 'Bearer '].map((value) =>
    row(`the scheme ${value.split(' ')[0]} is nobody’s`, 'anonymous', SECRET, '403 Forbidden', {
      headers: { Authorization: value },
    }),
  ),
  row('the scheme is case-insensitive', 'reader', SECRET, '200', (world) => ({
    headers: { Authorization: `bEaReR ${world.tokenOf('reader')}` },
  })),
  row('a token in the query is none', 'anonymous', `${SECRET}?access_token=x&token=x`, '403 Forbidden'),
  outlived('a token of an account that lives', '200', (world, name) => world.token('a', name)),
  outlived('an account that was deleted', REFUSED, async (world, name) => {
    const token = await world.token('a', name)
    await remove(world, `${ACCOUNTS}/${name}`)
    return token
  }),
  outlived('an account that was deleted and made again', REFUSED, async (world, name) => {
    const token = await world.token('a', name)
    await remove(world, `${ACCOUNTS}/${name}`)
    await world.make(ACCOUNTS, { metadata: { name } })
    return token
  }),
  outlived('bound to a secret that lives', '200', (world, name) => boundTo(world, name, 'Secret', name)),
  outlived('bound to a pod that lives', '200', (world, name) => boundTo(world, name, 'Pod', name)),
  outlived('bound to a secret that was deleted', REFUSED, async (world, name) => {
    const token = await boundTo(world, name, 'Secret', name)
    await remove(world, `/api/v1/namespaces/a/secrets/${name}`)
    return token
  }),
  outlived('bound to a secret that was made again', REFUSED, async (world, name) => {
    const token = await boundTo(world, name, 'Secret', name)
    await remove(world, `/api/v1/namespaces/a/secrets/${name}`)
    await world.make('/api/v1/namespaces/a/secrets', { metadata: { name } })
    return token
  }),
  outlived('bound to a pod that was deleted', REFUSED, async (world, name) => {
    const token = await boundTo(world, name, 'Pod', name)
    await remove(world, `/api/v1/namespaces/a/pods/${name}`)
    return token
  }),
  outlived('bound to a pod that was made again', '401 Unauthorized', async (world, name) => {
    const token = await boundTo(world, name, 'Pod', name)
    await remove(world, `/api/v1/namespaces/a/pods/${name}`)
    await boundTo(world, name, 'Pod', name)
    return token
  }),
  outlived('bound to a node that lives', '200', (world, name) => boundToNode(world, name)),
  outlived('bound to a node that was deleted', '401 Unauthorized', async (world, name) => {
    const token = await boundToNode(world, name)
    await remove(world, `/api/v1/nodes/${name}`)
    return token
  }),
  outlived('bound to a node that was made again', '401 Unauthorized', async (world, name) => {
    const token = await boundToNode(world, name)
    await remove(world, `/api/v1/nodes/${name}`)
    await world.make('/api/v1/nodes', { metadata: { name } })
    return token
  }),
  outlived('a Secret of a token that lives', '200', secretToken),
  outlived('a Secret of a token that was deleted', '401 Unauthorized', async (world, name) => {
    const token = await secretToken(world, name)
    await remove(world, `/api/v1/namespaces/a/secrets/${name}`)
    return token
  }),
  outlived('a Secret of a token whose account was made again', '401 Unauthorized', async (world, name) => {
    const token = await secretToken(world, name)
    await remove(world, `${ACCOUNTS}/${name}`)
    await world.make(ACCOUNTS, { metadata: { name } })
    return token
  }),
  // duplicate members, of which JSON parsers may choose either
  ...['iss', 'aud', 'exp', 'sub', 'kubernetes.io'].map((name) =>
    refused(`the claim ${name} twice`, {
      claims: (old) => JSON.stringify(old).replace('{', `{${JSON.stringify(name)}:${JSON.stringify(old[name])},`),
    }),
  ),
  refused('a claim that nobody reads twice', {
    claims: (old) => JSON.stringify(old).replace('{', '{"x":1,"x":2,'),
  }),
  refused('the name of the account twice', {
    claims: (old) => JSON.stringify(old).replace('"serviceaccount":{', '"serviceaccount":{"name":"owner",'),
  }),
  refused('the claims of Kubernetes under a name in escapes', {
    claims: (old) =>
      JSON.stringify(old).replace(
        '{',
        '{"kubernetes\\u002eio":{"namespace":"a","serviceaccount":{"name":"owner","uid":"x"}},',
      ),
  }),
  ...['alg', 'kid'].map((name) =>
    refused(`${name} twice in the header`, {
      header: (old) => JSON.stringify(old).replace('{', `{${JSON.stringify(name)}:${JSON.stringify(old[name])},`),
    }),
  ),
  refused('an algorithm beside another one', {
    header: (old) => JSON.stringify(old).replace('{', '{"alg":"none",'),
  }),
  refused('claims in other letters', { claims: ({ iss, ...old }) => ({ ...old, ISS: iss }) }),
  accepted('without an audience, whatever is called almost so', {
    claims: ({ aud, ...old }) => ({ ...old, Aud: aud }),
  }),
  refused('a header in other letters', { header: ({ alg, ...old }) => ({ ...old, ALG: alg }) }),
  refused('claims behind a mark of octets', { claims: (old) => `\ufeff${JSON.stringify(old)}` }),
  refused('claims with a comment', { claims: (old) => `/* */${JSON.stringify(old)}` }),
  refused('a header with words behind', { header: (old) => `${JSON.stringify(old)}x` }),
  refused('a header that is a list', { header: () => '["alg"]' }),
  accepted('a header nested a hundred times, where nobody reads', {
    header: (old) => ({ ...old, x: JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown }),
  }),
  refused('an expiry of a hundred thousand digits', {
    claims: (old) => JSON.stringify(old).replace(/"exp":\d+/, `"exp":${'9'.repeat(100_000)}`),
  }),
  accepted('claims with blanks around', { claims: (old) => ` ${JSON.stringify(old)}\n` }),
  accepted('a claim that nobody reads', claims({ x: { y: [1] } })),
  outlived('an audience of its own does not enter', REFUSED, (world, name) =>
    world.token('a', name, { audiences: ['vault'] }),
  ),
]
