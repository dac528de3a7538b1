// A server's certificate and key from two files. A user who renews the files need not start the server again.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Credential } from '../data-directory/certificate.ts'

/** Paths of the files. */
export type CredentialFiles = Readonly<Record<keyof Credential, string>>

/** Milliseconds between two looks at the files. */
const LOOKED_AT_EVERY = 1_000

/** Why no server can show this certificate. */
export function credentialProblem({ certificate, key }: Credential): string | undefined {
  try {
    // a context takes empty texts
    new X509Certificate(certificate)
    createPrivateKey(key)
    createSecureContext({ cert: certificate, key })
    return undefined
  } catch (error) {
    return `--tls-cert-file and --tls-private-key-file cannot be used: ${error instanceof Error ? error.message : String(error)}`
  }
}

/**
 * Hands on what the files hold when it is not the current pair any more. A pair that no server can show is logged, and
 * the one before stays: the other file may change next.
 */
export function followCredential(
  files: CredentialFiles,
  current: Credential,
  renewed: (credential: Credential) => void,
  log: (text: string) => void,
): { close(): void } {
  let tried = current
  const look = async (): Promise<void> => {
    const [certificate, key] = await Promise.all([readFile(files.certificate, 'utf8'), readFile(files.key, 'utf8')])
    if (certificate === tried.certificate && key === tried.key) return
    tried = { certificate, key }
    const problem = credentialProblem(tried)
    if (problem !== undefined) throw new Error(problem)
    renewed(tried)
  }
  let last = Promise.resolve()
  const changed = (): void => {
    last = last.then(look).catch((error: unknown) => log(error instanceof Error ? error.message : String(error)))
  }
  const paths = [files.certificate, files.key]
  for (const path of paths) watchFile(path, { interval: LOOKED_AT_EVERY, persistent: false }, changed)
  changed() // what has changed since they were read
  return {
    close() {
      for (const path of paths) unwatchFile(path, changed)
    },
  }
}
