// What an earlier build made, where no source has changed since. JavaScript, because kedge.mjs asks it before Node
// reads any TypeScript.
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

// This file runs from src/cli, and bundled from dist/cli.
export const PROJECT = resolve(import.meta.dirname, '../..')
/** The Worker, for Cloudflare and for the local engine. */
export const WORKER = join(PROJECT, 'dist', 'worker')
/** The command line, for Node. */
export const COMMAND_LINE = join(PROJECT, 'dist', 'cli')

/**
 * The inputs and outputs of a build: `build.json` in its directory, written last.
 *
 * @typedef {object} Build
 * @property {Readonly<Record<string, readonly [number, number]>>} inputs Input file, relative to the project →
 *   modification time in ms and size in bytes.
 * @property {readonly string[]} modules File names in the directory; the entry is first.
 */

/**
 * @param {string} directory
 * @returns {Build | undefined} undefined where there is none, or a source or an output has changed since
 */
export function freshBuild(directory) {
  try {
    // Another release may have written it. Where its form differs, a step here throws, and a new build follows.
    const last = JSON.parse(readFileSync(join(directory, 'build.json'), 'utf8'))
    const isFresh =
      last.modules.length > 0 &&
      last.modules.every((/** @type {string} */ name) => statSync(join(directory, name)).isFile()) &&
      Object.keys(last.inputs).every((input) => `${fingerprint(input)}` === `${last.inputs[input]}`)
    return isFresh ? last : undefined
  } catch {
    return undefined
  }
}

/**
 * @param {string} input a path relative to the project
 * @returns {[number, number]}
 */
export function fingerprint(input) {
  const { mtimeMs, size } = statSync(join(PROJECT, input))
  return [mtimeMs, size]
}
