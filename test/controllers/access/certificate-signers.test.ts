import { expect, test } from 'vitest'
import { signerProblem } from '../../../src/controllers/access/certificate-signers.ts'
import type { CertificateRequest } from '../../../src/x509/certificate-request.ts'

const NODE = ['client auth', 'digital signature', 'key encipherment']
const SERVING = ['digital signature', 'key encipherment', 'server auth']
const NONE = { dnsNames: [], emails: [], addresses: [], uris: [] }

const request = (more: Partial<CertificateRequest> = {}, names: object = {}): CertificateRequest =>
  ({
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    alternativeNames: { ...NONE, ...names },
    ...more,
  }) as never

test.each<[string, CertificateRequest, readonly string[], string | undefined]>([
  ['example.com/mine', request(), [], 'not ours'],
  ['kubernetes.io/legacy-unknown', request(), ['anything'], undefined],
  ['kubernetes.io/kube-apiserver-client', request({ commonName: 'eve' }), ['client auth'], undefined],
  [
    'kubernetes.io/kube-apiserver-client',
    request(),
    ['server auth', 'client auth'],
    'invalid usage for client certificate: server auth',
  ],
  [
    'kubernetes.io/kube-apiserver-client',
    request(),
    ['digital signature'],
    'missing required usage for client certificate: client auth',
  ],
  ['kubernetes.io/kube-apiserver-client-kubelet', request(), NODE, undefined],
  ['kubernetes.io/kube-apiserver-client-kubelet', request(), ['client auth', 'digital signature'], undefined],
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    request(),
    ['client auth'],
    'usages did not match [client auth digital signature key encipherment]',
  ],
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    request({ organizations: ['x'] }),
    NODE,
    'subject organization is not system:nodes',
  ],
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    request({ commonName: 'a' }),
    NODE,
    'subject common name does not begin with system:node:',
  ],
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    request({}, { dnsNames: ['a'] }),
    NODE,
    'DNS subjectAltNames are not allowed',
  ],
  [
    'kubernetes.io/kube-apiserver-client-kubelet',
    request({}, { addresses: [new Uint8Array(4)] }),
    NODE,
    'IP subjectAltNames are not allowed',
  ],
  ['kubernetes.io/kubelet-serving', request({}, { dnsNames: ['a'] }), SERVING, undefined],
  [
    'kubernetes.io/kubelet-serving',
    request({}, { addresses: [new Uint8Array(4)] }),
    ['digital signature', 'server auth'],
    undefined,
  ],
  ['kubernetes.io/kubelet-serving', request(), SERVING, 'DNS or IP subjectAltName is required'],
  [
    'kubernetes.io/kubelet-serving',
    request({}, { dnsNames: ['a'], uris: ['b'] }),
    SERVING,
    'URI subjectAltNames are not allowed',
  ],
  [
    'kubernetes.io/kubelet-serving',
    request({}, { dnsNames: ['a'] }),
    NODE,
    'usages did not match [digital signature key encipherment server auth]',
  ],
])('%s', (signer, content, usages, problem) => {
  expect(signerProblem(signer, content, usages)).toBe(problem)
})
