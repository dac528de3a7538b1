// A kubeconfig for a person: a short-lived client certificate by the data directory's CA. It cannot be revoked.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issue } from '../data-directory/certificate.ts'
import type { DataDirectory } from '../data-directory/data-directory.ts'
import { serverOf } from './backup.ts'

export interface Person {
  readonly user: string
  readonly groups: readonly string[]
  readonly seconds: number
}

const DAY_SECONDS = 86_400

export async function personKubeconfig(
  directory: DataDirectory,
  { user, groups, seconds }: Person,
  now: Date,
): Promise<string> {
  const read = (name: string): string => readFileSync(join(directory.pki, name), 'utf8')
  const authority = { certificate: read('ca.crt'), key: read('ca.key') }
  const leaf = {
    subject: { commonName: user, organizations: groups },
    usage: 'client',
    days: seconds / DAY_SECONDS,
  } as const
  const { certificate, key } = await issue(authority, leaf, now)
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const { url, authority: trusted } = serverOf(directory.kubeconfig)
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'kedge',
        cluster: {
          server: url,
          'certificate-authority-data': base64(trusted),
        },
      },
    ],
    users: [{ name: user, user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } }],
    contexts: [{ name: 'kedge', context: { cluster: 'kedge', user } }],
    'current-context': 'kedge',
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
