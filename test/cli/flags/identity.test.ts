/** Converts kube-apiserver's authentication flags to settings of the Worker. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { identityOptions } from '../../../src/cli/flags/identity.ts'
import { CannotStart } from '../../../src/cli/start/options.ts'

const directory = mkdtempSync(join(tmpdir(), 'kedge-identity-'))
const file = (text: string): string => {
  const path = join(directory, `${crypto.randomUUID()}.yaml`)
  writeFileSync(path, text)
  return path
}
const issuer = { 'oidc-issuer-url': 'https://a.example', 'oidc-client-id': 'kedge' }
const mappings = (flags: Parameters<typeof identityOptions>[0]) =>
  JSON.parse(identityOptions({ ...issuer, ...flags })!.settings['KEDGE_AUTHENTICATION_CONFIG']!).jwt[0]

test('without flags there are no settings', () => {
  expect(identityOptions({})).toBeUndefined()
})

describe('--oidc-*', () => {
  test.each<[string, Parameters<typeof identityOptions>[0], object]>([
    ['a name has the issuer before it', {}, { claim: 'sub', prefix: 'https://a.example#' }],
    ['an address has not', { 'oidc-username-claim': 'email' }, { claim: 'email', prefix: '' }],
    ['- is no prefix', { 'oidc-username-prefix': '-' }, { claim: 'sub', prefix: '' }],
    ['a colon is a prefix', { 'oidc-username-prefix': ':' }, { claim: 'sub', prefix: ':' }],
    [
      '- is no prefix of an address',
      { 'oidc-username-claim': 'email', 'oidc-username-prefix': '-' },
      { claim: 'email', prefix: '' },
    ],
    [
      'an address may have one',
      { 'oidc-username-claim': 'email', 'oidc-username-prefix': 'a:' },
      { claim: 'email', prefix: 'a:' },
    ],
    ['a dash and more is a prefix', { 'oidc-username-prefix': '-:' }, { claim: 'sub', prefix: '-:' }],
    ['a prefix', { 'oidc-username-prefix': 'a:' }, { claim: 'sub', prefix: 'a:' }],
  ])('%s', (_, flags, username) => {
    expect(mappings(flags).claimMappings).toEqual({ username })
  })

  test('groups, required claims, an authority, algorithms', () => {
    const flags = {
      'oidc-groups-claim': 'roles',
      'oidc-groups-prefix': 'g:',
      'oidc-required-claim': ['hd=example.com', 'a=b=c'],
      'oidc-ca-file': file('PEM'),
    }
    const { issuer: made, claimMappings, claimValidationRules } = mappings(flags)
    expect(made).toEqual({ url: 'https://a.example', audiences: ['kedge'], certificateAuthority: 'PEM' })
    expect(claimMappings.groups).toEqual({ claim: 'roles', prefix: 'g:' })
    expect(claimValidationRules).toEqual([
      { claim: 'hd', requiredValue: 'example.com' },
      { claim: 'a', requiredValue: 'b=c' },
    ])
    expect(identityOptions(issuer)!.settings['KEDGE_OIDC_SIGNING_ALGS']).toBe('RS256')
    const algorithms = identityOptions({ ...issuer, 'oidc-signing-algs': ['ES256', 'PS256'] })!
    expect(algorithms.settings['KEDGE_OIDC_SIGNING_ALGS']).toBe('ES256,PS256')
  })
})

const configured = (flags: Parameters<typeof identityOptions>[0]) =>
  JSON.parse(identityOptions(flags)!.settings['KEDGE_AUTHORIZATION_CONFIG']!).authorizers

describe('--authorization-*', () => {
  test('modes, in their order', () => {
    expect(configured({ 'authorization-mode': ['Node,RBAC'] })).toEqual([
      { type: 'Node', name: 'node' },
      { type: 'RBAC', name: 'rbac' },
    ])
  })

  test('a webhook', () => {
    const flags = {
      'authorization-mode': ['Webhook', 'RBAC'],
      'authorization-webhook-config-file': '/etc/kc',
      'authorization-webhook-cache-authorized-ttl': 60,
      'authorization-webhook-cache-unauthorized-ttl': 0,
    }
    expect(configured(flags)[0]).toEqual({
      type: 'Webhook',
      name: 'default',
      webhook: {
        authorizedTTL: '60s',
        cacheUnauthorizedRequests: false,
        timeout: '30s',
        failurePolicy: 'NoOpinion',
        subjectAccessReviewVersion: 'v1beta1',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/etc/kc' },
      },
    })
  })

  test('AlwaysAllow turns anonymous authentication off', () => {
    expect(identityOptions({ 'authorization-mode': ['AlwaysAllow'] })!.settings['KEDGE_ANONYMOUS_AUTH']).toBe(
      'default-0',
    )
  })
})

test('files', () => {
  const [config, tokens] = [file('apiVersion: x'), file('t,anna,1')]
  expect(
    identityOptions({ 'authentication-config': config, 'token-auth-file': tokens, 'anonymous-auth': 'false' }),
  ).toEqual({
    settings: {
      KEDGE_AUTHENTICATION_CONFIG: 'apiVersion: x',
      KEDGE_TOKEN_AUTH_FILE: 't,anna,1',
      KEDGE_ANONYMOUS_AUTH: '0',
    },
    files: { authentication: config },
  })
})

test.each<[Parameters<typeof identityOptions>[0], string]>([
  [
    { 'oidc-issuer-url': 'https://a.example' },
    'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
  ],
  [{ ...issuer, 'authentication-config': '/x' }, 'authentication-config file and oidc-* flags are mutually exclusive'],
  [{ ...issuer, 'oidc-required-claim': ['=x'] }, '--oidc-required-claim wants KEY=VALUE, not "=x".'],
  [{ 'authorization-mode': ['Foo'] }, 'authorization-mode "Foo" is not a valid mode'],
  [{ 'authorization-mode': ['RBAC,RBAC'] }, 'has mode specified more than once'],
  [{ 'authorization-mode': ['Webhook'] }, "authorization-mode Webhook's authorization config file not passed"],
  [{ 'authorization-webhook-version': 'v1' as const }, 'without mode Webhook'],
  [
    { 'authorization-config': '/x', 'authorization-mode': ['RBAC'] },
    '--authorization-config can not be specified when',
  ],
  [{ 'authentication-config': '/nonexistent/file' }, '/nonexistent/file cannot be read'],
])('%o', (flags, why) => {
  expect(() => identityOptions(flags)).toThrow(CannotStart)
  expect(() => identityOptions(flags)).toThrow(why)
})
