import { describe, expect, test } from 'vitest'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from '../../../src/admission/plugins/certificates.ts'
import {
  bitString,
  contextTag,
  objectIdentifier,
  printable,
  sequence,
  unsignedInteger,
  write,
} from '../../../src/x509/der.ts'
import { pemText } from '../../../src/x509/pem.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const RBAC = 'rbac.authorization.k8s.io'
const rules = ['approve', 'sign', 'attest'].map((verb) => ({
  verbs: [verb],
  apiGroups: ['certificates.k8s.io'],
  resources: ['signers'],
  resourceNames: ['example.com/mine', 'whole.example.com/*'],
}))
const server = await serverWith({
  [`clusterroles.${RBAC}`]: [{ metadata: { name: 'signer' }, rules } as never],
  [`clusterrolebindings.${RBAC}`]: [
    {
      metadata: { name: 'signer' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'signer' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'eve' }],
    } as never,
  ],
})

const REQUESTS = 'certificatesigningrequests.certificates.k8s.io'
const refused = (why: string) => `403 ${REQUESTS} "r" is forbidden: ${why}`
const request = (signerName: string, more: object = {}) =>
  ({ metadata: { name: 'r' }, spec: { signerName }, ...more }) as never
const brief = (outcome: unknown) => (typeof outcome === 'string' ? outcome : 'taken')

describe('approval and signing are for signers that a user may act for', () => {
  test.each([
    ['example.com/mine', 'taken'],
    ['whole.example.com/any', 'taken'],
    ['example.com/other', refused('user not permitted to approve requests with signerName "example.com/other"')],
  ])('approval for %s', async (signer, expected) => {
    const asked = {
      at: `${REQUESTS}/approval`,
      operation: 'UPDATE',
      object: request('x'),
      oldObject: request(signer),
    } as const
    expect(brief(await outcomeOf(certificateApproval, server, asked))).toBe(expected)
  })

  const OTHER = refused('user not permitted to sign requests with signerName "example.com/other"')
  test.each<[string, string, object, object, string]>([
    ['a certificate', 'example.com/mine', { certificate: 'YQ==' }, {}, 'taken'],
    ['a certificate', 'example.com/other', { certificate: 'YQ==' }, {}, OTHER],
    ['a condition', 'example.com/other', { conditions: [{ type: 'Failed' }] }, {}, OTHER],
    ['the same', 'example.com/other', { certificate: 'YQ==' }, { certificate: 'YQ==' }, 'taken'],
  ])('%s for %s', async (_what, signer, status, old, expected) => {
    const [object, oldObject] = [request(signer, { status }), request(signer, { status: old })]
    const asked = { at: `${REQUESTS}/status`, operation: 'UPDATE', object, oldObject } as const
    expect(brief(await outcomeOf(certificateSigning, server, asked))).toBe(expected)
  })

  test.each([
    [certificateApproval, 'UPDATE', REQUESTS],
    [certificateApproval, 'UPDATE', `${REQUESTS}/status`],
    [certificateSigning, 'UPDATE', `${REQUESTS}/approval`],
    [certificateSubjectRestriction, 'UPDATE', REQUESTS],
    [clusterTrustBundleAttest, 'DELETE', 'clustertrustbundles.certificates.k8s.io'],
  ] as const)('$name is not asked about %s of %s', async (plugin, operation, at) => {
    expect(await outcomeOf(plugin, server, { operation, at, object: {} })).toBe('not asked')
  })
})

/** A certificate request in PEM for an organization. The plugin does not check its signature. */
function pemOf(organization: string): string {
  const name = write(0x31, sequence(objectIdentifier('2.5.4.10'), printable(organization)))
  const key = sequence(sequence(objectIdentifier('1.3.101.112')), bitString(new Uint8Array(32)))
  const info = sequence(unsignedInteger(Uint8Array.of(0)), sequence(name), key, write(contextTag(0)))
  const signed = sequence(info, sequence(objectIdentifier('1.3.101.112')), bitString(new Uint8Array(64)))
  return Buffer.from(pemText('CERTIFICATE REQUEST', signed)).toString('base64')
}

test.each([
  ['kubernetes.io/kube-apiserver-client', 'developers', 'taken'],
  [
    'kubernetes.io/kube-apiserver-client',
    'system:masters',
    refused('use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'),
  ],
  ['example.com/mine', 'system:masters', 'taken'],
])('%s for the group %s', async (signerName, organization, expected) => {
  const object = { metadata: { name: 'r' }, spec: { signerName, request: pemOf(organization) } }
  expect(brief(await outcomeOf(certificateSubjectRestriction, server, { at: REQUESTS, object }))).toBe(expected)
})

describe('anchors of a signer', () => {
  const bundle = (signerName: string, trustBundle: string, metadata: object = {}) =>
    ({ metadata: { name: 'r', ...metadata }, spec: { signerName, trustBundle } }) as never
  const OTHER =
    '403 clustertrustbundles.certificates.k8s.io "r" is forbidden: user not permitted to attest for signerName "example.com/other"'
  test.each<[string, never, never | undefined, string]>([
    ['of a signer of the user', bundle('example.com/mine', 'a'), undefined, 'taken'],
    ['of no signer', bundle('', 'a'), undefined, 'taken'],
    ['of another signer', bundle('example.com/other', 'a'), undefined, OTHER],
    ['changed', bundle('example.com/other', 'b'), bundle('example.com/other', 'a'), OTHER],
    ['collected', bundle('example.com/other', 'a'), bundle('example.com/other', 'a', { finalizers: ['x'] }), 'taken'],
  ])('%s', async (_what, object, oldObject, expected) => {
    const asked = {
      at: 'clustertrustbundles.certificates.k8s.io',
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
      object,
      ...(oldObject === undefined ? {} : { oldObject }),
    } as const
    expect(brief(await outcomeOf(clusterTrustBundleAttest, server, asked))).toBe(expected)
  })
})
