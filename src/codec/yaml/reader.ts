/** Loads the YAML reader, a module of its own, with the first body that may need it. */

type Reader = typeof import('./yaml.ts')

let reader: Reader | undefined

export async function loadYaml(): Promise<void> {
  reader ??= await import('./yaml.ts')
}

/** Callers await loadYaml first. */
export function yamlReader(): Reader {
  if (reader === undefined) throw new Error('assertion failed: a body is YAML, whose reader was not loaded')
  return reader
}
