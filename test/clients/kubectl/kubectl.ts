// The kubectl that tests use: $KUBECTL; else 1.36 built here, where Go is; else the one on the PATH.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Kubectl {
  readonly path: string
  /** Without the v: '1.36.3'. */
  readonly version: string
}

const SOURCES = import.meta.dirname
const BUILT = join(import.meta.dirname, '../../../node_modules/.cache/kedge/kubectl-1.36')
const OLDEST_MINOR = 32

class NoKubectl extends Error {}

/** Throws an Error with what to do where there is none, or one that is too old. */
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

/** The same, or why there is none: what needs it is skipped, and says so. */
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
  // kubectl's own format.
  const { clientVersion } = JSON.parse(output) as { clientVersion: { gitVersion: string } }
  return clientVersion.gitVersion.replace(/^v/, '')
}

/** Built once and kept outside the sources; in a copy, because go would write go.sum beside go.mod. */
function builtKubectl(): string | undefined {
  if (existsSync(BUILT)) return BUILT
  const go = onPath('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined)
  if (go === undefined) return undefined
  console.error('Building kubectl 1.36 with Go; this is done once and takes some minutes …')
  const directory = mkdtempSync(join(tmpdir(), 'kedge-kubectl-'))
  try {
    for (const file of ['go.mod', 'go.sum', 'main.go']) copyFileSync(join(SOURCES, file), join(directory, file))
    mkdirSync(join(BUILT, '..'), { recursive: true })
    const version = /k8s\.io\/kubectl v0\.(\d+\.\d+)/.exec(readFileSync(join(directory, 'go.mod'), 'utf8'))?.[1]
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=v1.${version}`
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
