/** What kube-apiserver 1.36.3 says of AuthenticationConfigurations: authentication-configurations.json has its texts. */
import { describe, expect, test } from 'vitest'
import { BadConfiguration } from '../../../src/authentication/configuration-text.ts'
import { issuersOf } from '../../../src/authentication/issuers/issuers.ts'
import { compileIdentityExpression } from '../../../src/expressions/identity-expressions.ts'
import cases from './authentication-configurations.json' with { type: 'json' }
import texts from './authentication-texts.json' with { type: 'json' }

const OPTIONS = { ownIssuers: ['https://kubernetes.default.svc.cluster.local'], algorithms: ['RS256'] }
const WRONG = 'invalid authentication configuration: '

async function problemOf(text: string, options = OPTIONS): Promise<string> {
  try {
    await issuersOf(text, options, compileIdentityExpression)
    return ''
  } catch (error) {
    if (!(error instanceof BadConfiguration)) throw error
    return error.message.startsWith(WRONG) ? error.message.slice(WRONG.length) : error.message
  }
}

test.each(cases)('$case', async ({ configuration, error }) => {
  expect(await problemOf(JSON.stringify(configuration))).toBe(error)
})

/** How files are written (authentication-texts.json). */
test.each(texts)('$case', async ({ text, error }) => {
  expect(await problemOf(text)).toBe(error)
})

const jwt = {
  issuer: { url: 'https://a.example', audiences: ['a'] },
  claimMappings: { username: { expression: '"a"' } },
}
const of = (more: object) =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt: [jwt], ...more })

describe('in words of our own', () => {
  test.each([
    ['YAML', 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt: []\n', ''],
    [
      'a field of another type',
      of({ jwt: [{ ...jwt, issuer: { ...jwt.issuer, url: 7 } }] }),
      /^jwt\[0\]\.issuer\.url: /,
    ],
    [
      'an egress, which there is none of here',
      of({ jwt: [{ ...jwt, issuer: { ...jwt.issuer, egressSelectorType: 'cluster' } }] }),
      'oidc: egress lookup required with egress selector type "cluster"',
    ],
  ])('%s', async (_, text, problem) => {
    if (typeof problem === 'string') expect(await problemOf(text)).toBe(problem)
    else expect(await problemOf(text)).toMatch(problem)
  })

  test('--anonymous-auth beside the field', async () => {
    const text = of({ anonymous: { enabled: true } })
    expect(await problemOf(text, { ...OPTIONS, anonymousAuth: true } as typeof OPTIONS)).toBe(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  })
})
