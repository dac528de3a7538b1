// kube-rs, the client for Rust: rust/src/main.rs.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { cacheDirectory, findToolchain, run } from './toolchain.ts'

// The linker and the cryptography crates need a C compiler as well.
const cargo = findToolchain(['cc'], '--version') && findToolchain(['cargo'], '--version')
const cwd = join(import.meta.dirname, 'rust')
/** The first run compiles two hundred crates. */
const COMPILE_MS = 1_200_000

let server: KedgeProcess
beforeAll(async () => {
  if (cargo !== undefined) server = await startKedge()
})
afterAll(async () => {
  await server?.stop()
})

const title = (what: string): string =>
  cargo === undefined ? `${what} (skipped: there is no Rust, or no C compiler, on this machine)` : what

test.skipIf(cargo === undefined)(
  title('kube-rs'),
  async () => {
    const { code, output } = await run(cargo!, ['run', '--quiet', '--locked'], {
      cwd,
      env: { KUBECONFIG: server.kubeconfig, CARGO_TARGET_DIR: cacheDirectory('rust') },
    })
    expect(code, output).toBe(0)
  },
  COMPILE_MS,
)
