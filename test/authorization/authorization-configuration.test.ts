/** What kube-apiserver 1.36.3 says of AuthorizationConfigurations: authorization-configurations.json has its texts. */
import { expect, test } from 'vitest'
import { BadConfiguration } from '../../src/authentication/configuration-text.ts'
import { readAuthorizationConfiguration } from '../../src/authorization/authorization-configuration.ts'
import { compileIdentityExpression } from '../../src/expressions/identity-expressions.ts'
import cases from './authorization-configurations.json' with { type: 'json' }

const problemOf = (text: string): Promise<string> =>
  readAuthorizationConfiguration(text, compileIdentityExpression).then(
    () => '',
    (error: unknown) => {
      if (!(error instanceof BadConfiguration)) throw error
      return error.message
    },
  )

test.each(cases)('$case', async ({ configuration, error }) => {
  expect(await problemOf(JSON.stringify(configuration))).toBe(error)
})

const of = (...authorizers: readonly (object | null)[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthorizationConfiguration', authorizers })

test.each([
  ['an empty file', '', 'authorizers: Required value: at least one authorization mode must be defined'],
  ['another name', of({ type: 'RBAC', name: 'roles' }), 'expected name rbac for authorizer RBAC instead of roles'],
  [
    'a timeout that is none',
    of({ type: 'Webhook', name: 'a', webhook: { timeout: '3' } }),
    'failed to load AuthorizationConfiguration from file: authorizers[0].webhook.timeout: time: missing unit in duration "3"',
  ],
  [
    'an empty duration',
    of({ type: 'Webhook', name: 'a', webhook: { timeout: '3s', authorizedTTL: '' } }),
    'failed to load AuthorizationConfiguration from file: authorizers[0].webhook.authorizedTTL: time: invalid duration ""',
  ],
  [
    'a duration that is null',
    of({ type: 'Webhook', name: 'a', webhook: { timeout: null } }),
    'failed to load AuthorizationConfiguration from file: authorizers[0].webhook.timeout: time: invalid duration ""',
  ],
  [
    'an unknown field beside a value of another type',
    of({ type: 'RBAC', name: 'rbac', more: 1, webhook: { timeout: 'x' } }),
    'failed to load AuthorizationConfiguration from file: authorizers[0].webhook.timeout: time: invalid duration "x"',
  ],
  ['an authorizer that is null', of(null), 'authorizers[0].type: Required value'],
  ['an older version', of({ type: 'RBAC', name: 'rbac' }).replace('v1beta1', 'v1alpha1'), ''],
])('%s', async (_, text, problem) => {
  expect(await problemOf(text)).toBe(problem)
})
