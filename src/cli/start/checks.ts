/** What a start refuses before it serves. */
import { existsSync } from 'node:fs'
import { MIGRATED_BY_NEWER } from '../../../migrations/newer.ts'
import { readAuthorities } from '../../x509/client-chain.ts'
import { signsFor } from '../../x509/key-pair.ts'
import { pemBlocks } from '../../x509/pem.ts'
import { signsForItself } from '../../x509/private-jwk.ts'
import type { Credential } from '../data-directory/certificate.ts'
import type { DataDirectory } from '../data-directory/data-directory.ts'
import type { Pki } from '../data-directory/pki.ts'
import { engineAnswer } from '../engine/answer.ts'
import { credentialProblem } from '../front/server-certificate.ts'
import { configurationSocket } from './engine-run.ts'
import { CannotStart } from './options.ts'

/** Bytes of the path of a Unix socket: 108 on Linux and 104 elsewhere, with a zero at the end. */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103

/**
 * A start removes `run/`. So it refuses a directory with a `run/` that no start has made.
 * @throws CannotStart
 */
export function checkDirectory(directory: DataDirectory): void {
  const { path, run, pki, objects } = directory
  const longest = Buffer.byteLength(configurationSocket(directory))
  if (longest > LONGEST_SOCKET_PATH)
    throw new CannotStart(
      `The path of the data directory ${path} is ${longest - LONGEST_SOCKET_PATH} bytes too long for the sockets in it. Choose another with --data-dir.`,
    )
  if (existsSync(run) && !existsSync(pki) && !existsSync(objects))
    throw new CannotStart(
      `${path} is no data directory of kedge, and a start would remove ${run}. Choose another with --data-dir.`,
    )
}

/**
 * Checks signatures, because a key may contain a false public key.
 * @throws CannotStart
 */
export async function checkKeys({ authority, serviceAccountKey }: Pki, server?: Credential): Promise<void> {
  const [block] = pemBlocks(authority.key)
  const [certificate] = readAuthorities(authority.certificate)
  if (block === undefined || certificate === undefined || !(await signsFor(block.bytes, certificate)))
    throw new CannotStart('pki/ca.key does not sign for pki/ca.crt: the halves of the key are not of one another')
  if (!(await signsForItself(serviceAccountKey)))
    throw new CannotStart('pki/service-account.jwk does not sign: its halves are not of one another')
  const problem = server && credentialProblem(server)
  if (problem !== undefined) throw new CannotStart(problem)
}

/**
 * A newer release may have changed the schema of the databases. Then this one answers every request with an error, and a
 * start says so instead.
 * @throws CannotStart
 */
export async function checkRelease(
  { path }: DataDirectory,
  socket: string,
  { administratorToken }: Pki,
): Promise<void> {
  const headers = { Authorization: `Bearer ${administratorToken}` }
  const { status, body } = await engineAnswer(socket, '/readyz/etcd', headers)
  if (status !== 200 && body.includes(MIGRATED_BY_NEWER))
    throw new CannotStart(
      `The data directory ${path} ${MIGRATED_BY_NEWER} of kedge, and this one cannot read it. Start that version, or choose another directory with --data-dir.`,
    )
}
