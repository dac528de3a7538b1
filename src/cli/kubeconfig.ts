// The administrator's kubeconfig. It is written as JSON, which is YAML too; kubectl makes YAML of it when it changes it.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import type { Pki } from './pki.ts'

export const CLUSTER = 'kedge'
export const ADMINISTRATOR = 'kubernetes-admin'

export interface Endpoint {
  /** https://host:port */
  readonly server: string
  readonly pki: Pki
}

export function kubeconfig({ server, pki }: Endpoint): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return (
    JSON.stringify(
      {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: CLUSTER, cluster: { server, 'certificate-authority-data': base64(pki.authorities) } }],
        // the token rather than the certificate, because it costs the server less with each request
        users: [{ name: ADMINISTRATOR, user: { token: pki.administratorToken } }],
        contexts: [{ name: 'kedge', context: { cluster: CLUSTER, user: ADMINISTRATOR } }],
        'current-context': 'kedge',
      },
      undefined,
      2,
    ) + '\n'
  )
}

/**
 * Does not change a file that already leads to this server: its owner may have chosen a namespace in it, or added
 * contexts.
 */
export function writeKubeconfig(file: string, endpoint: Endpoint): void {
  const text = kubeconfig(endpoint)
  const needed = [...text.matchAll(/"(?:server|token|[a-z-]+-data)": "([^"]+)"/g)].map(([, value = '']) => value)
  if (!leadsHere(file, needed)) writeFileSync(file, text, { mode: 0o600 })
  chmodSync(file, 0o600)
}

function leadsHere(file: string, needed: readonly string[]): boolean {
  try {
    const words = new Set(readFileSync(file, 'utf8').split(/[\s"',]+/))
    return needed.every((value) => words.has(value))
  } catch {
    return false
  }
}
