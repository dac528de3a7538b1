// CertificateSigningRequests: which user may request which name, approve, and sign.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { row } from './row.ts'
import type { Row } from './row.ts'
import type { World } from './world.ts'

export const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const FORBIDDEN = '403 Forbidden'

/** A certificate request in PEM for the subject, made by openssl. */
function pem(subject: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-csr-'))
  try {
    const file = join(directory, 'csr')
    execFileSync(
      'openssl',
      [
        'req',
        '-new',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        '/dev/null',
        '-subj',
        subject,
        '-out',
        file,
      ],
      { stdio: 'ignore' },
    )
    return readFileSync(file).toString('base64')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
const CLIENT = 'kubernetes.io/kube-apiserver-client'
export const asked = (signerName: string, subject = '/CN=eve', rest: object = {}) => ({
  body: { metadata: { name: 'tried' }, spec: { request: pem(subject), signerName, usages: ['client auth'], ...rest } },
})

/** Creates a CertificateSigningRequest for the signer. Returns the body that an approver or signer sends for it. */
export const stored = (name: string, signerName: string, change: object) => async (world: World) => {
  const { body } = asked(signerName)
  await world.make(PATH, { ...body, metadata: { name } })
  const live = JSON.parse((await world.send('admin', 'GET', `${PATH}/${name}`)).text) as object // an object of the API
  return { body: { ...live, ...change } }
}
const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: 'x' }] } }
const MASTERS = '/O=system:masters/CN=eve'

export const certificates: readonly Row[] = [
  row('nobody without rights asks', 'nobody', `POST ${PATH}?dryRun=All`, FORBIDDEN, asked(CLIENT)),
  row('a request for system:masters is refused', 'main', `POST ${PATH}?dryRun=All`, FORBIDDEN, asked(CLIENT, MASTERS)),
  row('for the administrator, too', 'admin', `POST ${PATH}?dryRun=All`, FORBIDDEN, asked(CLIENT, MASTERS)),
  row(
    'among other groups, too',
    'main',
    `POST ${PATH}?dryRun=All`,
    FORBIDDEN,
    asked(CLIENT, '/O=x/O=system:masters/CN=eve'),
  ),
  row(
    'another signer’s masters are no masters',
    'main',
    `POST ${PATH}?dryRun=All`,
    '201',
    asked('example.com/x', MASTERS),
  ),
  row(
    'who asks is not said by the request',
    'main',
    `POST ${PATH}?dryRun=All`,
    '201',
    asked(CLIENT, '/CN=eve', { username: 'admin', groups: ['system:masters'] }),
    ({ text }) => {
      if (!text.includes('"username":"system:serviceaccount:a:main"') || text.includes('system:masters'))
        throw new Error(text)
    },
  ),
  row('words instead of a request', 'main', `POST ${PATH}?dryRun=All`, '422 Invalid', {
    body: { metadata: { name: 'tried' }, spec: { request: 'eA==', signerName: CLIENT, usages: ['client auth'] } },
  }),
  row('no signer', 'main', `POST ${PATH}?dryRun=All`, '422 Invalid', asked('')),
  row(
    'the legacy signer',
    'main',
    `POST ${PATH}?dryRun=All`,
    '422 Invalid',
    asked('kubernetes.io/legacy-unknown', '/CN=eve', { expirationSeconds: 1 }),
  ),
  row(
    'approving needs the signer',
    'signer',
    `PUT ${PATH}/ask-1/approval?dryRun=All`,
    FORBIDDEN,
    stored('ask-1', CLIENT, approved),
  ),
  row(
    'of the own domain',
    'signer',
    `PUT ${PATH}/ask-2/approval?dryRun=All`,
    '200',
    stored('ask-2', 'example.com/x', approved),
  ),
  row(
    'not of one that begins so',
    'signer',
    `PUT ${PATH}/ask-3/approval?dryRun=All`,
    FORBIDDEN,
    stored('ask-3', 'example.com.evil.org/x', approved),
  ),
  row(
    'approving needs the subresource',
    'main',
    `PUT ${PATH}/ask-4/approval?dryRun=All`,
    FORBIDDEN,
    stored('ask-4', 'example.com/x', approved),
  ),
  row(
    'the main resource approves nothing',
    'signer',
    `PUT ${PATH}/ask-5?dryRun=All`,
    '200',
    stored('ask-5', 'example.com/x', approved),
    ({ text }) => {
      if (text.includes('Approved')) throw new Error(text)
    },
  ),
  row(
    'the status approves nothing',
    'signer',
    `PUT ${PATH}/ask-6/status?dryRun=All`,
    '422 Invalid',
    stored('ask-6', 'example.com/x', approved),
  ),
  row(
    'signing with words',
    'signer',
    `PUT ${PATH}/ask-8/status?dryRun=All`,
    '422 Invalid',
    stored('ask-8', 'example.com/x', { status: { certificate: 'eA==' } }),
  ),
  row(
    'the name of a signer stays',
    'signer',
    `PATCH ${PATH}/ask-9?dryRun=All`,
    '200',
    async (world) => {
      await stored('ask-9', 'example.com/x', {})(world)
      return { headers: { 'Content-Type': 'application/merge-patch+json' }, body: { spec: { signerName: CLIENT } } }
    },
    ({ text }) => {
      if (!text.includes('"signerName":"example.com/x"')) throw new Error(text)
    },
  ),
]
