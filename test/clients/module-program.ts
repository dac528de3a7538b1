// Programs of other projects, built from their Go modules: once a version, and kept.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { cacheDirectory, findToolchain, run } from './toolchain.ts'

export const go = findToolchain(['go', '/usr/local/go/bin/go'], 'version')

/** KEDGE_CLIENTS=all also builds programs that take a quarter of an hour on a small machine. */
const wantsAll = process.env['KEDGE_CLIENTS'] === 'all'

const env = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' }

interface Program {
  /** The directory beside this file that has the go.mod. */
  readonly module: string
  /** The package to build, in this module or in one that it requires. */
  readonly package: string
}

const fileOf = ({ module }: Program): string => {
  const hash = createHash('sha256')
  for (const name of ['go.mod', 'go.sum', 'main.go']) {
    const path = join(import.meta.dirname, module, name)
    if (existsSync(path)) hash.update(readFileSync(path))
  }
  return join(cacheDirectory(module), hash.digest('hex').slice(0, 16))
}

/** The reason to skip the program's tests; undefined if it was built before or may be built now. */
export function whyNot(program: Program): string | undefined {
  if (existsSync(fileOf(program))) return undefined
  if (go === undefined) return 'there is no Go on this machine'
  return wantsAll ? undefined : 'not built yet: KEDGE_CLIENTS=all does, in a quarter of an hour'
}

/** @returns the path of the program */
export async function build(program: Program): Promise<string> {
  const file = fileOf(program)
  if (existsSync(file)) return file
  const cwd = join(import.meta.dirname, program.module)
  mkdirSync(cacheDirectory(program.module), { recursive: true })
  const made = `${file}.new`
  const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', made, program.package]
  const { code, output } = await run(go!, args, { cwd, env })
  if (code !== 0) throw new Error(output)
  renameSync(made, file)
  return file
}

/** The source directory of a required module, which contains its manifests. */
export async function sourcesOf(module: string, path: string): Promise<string> {
  const cwd = join(import.meta.dirname, module)
  const args = ['mod', 'download', '-json', path]
  const { code, output } = await run(go!, args, { cwd, env })
  if (code !== 0) throw new Error(output)
  return (JSON.parse(output) as { Dir: string }).Dir
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // the server listens on TCP
  await new Promise((resolve) => server.close(resolve))
  return port
}
