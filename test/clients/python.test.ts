// The official Python client in a virtual environment of its own: python/test_server.py.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { cacheDirectory, findToolchain, run } from './toolchain.ts'

// Debian's python3 lacks these modules until python3-venv is installed.
const python = findToolchain(['python3'], '-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 10)')
const cwd = join(import.meta.dirname, 'python')
const INSTALL_MS = 600_000

let server: KedgeProcess
beforeAll(async () => {
  if (python !== undefined) server = await startKedge()
})
afterAll(async () => {
  await server?.stop()
})

/** The interpreter of the environment, which the first run creates. */
async function environment(): Promise<string> {
  const home = join(cacheDirectory('python'), 'venv')
  const installed = join(home, 'installed')
  if (!existsSync(installed)) {
    rmSync(home, { recursive: true, force: true })
    for (const [command, ...rest] of [
      [python!, '-m', 'venv', home],
      [join(home, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt'],
    ] as const) {
      const { code, output } = await run(command, rest, { cwd })
      expect(code, output).toBe(0)
    }
    writeFileSync(installed, '') // marks the environment as complete
  }
  return join(home, 'bin/python')
}

const title = (what: string): string =>
  python === undefined ? `${what} (skipped: there is no Python 3.10 with venv on this machine)` : what

test.skipIf(python === undefined)(
  title('kubernetes for Python'),
  async () => {
    const { code, output } = await run(await environment(), ['-m', 'unittest', '-v'], {
      cwd,
      env: { KUBECONFIG: server.kubeconfig, PYTHONDONTWRITEBYTECODE: '1' },
    })
    expect(code, output).toBe(0)
  },
  INSTALL_MS,
)
