/** Runs workerd with the Workers of a test, which `workerd.capnp` in a folder names. */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { until } from '../eventually.ts'
import { startWorkerd } from './workerd.ts'

export interface BareEngine {
  readonly url: string
  stop(): Promise<void>
}

/**
 * @param workers names of the Workers' files, without their endings
 * @param path the helper requests it until the engine answers
 */
export async function startBareEngine(folder: string, workers: readonly string[], path: string): Promise<BareEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'kedge-bare-'))
  await mkdir(join(directory, 'data'))
  await cp(join(folder, 'workerd.capnp'), join(directory, 'workerd.capnp'))
  await build({
    entryPoints: workers.map((name) => join(folder, `${name}.ts`)),
    outdir: directory,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:workers'],
  })
  const { engine, urls } = await startWorkerd(directory, ['http'], '--socket-addr=http=127.0.0.1:0')
  const url = urls[0]!
  const stop = async () => {
    engine.kill('SIGKILL')
    await rm(directory, { recursive: true })
  }
  await until(() =>
    fetch(url + path).then(
      () => true,
      () => false,
    ),
  )
  return { url, stop }
}
