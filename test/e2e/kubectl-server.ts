// A server for the tests of a file, and kubectl beside it.
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { Session, skipWithoutKubectl } from './session.ts'

/**
 * Starts the server before the file's tests and stops it after them; skips them where there is no kubectl.
 * @param flags of `kedge start`
 * @returns kubectl, which the tests can run
 */
export function kubectlServer(...flags: readonly string[]): Session {
  let kedge: KedgeProcess
  const kubectl = new Session(() => kedge.kubeconfig)
  beforeAll(async () => {
    kedge = await startKedge(['--ephemeral', '--port', '0', ...flags])
  })
  afterAll(() => {
    kubectl.close()
    return kedge.stop()
  })
  beforeEach(skipWithoutKubectl)
  return kubectl
}
