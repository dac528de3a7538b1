// client-go and controller-runtime, used as by Kubernetes' components and most operators: go/*_test.go.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { findToolchain, run } from './toolchain.ts'

const go = findToolchain(['go', '/usr/local/go/bin/go'], 'version')
const cwd = join(import.meta.dirname, 'go')
/** The first run compiles the libraries, which takes minutes on a small machine. */
const COMPILE_MS = 1_500_000

let server: KedgeProcess
beforeAll(async () => {
  if (go !== undefined) server = await startKedge()
})
afterAll(async () => {
  await server?.stop()
})

const title = (what: string): string => (go === undefined ? `${what} (skipped: there is no Go on this machine)` : what)

test.skipIf(go === undefined)(
  title('client-go and controller-runtime'),
  async () => {
    const { code, output } = await run(go!, ['test', '-count=1', '-trimpath', '-timeout=5m', './...'], {
      cwd,
      env: { KUBECONFIG: server.kubeconfig, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
    })
    expect(code, output).toBe(0)
  },
  COMPILE_MS,
)
