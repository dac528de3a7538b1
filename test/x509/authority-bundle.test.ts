import { expect, test } from 'vitest'
import { authorityProblem } from '../../src/x509/authority-bundle.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`

test.each<[what: string, bundle: string | undefined, problem: string | undefined]>([
  ['nothing', undefined, undefined],
  ['no PEM', 'abc', 'unable to load root certificates: unable to parse bytes as PEM block'],
  ['a key', block('PUBLIC KEY', 'AAAA'), 'unable to load root certificates: no valid certificate authority data seen'],
  [
    'what is no certificate',
    block('CERTIFICATE', 'AAAA'),
    'unable to load root certificates: failed to parse certificate: x509: malformed certificate',
  ],
])('%s', (_, bundle, problem) => {
  expect(authorityProblem(bundle && base64(bundle))).toBe(problem)
})
