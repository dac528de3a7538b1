// The kubectl for tests: $KUBECTL; otherwise 1.36 built here if Go is installed; otherwise the one on the PATH.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Kubectl {
  readonly path: string
  /** Without the v, such as '1.36.3'. */
  readonly version: string
}

const SOURCES = import.meta.dirname
/** Its last name is `kubectl`, which it prints in its advice. */
const BUILT = join(import.meta.dirname, '../../../node_modules/.cache/kedge/kubectl-v1.36/kubectl')
const OLDEST_MINOR = 32

class NoKubectl extends Error {}

/** Throws an Error with advice if there is no kubectl or it is too old. */
export function findKubectl(): Kubectl {
  const path = process.env['KUBECTL'] || builtKubectl() || onPath('kubectl')
  if (path === undefined) {
    throw new NoKubectl(
      'The tests need kubectl: install Go (kubectl is then built), or kubectl 1.32 or newer, or set KUBECTL.',
    )
  }
  const version = versionOf(path)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major !== 1 || minor < OLDEST_MINOR) {
    throw new NoKubectl(`${path} is kubectl ${version}; the tests need 1.${OLDEST_MINOR} or newer.`)
  }
  return { path, version }
}

/** Like findKubectl, but returns the reason instead of throwing, for tests that are then skipped with that reason. */
export function findKubectlOrNot(): { readonly kubectl?: Kubectl; readonly missing: string } {
  try {
    return { kubectl: findKubectl(), missing: '' }
  } catch (error) {
    if (!(error instanceof NoKubectl)) throw error // a $KUBECTL that does not run is a mistake
    return { missing: error.message }
  }
}

function onPath(command: string): string | undefined {
  try {
    return execFileSync('/bin/sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}

function versionOf(path: string): string {
  const output = execFileSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8' })
  // The format is kubectl's own.
  const { clientVersion } = JSON.parse(output) as { clientVersion: { gitVersion: string } }
  return clientVersion.gitVersion.replace(/^v/, '')
}

/**
 * Builds kubectl once and keeps it outside the sources. It builds in a copy, because go would write go.sum beside
 * go.mod.
 */
function builtKubectl(): string | undefined {
  if (existsSync(BUILT)) return BUILT
  const go = onPath('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined)
  if (go === undefined) return undefined
  console.error('Building kubectl 1.36 with Go; this is done once and takes some minutes …')
  const directory = mkdtempSync(join(tmpdir(), 'kedge-kubectl-'))
  try {
    for (const file of ['go.mod', 'go.sum', 'main.go']) copyFileSync(join(SOURCES, file), join(directory, file))
    mkdirSync(join(BUILT, '..'), { recursive: true })
    const [, minor, patch] =
      /k8s\.io\/kubectl v0\.(\d+)\.(\d+)/.exec(readFileSync(join(directory, 'go.mod'), 'utf8')) ?? []
    const names = { gitMajor: '1', gitMinor: minor, gitVersion: `v1.${minor}.${patch}` }
    const named = Object.entries(names).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    const flags = `-s -w ${named.join(' ')}`
    execFileSync(go, ['build', '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', 'kubectl', '.'], {
      cwd: directory,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
    })
    copyFileSync(join(directory, 'kubectl'), `${BUILT}.new`)
    renameSync(`${BUILT}.new`, BUILT)
    return BUILT
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
