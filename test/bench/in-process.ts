// Measures parts of the Worker in a separate process.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** CPU time in µs, because other processes share the machine. */
export const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/**
 * Bundles and loads a file, because the Worker's modules need its bundler.
 * @param external modules that are imported from node_modules without bundling
 * @returns the exports of the file
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
