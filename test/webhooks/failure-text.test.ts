import { expect, test } from 'vitest'
import type { CallFailure } from '../../src/webhooks/failure-text.ts'
import { DEADLINE, failureText, LEGACY_COMMON_NAME } from '../../src/webhooks/failure-text.ts'

const wrongName = (host: string, names: string): Partial<CallFailure> => ({
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  host,
  names,
})
const untrusted = 'tls: failed to verify certificate: x509: '

test.each<[Partial<CallFailure>, string]>([
  [{ code: 'ECONNREFUSED', address: '127.0.0.1:9' }, 'dial tcp 127.0.0.1:9: connect: connection refused'],
  [{ code: 'EHOSTUNREACH', address: '[fd00::1]:443' }, 'dial tcp [fd00::1]:443: connect: no route to host'],
  [{ code: 'ENOTFOUND', host: 'hook.example' }, 'dial tcp: lookup hook.example: no such host'],
  [{ code: 'ECONNRESET', message: 'socket hang up' }, 'EOF'],
  [{ code: DEADLINE }, 'context deadline exceeded'],
  [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, `${untrusted}certificate signed by unknown authority`],
  [{ code: 'CERT_HAS_EXPIRED' }, `${untrusted}certificate has expired or is not yet valid`],
  [
    wrongName('hook.example', 'DNS:a.example, DNS:b.example'),
    `${untrusted}certificate is valid for a.example, b.example, not hook.example`,
  ],
  [
    wrongName('hook.example', 'IP Address:10.0.0.1'),
    `${untrusted}certificate is not valid for any names, but wanted to match hook.example`,
  ],
  [wrongName('10.0.0.2', 'IP Address:10.0.0.1'), `${untrusted}certificate is valid for 10.0.0.1, not 10.0.0.2`],
  [
    wrongName('10.0.0.2', 'DNS:a.example'),
    `${untrusted}cannot validate certificate for 10.0.0.2 because it doesn't contain any IP SANs`,
  ],
  [{ code: LEGACY_COMMON_NAME }, `${untrusted}certificate relies on legacy Common Name field, use SANs instead`],
  [{ code: 'toString', message: 'as Node says it' }, 'as Node says it'],
])('%j', (failure, text) => {
  expect(failureText({ code: '', message: '', ...failure })).toBe(text)
})
