// Starts one server for the tests of a file, with kubectl.
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import { Session, serverUnderTest, skipWithoutKubectl } from './session.ts'
import type { ServerUnderTest } from './session.ts'

/**
 * Starts the server before the file's tests and stops it after them; skips them where there is no kubectl.
 * @param flags of `kedge start`
 * @returns kubectl, which the tests can run
 */
export const kubectlServer = (...flags: readonly string[]): Session =>
  kubectlOn(() => startKedge(['--ephemeral', '--port', '0', ...flags]))

/** Like kubectlServer, with the server of $E2E_KUBECONFIG if it is set: it may be a kube-apiserver. */
export const kubectlServerUnderTest = (): Session => kubectlOn(serverUnderTest)

function kubectlOn(start: () => Promise<Pick<ServerUnderTest, 'kubeconfig' | 'stop'>>): Session {
  let server: Pick<ServerUnderTest, 'kubeconfig' | 'stop'>
  const kubectl = new Session(() => server.kubeconfig)
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => {
    kubectl.close()
    return server.stop()
  })
  beforeEach(skipWithoutKubectl)
  return kubectl
}
