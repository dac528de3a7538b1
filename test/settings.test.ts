import { platformClock } from '../src/base/clock.ts'
import { generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Env } from '../src/env.ts'
import { serve } from '../src/server.ts'
import { BadSettings, problemOf, settingsOf } from '../src/settings.ts'
import { elements, readElement, sequence, TAG, write } from '../src/x509/der.ts'
import { pemText } from '../src/x509/pem.ts'
import { signsForItself } from '../src/x509/private-jwk.ts'
import { authorityBit, CN, makeCertificate } from './x509/make-certificate.ts'

const { pem, key: authorityKey } = await makeCertificate(new Date(), {
  subject: [[CN, 'kubernetes']],
  extensions: [authorityBit()],
})
const { pem: leaf, key: leafKey } = await makeCertificate(new Date(), { subject: [[CN, 'nobody']] })
const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits }).privateKey
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = (key: { export(options: { format: 'jwk' }): object }) => JSON.stringify(key.export({ format: 'jwk' }))
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
// the public point belongs to another key
const otherPoint = { ...ec.privateKey.export({ format: 'jwk' }), ...publicPoint(curve('P-256')) }
function publicPoint(key: KeyObject): object {
  const { x, y } = key.export({ format: 'jwk' })
  return { x, y }
}
/** An ECPrivateKey without its optional public key, the last field (RFC 5915 §3). */
function withoutPublicHalf(key: Uint8Array): Uint8Array {
  const [version, algorithm, wrapped] = elements(readElement(key).content)
  const parts = elements(readElement(wrapped!.content).content).filter(({ tag }) => tag !== 0xa1)
  return sequence(
    version!.whole,
    algorithm!.whole,
    write(TAG.octetString, sequence(...parts.map(({ whole }) => whole))),
  )
}
const pkcs8 = pemOf(ec.privateKey)
const ownKey = pemText('PRIVATE KEY', authorityKey)
const jwkWith = (key: KeyObject, changed: object) => JSON.stringify({ ...key.export({ format: 'jwk' }), ...changed })
const TOKEN = 'x'.repeat(32)

const RULES = {
  token: 'KEDGE_ADMIN_TOKEN must have at least 32 characters, printable ASCII without blanks',
  ca: 'KEDGE_CA must be certificates in PEM',
  key: 'KEDGE_CA_KEY must be one private key in PEM (PKCS #8): RSA of at least 2048 bits, or EC on P-256, P-384 or P-521 with its public key',
  otherKey: 'KEDGE_CA_KEY is not the key of the first certificate of KEDGE_CA',
  proxies: 'KEDGE_REQUESTHEADER_CA must be certificates in PEM',
  sa: 'KEDGE_SA_KEY must be a private JWK, whole: RSA of at least 2048 bits, or EC on P-256, P-384 or P-521; its alg must fit',
  issuer: 'KEDGE_ISSUER must be a URL, or a name without colons and blanks; more of them behind commas, each once',
  range:
    'KEDGE_SERVICE_RANGE must be a CIDR, or one of IPv4 and one of IPv6 with a comma between, of 8 addresses at least',
  lifetime: 'KEDGE_EVENT_TTL must be a duration of a second to a year, as 1h0m0s, or 0',
  requestTime: 'KEDGE_REQUEST_TIMEOUT must be a duration of a second to a day, as 1m0s',
  audiences: 'KEDGE_API_AUDIENCES must be names without blanks, with commas between, each once',
  origins:
    'KEDGE_CORS_ALLOWED_ORIGINS must be regular expressions with commas between, each with ^ or // before the host, and $ or : after it',
  ports:
    'KEDGE_NODE_PORT_RANGE must be a range of ports: 30000-32767, 30000+2767 (so many after the first) or one port',
  advertise: 'KEDGE_ADVERTISE must be HOST or HOST:PORT',
  services: 'KEDGE_SERVICES must be NAMESPACE/NAME:PORT=https://HOST, with commas between, each Service once',
  tenant: 'KEDGE_ROOT_TENANT must be of letters, digits and dashes, 63 at most',
}

