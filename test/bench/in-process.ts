// Parts of the Worker measured in a process of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** CPU in µs: others may be busy on the same machine. */
export const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/**
 * The Worker's modules are written for its bundler.
 * @param external modules that are imported as they are, from node_modules
 * @returns what the file exports
 */
export async function loadCases<Cases>(entry: string, external: readonly string[] = []): Promise<Cases> {
  const directory = mkdtempSync(join(import.meta.dirname, '../../node_modules/.kedge-bench-'))
  try {
    const outfile = join(directory, 'cases.mjs')
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2024',
      external: [...external],
      alias: { 'cloudflare:workers': join(import.meta.dirname, '../engine-in-process/workers-module.ts') },
      logLevel: 'warning',
    })
    return (await import(pathToFileURL(outfile).href)) as Cases
  } finally {
    rmSync(directory, { recursive: true })
  }
}
