// CertificateSigningRequests: the rights to approve and to sign are granted for each signer name.
import { asked, PATH, stored } from './certificates.ts'
import { row } from './row.ts'
import type { Row } from './row.ts'

const FORBIDDEN = '403 Forbidden'
const status = (type: string) => ({
  status: { conditions: [{ type, status: 'True', reason: 'x', message: 'x' }] },
})
const CERTIFICATE = {
  status: {
    certificate: Buffer.from(
      '-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDEwRldmlsMB4X\n-----END CERTIFICATE-----\n',
    ).toString('base64'),
  },
}

/** world.ts grants the rights: `approver` approves for example.com/x, `issuer` signs for it. */
export const signers: readonly Row[] = [
  ...(['Approved', 'Denied'] as const).map((type, n) =>
    row(
      `${type} for the signer that is named`,
      'approver',
      `PUT ${PATH}/sig-1${n}/approval?dryRun=All`,
      '200',
      stored(`sig-1${n}`, 'example.com/x', status(type)),
    ),
  ),
  ...['example.com/y', 'sub.example.com/x', 'kubernetes.io/kube-apiserver-client'].map((signer, n) =>
    row(
      `not for ${signer}`,
      'approver',
      `PUT ${PATH}/sig-2${n}/approval?dryRun=All`,
      FORBIDDEN,
      stored(`sig-2${n}`, signer, status('Approved')),
    ),
  ),
  row(
    'denying needs the signer, too',
    'approver',
    `PUT ${PATH}/sig-3/approval?dryRun=All`,
    FORBIDDEN,
    stored('sig-3', 'example.com/y', status('Denied')),
  ),
  row(
    'approving is not signing',
    'approver',
    `PUT ${PATH}/sig-4/status?dryRun=All`,
    '422 Invalid',
    stored('sig-4', 'example.com/x', CERTIFICATE),
  ),
  row(
    'signing is not approving',
    'issuer',
    `PUT ${PATH}/sig-5/approval?dryRun=All`,
    FORBIDDEN,
    stored('sig-5', 'example.com/x', status('Approved')),
  ),
  row(
    'nor failing by the approval',
    'issuer',
    `PUT ${PATH}/sig-6/approval?dryRun=All`,
    FORBIDDEN,
    stored('sig-6', 'example.com/x', status('Failed')),
  ),
  row(
    'failing is the signer’s',
    'issuer',
    `PUT ${PATH}/sig-7/status?dryRun=All`,
    '200',
    stored('sig-7', 'example.com/x', status('Failed')),
  ),
  row(
    'of his own alone',
    'issuer',
    `PUT ${PATH}/sig-8/status?dryRun=All`,
    FORBIDDEN,
    stored('sig-8', 'example.com/y', status('Failed')),
  ),
  row(
    'approving by the status',
    'issuer',
    `PUT ${PATH}/sig-9/status?dryRun=All`,
    '422 Invalid',
    stored('sig-9', 'example.com/x', status('Approved')),
  ),
  row(
    'a signer of a whole domain signs for it',
    'signer',
    `PUT ${PATH}/sig-10/status?dryRun=All`,
    '200',
    stored('sig-10', 'example.com/any', status('Failed')),
  ),
  ...['example.org/x', 'x.example.com/x', 'example.com.evil/x', 'kubernetes.io/kubelet-serving'].map((signer, n) =>
    row(
      `and not for ${signer}`,
      'signer',
      `PUT ${PATH}/sig-11${n}/status?dryRun=All`,
      FORBIDDEN,
      stored(`sig-11${n}`, signer, status('Failed')),
    ),
  ),
  ...(['merge-patch', 'strategic-merge-patch'] as const).map((type, n) =>
    row(
      `a ${type} needs the signer as an update does`,
      'approver',
      `PATCH ${PATH}/sig-12${n}/approval?dryRun=All`,
      FORBIDDEN,
      async (world) => {
        await stored(`sig-12${n}`, 'example.com/y', {})(world)
        return { headers: { 'Content-Type': `application/${type}+json` }, body: status('Approved') }
      },
    ),
  ),
  row(
    'an apply, too',
    'approver',
    `PATCH ${PATH}/sig-13/approval?fieldManager=m&dryRun=All`,
    FORBIDDEN,
    async (world) => {
      await stored('sig-13', 'example.com/y', {})(world)
      return {
        headers: { 'Content-Type': 'application/apply-patch+yaml' },
        body: {
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: 'sig-13' },
          ...status('Approved'),
        },
      }
    },
  ),
  row('a request that does not say who signs', 'main', `POST ${PATH}?dryRun=All`, '422 Invalid', asked('x')),
  ...['*/*', 'example.com/*', '*', '/x', 'example.com/', 'EXAMPLE.com/x', 'example.com/../x'].map((signer) =>
    row(`a signer called ${signer}`, 'main', `POST ${PATH}?dryRun=All`, '422 Invalid', asked(signer)),
  ),
  row(
    'a node’s certificate for another node',
    'node',
    `POST ${PATH}?dryRun=All`,
    FORBIDDEN,
    asked('kubernetes.io/kube-apiserver-client-kubelet', '/O=system:nodes/CN=system:node:n2'),
  ),
  row(
    'a node’s certificate for itself',
    'node',
    `POST ${PATH}?dryRun=All`,
    '201',
    asked('kubernetes.io/kube-apiserver-client-kubelet', '/O=system:nodes/CN=system:node:n1'),
  ),
  row(
    'a node’s serving certificate for another node',
    'node',
    `POST ${PATH}?dryRun=All`,
    FORBIDDEN,
    asked('kubernetes.io/kubelet-serving', '/O=system:nodes/CN=system:node:n2', {
      usages: ['server auth', 'digital signature'],
    }),
  ),
  row(
    'a node’s certificate without a name',
    'node',
    `POST ${PATH}?dryRun=All`,
    FORBIDDEN,
    asked('kubernetes.io/kube-apiserver-client-kubelet', '/O=system:nodes'),
  ),
  row(
    'a node approves nothing',
    'node',
    `PUT ${PATH}/sig-14/approval?dryRun=All`,
    FORBIDDEN,
    stored('sig-14', 'kubernetes.io/kube-apiserver-client-kubelet', status('Approved')),
  ),
  row(
    'who asked is not to be changed',
    'signer',
    `PATCH ${PATH}/sig-15?dryRun=All`,
    '200',
    async (world) => {
      await stored('sig-15', 'example.com/x', {})(world)
      return {
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: { spec: { username: 'mallory', groups: ['system:masters', 'made-up'] } },
      }
    },
    ({ text }) => {
      if (text.includes('made-up') || text.includes('"username":"mallory"')) throw new Error(text)
    },
  ),
]