const NO_SCHEDULER =
  'KEDGE_SCHEDULER_CONFIG is for a scheduler that does not run: KEDGE_WORKLOADS is not simulated, or KEDGE_CONTROLLERS leaves it out'
const SCHEDULER = '{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}'

describe('what is empty, short, unreadable or contradicts itself is refused', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ KEDGE_ADMIN_TOKEN: '' }, RULES.token],
    [{ KEDGE_ADMIN_TOKEN: 'x'.repeat(31) }, RULES.token],
    [{ KEDGE_ADMIN_TOKEN: `${TOKEN} ` }, RULES.token],
    [{ KEDGE_ADMIN_TOKEN: 7 }, 'KEDGE_ADMIN_TOKEN must be text'],
    [{ KEDGE_CA: '' }, RULES.ca],
    [{ KEDGE_CA: 'garbage' }, RULES.ca],
    [{ KEDGE_CA: pkcs8 }, RULES.ca],
    [{ KEDGE_CA: pem.replace(/[A-Za-z0-9]{20}/, '') }, RULES.ca],
    [{ KEDGE_AUDIT_POLICY: '{}' }, 'KEDGE_AUDIT_POLICY cannot be read'],
    [{ KEDGE_ENABLE_ADMISSION_PLUGINS: 'Foo' }, 'KEDGE_ENABLE_ADMISSION_PLUGINS cannot be read'],
    [{ KEDGE_ADMISSION_CONFIG: '{' }, 'KEDGE_ADMISSION_CONFIG cannot be read'],
    [
      { KEDGE_ENABLE_ADMISSION_PLUGINS: 'LimitRanger', KEDGE_DISABLE_ADMISSION_PLUGINS: 'LimitRanger' },
      'KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS and KEDGE_ADMISSION_CONFIG do not go together',
    ],
    [
      { KEDGE_ENABLE_ADMISSION_PLUGINS: 'EventRateLimit' },
      'KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS and KEDGE_ADMISSION_CONFIG do not go together',
    ],
    [
      { KEDGE_AUDIT_LOG_MODE: 'never' },
      'KEDGE_AUDIT_LOG_MODE must be one of batch, blocking, blocking-strict; ' +
        'KEDGE_AUDIT_LOG_MODE needs KEDGE_AUDIT_POLICY, which says what is written',
    ],
    [
      { KEDGE_AUDIT_CONSOLE: 'yes' },
      'KEDGE_AUDIT_CONSOLE must be 0 or 1; KEDGE_AUDIT_CONSOLE needs KEDGE_AUDIT_POLICY, which says what is written',
    ],
    [
      { KEDGE_AUDIT_WEBHOOK: '{"url": "https://audit.example/"}' },
      'KEDGE_AUDIT_WEBHOOK needs KEDGE_AUDIT_POLICY, which says what is sent',
    ],
    [
      { KEDGE_AUDIT_WEBHOOK: '{"url": "ftp://audit.example/"}' },
      'KEDGE_AUDIT_WEBHOOK must be JSON: {"url": …, "token": …, "mode": …}, of which url is needed; ' +
        'KEDGE_AUDIT_WEBHOOK needs KEDGE_AUDIT_POLICY, which says what is sent',
    ],
    [{ KEDGE_SERVICES: 'blue/hooks=https://hook.example.com' }, RULES.services],
    [{ KEDGE_SERVICES: 'blue/hooks:443=http://hook.example.com' }, RULES.services],
    [{ KEDGE_SERVICES: 'blue/hooks:443=https://a,blue/hooks:443=https://b' }, RULES.services],
    [
      { KEDGE_UNPINNED_HOSTS: 'https://hook.example.com' },
      'KEDGE_UNPINNED_HOSTS must be names of hosts with commas between',
    ],
    [{ KEDGE_VERBOSITY: '11' }, 'KEDGE_VERBOSITY must be a number from 0 to 10'],
    [{ KEDGE_CA_KEY: pkcs8 }, 'KEDGE_CA_KEY needs KEDGE_CA, whose key it is'],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: '' }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pkcs8 }, RULES.otherKey],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(curve('P-384')) }, RULES.otherKey],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(rsa(2048)) }, RULES.otherKey],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(rsa(1024)) }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(curve('secp256k1')) }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(generateKeyPairSync('ed25519').privateKey) }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemOf(generateKeyPairSync('x25519').privateKey) }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemText('PRIVATE KEY', withoutPublicHalf(authorityKey)) }, RULES.key],
    [
      { KEDGE_CA: leaf, KEDGE_CA_KEY: pemText('PRIVATE KEY', leafKey) },
      'KEDGE_CA_KEY signs for the first certificate of KEDGE_CA, which is no authority',
    ],
    [
      { KEDGE_CA: leaf + pem, KEDGE_REQUESTHEADER_CA: pem },
      'KEDGE_REQUESTHEADER_CA and KEDGE_CA have an authority in common: clients would be front proxies',
    ],
    [
      { KEDGE_CLIENT_CA: leaf + pem, KEDGE_REQUESTHEADER_CA: pem },
      'KEDGE_REQUESTHEADER_CA and KEDGE_CLIENT_CA have an authority in common: clients would be front proxies',
    ],
    [{ KEDGE_CLIENT_CA: '' }, 'KEDGE_CLIENT_CA must be certificates in PEM'],
    [{ KEDGE_ROOT_CA: 'garbage' }, 'KEDGE_ROOT_CA must be certificates in PEM'],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pem }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pemText('PRIVATE KEY', Uint8Array.of(0x30, 3, 2, 9, 0)) }, RULES.key],
    [{ KEDGE_CA: pem, KEDGE_CA_KEY: pkcs8 + pkcs8 }, RULES.key],
    [{ KEDGE_REQUESTHEADER_CA: '' }, RULES.proxies],
    [{ KEDGE_SA_KEY: '' }, RULES.sa],
    [{ KEDGE_SA_KEY: '{' }, RULES.sa],
    [{ KEDGE_SA_KEY: jwk(ec.publicKey) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwk(rsa(1024)) }, RULES.sa],
    [{ KEDGE_SA_KEY: '{"kty":"oct","k":"AAAA"}' }, RULES.sa],
    [{ KEDGE_SA_KEY: jwk(curve('secp256k1')) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwk(generateKeyPairSync('ed25519').privateKey) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(curve('P-256'), { crv: 'P-384' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(curve('P-256'), { d: '' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(curve('P-256'), { alg: 'ES384' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(rsa(2048), { alg: 'none' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(rsa(2048), { alg: 'HS256' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(rsa(2048), { d: '' }) }, RULES.sa],
    [{ KEDGE_SA_KEY: jwkWith(rsa(2048), { p: undefined }) }, RULES.sa],
    [{ KEDGE_ISSUER: '' }, RULES.issuer],
    [{ KEDGE_ISSUER: 'a:// b' }, RULES.issuer],
    [{ KEDGE_ISSUER: 'https://a,https://a' }, RULES.issuer],
    [{ KEDGE_ISSUER: 'https://a,' }, RULES.issuer],
    [
      { KEDGE_SA_MAX_TOKEN_SECONDS: '3599' },
      'KEDGE_SA_MAX_TOKEN_SECONDS must be seconds, between 1 hour and 2^32 seconds',
    ],
    [{ KEDGE_SA_EXTEND_TOKENS: 'no' }, 'KEDGE_SA_EXTEND_TOKENS must be 0 or 1'],
    [{ KEDGE_SA_SIGNER: 'https://a' }, 'KEDGE_SA_SIGNER must be JSON: {"url": "https://…", …}'],
    [{ KEDGE_SERVICE_RANGE: '' }, RULES.range],
    [{ KEDGE_SERVICE_RANGE: '10.0.0.0/8,garbage' }, RULES.range],
    [{ KEDGE_SERVICE_RANGE: '10.0.0.0/8,11.0.0.0/8' }, RULES.range],
    [{ KEDGE_SERVICE_RANGE: '10.0.0.0/30' }, RULES.range],
    [{ KEDGE_SERVICE_RANGE: '10.0.0.0/16,fd00::/126' }, RULES.range],
    [{ KEDGE_RUNTIME_CONFIG: 'nonsense' }, 'KEDGE_RUNTIME_CONFIG cannot be read'],
    [{ KEDGE_FEATURE_GATES: 'NoGate=true' }, 'KEDGE_FEATURE_GATES cannot be read'],
    [{ KEDGE_HISTORY_SECONDS: '5m' }, 'KEDGE_HISTORY_SECONDS cannot be read'],
    [{ KEDGE_WORKLOADS: 'some' }, 'KEDGE_WORKLOADS must be one of off, controllers, simulated'],
    [{ KEDGE_WORKLOADS: 'simulated', KEDGE_CONTROLLERS: '*,-red' }, 'KEDGE_CONTROLLERS cannot be read'],
    [{ KEDGE_WORKLOADS: 'simulated', KEDGE_SCHEDULER_CONFIG: 'null' }, 'KEDGE_SCHEDULER_CONFIG cannot be read'],
    [{ KEDGE_WORKLOADS: 'off', KEDGE_SCHEDULER_CONFIG: SCHEDULER }, NO_SCHEDULER],
    [{ KEDGE_WORKLOADS: 'controllers', KEDGE_SCHEDULER_CONFIG: SCHEDULER }, NO_SCHEDULER],
    [
      { KEDGE_WORKLOADS: 'simulated', KEDGE_CONTROLLERS: '*,-kube-scheduler', KEDGE_SCHEDULER_CONFIG: SCHEDULER },
      NO_SCHEDULER,
    ],
    [{ KEDGE_CONTROLLERS: '*' }, 'KEDGE_CONTROLLERS needs KEDGE_WORKLOADS, whose controllers it names'],
    [
      { KEDGE_MISSING_IMAGES: 'a b' },
      'KEDGE_MISSING_IMAGES must be images with commas between, each whole or a beginning and a star',
    ],
    [{ KEDGE_COUNT_WAKES: 'yes' }, 'KEDGE_COUNT_WAKES must be 0 or 1'],
    [{ KEDGE_MAX_REQUESTS_INFLIGHT: '0' }, 'KEDGE_MAX_REQUESTS_INFLIGHT must be a number of requests, at least 1'],
    [
      { KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT: '1e3' },
      'KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT must be a number of requests, at least 1',
    ],
    [{ KEDGE_EVENT_TTL: '3600' }, RULES.lifetime],
    [{ KEDGE_EVENT_TTL: '-1h' }, RULES.lifetime],
    [{ KEDGE_EVENT_TTL: '1ms' }, RULES.lifetime],
    [{ KEDGE_EVENT_TTL: '8785h' }, RULES.lifetime],
    [{ KEDGE_MIN_REQUEST_TIMEOUT: '0' }, 'KEDGE_MIN_REQUEST_TIMEOUT must be a number of seconds, at least 1'],
    [{ KEDGE_MIN_REQUEST_TIMEOUT: '1.5' }, 'KEDGE_MIN_REQUEST_TIMEOUT must be a number of seconds, at least 1'],
    [{ KEDGE_REQUEST_TIMEOUT: '0' }, RULES.requestTime],
    [{ KEDGE_REQUEST_TIMEOUT: '-1s' }, RULES.requestTime],
    [{ KEDGE_REQUEST_TIMEOUT: '25h' }, RULES.requestTime],
    [{ KEDGE_REQUEST_TIMEOUT: '60' }, RULES.requestTime],
    [
      { KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS: '5m' },
      'KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS must be a whole number of seconds of 64 bits',
    ],
    [
      { KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS: '9223372036854775808' },
      'KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS must be a whole number of seconds of 64 bits',
    ],
    [
      { KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES: 'InternalIP,' },
      'KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES must be types of addresses, as InternalIP, with commas between',
    ],
    [{ KEDGE_CONTROLLER_MEMORY: '40m' }, 'KEDGE_CONTROLLER_MEMORY must be a number of MiB, at least 1'],
    [{ KEDGE_MAX_WATCHES: '0' }, 'KEDGE_MAX_WATCHES must be a number of watches, at least 1'],
    [{ KEDGE_STREAM_ENCODING: 'gzip' }, 'KEDGE_STREAM_ENCODING must be identity or nothing'],
    [{ KEDGE_ADVERTISE: '' }, RULES.advertise],
    [{ KEDGE_ADVERTISE: 'https://a' }, RULES.advertise],
    [{ KEDGE_ADVERTISE: 'a:65536' }, RULES.advertise],
    [{ KEDGE_ADVERTISE: 'a:' }, RULES.advertise],
    [{ KEDGE_SERVICES: 'blue/hooks:70000=https://a' }, RULES.services],
    [{ KEDGE_AUDIT_LOG_MODE: 'batch' }, 'KEDGE_AUDIT_LOG_MODE needs KEDGE_AUDIT_POLICY, which says what is written'],
    [{ KEDGE_AUDIT_CONSOLE: '1' }, 'KEDGE_AUDIT_CONSOLE needs KEDGE_AUDIT_POLICY, which says what is written'],
    [{ KEDGE_ENCRYPTION_RESOURCES: 'secrets' }, 'KEDGE_ENCRYPTION_RESOURCES needs KEDGE_ENCRYPTION_KEYS'],
    [{ KEDGE_ROOT_TENANT: '' }, RULES.tenant],
    [{ KEDGE_ROOT_TENANT: 'a/b' }, RULES.tenant],
    [{ KEDGE_ADMIN_TOKN: TOKEN }, 'KEDGE_ADMIN_TOKN is no setting'],
    [{ KEDGE_API_AUDIENCES: 'a,' }, RULES.audiences],
    [{ KEDGE_API_AUDIENCES: 'a,a' }, RULES.audiences],
    [{ KEDGE_CORS_ALLOWED_ORIGINS: '.*' }, RULES.origins],
    [{ KEDGE_CORS_ALLOWED_ORIGINS: 'app.example.com$' }, RULES.origins],
    [{ KEDGE_CORS_ALLOWED_ORIGINS: '//app.example.com' }, RULES.origins],
    [{ KEDGE_CORS_ALLOWED_ORIGINS: '^https://a$,' }, RULES.origins],
    [{ KEDGE_NODE_PORT_RANGE: '' }, RULES.ports],
    [{ KEDGE_NODE_PORT_RANGE: '0-10' }, RULES.ports],
    [{ KEDGE_NODE_PORT_RANGE: '20-10' }, RULES.ports],
    [{ KEDGE_NODE_PORT_RANGE: '1-65536' }, RULES.ports],
    [{ KEDGE_NODE_PORT_RANGE: '65000+1000' }, RULES.ports],
    [{ KEDGE_ISSUER: '', KEDGE_ROOT_TENANT: '' }, `${RULES.issuer}; ${RULES.tenant}`],
  ])('%#: %j', (env, message) => {
    expect(problemOf(env)?.message).toBe(message)
    expect(() => settingsOf(env)).toThrow(BadSettings)
  })
})

test('operators are told what the parser said, of settings that are no secrets', () => {
  expect(problemOf({ KEDGE_FEATURE_GATES: 'NoGate=true' })?.details).toBe(
    'KEDGE_FEATURE_GATES cannot be read: unrecognized feature gate: NoGate',
  )
  expect(problemOf({ KEDGE_SA_KEY: 'my secret' })?.details).toBe(RULES.sa)
})

test('without any there are the defaults', () => {
  expect(settingsOf({ SHARDS: {} })).toMatchObject({
    administratorToken: undefined,
    authority: undefined,
    issuers: ['https://kubernetes.default.svc.cluster.local'],
    serviceRange: '10.96.0.0/16',
    countsWakes: false,
    streamEncoding: '',
    rootTenant: 'root',
  })
})

test.each(['P-256', 'P-384', 'P-521'])('keys on %s are good', async (namedCurve) => {
  const key = jwk(curve(namedCurve))
  expect(settingsOf({ KEDGE_SA_KEY: key }).serviceAccountKey).toBe(key)
  expect(await signsForItself(key)).toBe(true)
})

test('a key whose halves are not of one another does not sign for itself', async () => {
  const key = JSON.stringify(otherPoint)
  expect(problemOf({ KEDGE_SA_KEY: key })).toBeUndefined()
  expect(await signsForItself(key)).toBe(false)
})

test('what is switched off needs nothing else', () => {
  expect(problemOf({ KEDGE_AUDIT_CONSOLE: '0' })).toBeUndefined()
  expect(problemOf({ KEDGE_AUDIT_CONSOLE: '' })).toBeUndefined()
})

test('authorities of clients are added, and those that pods trust are replaced', () => {
  const other = `${leaf}\n`
  expect(settingsOf({ KEDGE_CA: pem })).toMatchObject({ clientAuthorities: pem, rootAuthorities: pem })
  expect(settingsOf({ KEDGE_CA: pem, KEDGE_CLIENT_CA: other, KEDGE_ROOT_CA: other })).toMatchObject({
    authority: pem,
    clientAuthorities: `${pem}\n${other}`,
    rootAuthorities: other,
  })
  expect(settingsOf({})).toMatchObject({ clientAuthorities: undefined, rootAuthorities: undefined })
})

test('good ones are parsed once for each environment', () => {
  const key = jwk(rsa(2048))
  const env = {
    KEDGE_ADMIN_TOKEN: TOKEN,
    KEDGE_CA: pem,
    KEDGE_CA_KEY: ownKey,
    KEDGE_SA_KEY: key,
    KEDGE_SERVICE_RANGE: '10.0.0.0/16,fd00::/108',
    KEDGE_FEATURE_GATES: '',
    KEDGE_HISTORY_SECONDS: '60,acme=120',
    KEDGE_ADVERTISE: '[::1]:6443',
  }
  expect(settingsOf(env)).toMatchObject({
    administratorToken: TOKEN,
    authority: pem,
    authorityKey: ownKey,
    serviceAccountKey: key,
    serviceRange: '10.0.0.0/16,fd00::/108',
    history: { standard: 60, tenants: new Map([['acme', 120]]) },
    advertise: '[::1]:6443',
  })
  expect(settingsOf(env)).toBe(settingsOf(env))
})

test('with bad ones every request is refused, and no value is told', async () => {
  // the code under test reads nothing else
  const env = { KEDGE_ADMIN_TOKEN: 'too-short' } as Env
  const execution = { waitUntil: () => {} } as unknown as ExecutionContext
  for (const path of ['/healthz', '/api/v1/pods', '/version']) {
    const request = new Request(`https://server${path}`, { headers: { Authorization: 'Bearer too-short' } })
    const response = await serve(request, env, execution, platformClock)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({
      kind: 'Status',
      code: 503,
      reason: 'ServiceUnavailable',
      message: `the settings of this server are wrong: ${RULES.token}`,
    })
  }
})
