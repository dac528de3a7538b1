// Parts of the Worker measured in a process of their own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** CPU in µs: others may be busy on the same machine. */
export const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** The Worker's modules are written for its bundler. @returns what the file exports */
export async function loadCases<Cases>(entry: string): Promise<Cases> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-bench-'))
  try {
    const outfile = join(directory, 'cases.mjs')
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2024',
      logLevel: 'warning',
    })
    return (await import(pathToFileURL(outfile).href)) as Cases
  } finally {
    rmSync(directory, { recursive: true })
  }
}
