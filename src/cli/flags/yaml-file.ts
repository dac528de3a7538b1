// Reads files that flags name.
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { CannotStart } from '../start/options.ts'

/** @throws CannotStart */
export function readYaml(file: string, problem?: string): unknown {
  const text = readText(file, problem).toString('utf8')
  try {
    return load(text)
  } catch (error) {
    throw new CannotStart(`${file} is no YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** @throws CannotStart */
export function readText(file: string, problem = `${file} cannot be read`): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CannotStart(`${problem}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
