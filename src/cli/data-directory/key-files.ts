// The files in the directory of keys and certificates.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Credential } from './certificate.ts'
import { replaceFile } from './replace-file.ts'

/** Files that only their owner can read, replaced in one step. */
export class KeyFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  path(name: string): string {
    return join(this.#directory, name)
  }

  text(name: string): string | undefined {
    try {
      return readFileSync(this.path(name), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  write(name: string, text: string): string {
    replaceFile(this.path(name), text)
    return text
  }

  remove(name: string): void {
    rmSync(this.path(name), { force: true })
  }

  credential(name: string): Credential | undefined {
    const [certificate, key] = [this.text(`${name}.crt`), this.text(`${name}.key`)]
    return certificate === undefined || key === undefined ? undefined : { certificate, key }
  }

  keep(name: string, credential: Credential): Credential {
    this.write(`${name}.key`, credential.key)
    this.write(`${name}.crt`, credential.certificate)
    return credential
  }
}
