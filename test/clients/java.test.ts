// fabric8, the client of most Java operators: java/src/main/java/Fabric8.java.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { cacheDirectory, findToolchain, run } from './toolchain.ts'

const maven = findToolchain(['javac'], '-version') && findToolchain(['mvn'], '--version')
const cwd = join(import.meta.dirname, 'java')
const INSTALL_MS = 600_000

let server: KedgeProcess
beforeAll(async () => {
  if (maven !== undefined) server = await startKedge()
})
afterAll(async () => {
  await server?.stop()
})

const title = (what: string): string =>
  maven === undefined ? `${what} (skipped: there is no JDK, or no Maven, on this machine)` : what

test.skipIf(maven === undefined)(
  title('fabric8'),
  async () => {
    const target = `-Dkedge.target=${cacheDirectory('java')}`
    const { code, output } = await run(maven!, ['--batch-mode', '--quiet', target, 'compile', 'exec:java'], {
      cwd,
      env: { KUBECONFIG: server.kubeconfig },
    })
    expect(code, output).toBe(0)
  },
  INSTALL_MS,
)
