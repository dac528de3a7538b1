/** Applied configurations: YAML, of which JSON is the better part. */
import { NumberLiteral, RepeatedMembers, decodeUtf8, parseJsonBytes } from '../codec/json.ts'
import type { JsonTree } from '../codec/json.ts'
import { YamlError, parseYaml } from '../codec/yaml.ts'

/**
 * @returns the value, and what is repeated in it (`line 7: key "x" already set in map`)
 * @throws Error with the reference's text
 */
export function parseAppliedYaml(body: Uint8Array): { tree: JsonTree; repeated: readonly string[] } {
  const json = plainJsonOf(body)
  if (json !== undefined) return { tree: json, repeated: [] }
  try {
    const { tree, duplicates } = parseYaml(decodeUtf8(body))
    return { tree, repeated: duplicates }
  } catch (error) {
    throw error instanceof YamlError ? new Error(`error converting YAML to JSON: ${error.message}`) : error
  }
}

const OPEN_BRACE = 0x7b

/** Most configurations are JSON. Members that are repeated have to be read as YAML: their lines are told. */
function plainJsonOf(body: Uint8Array): JsonTree | undefined {
  if (body[0] !== OPEN_BRACE) return undefined
  try {
    const tree = parseJsonBytes(body)
    return hasRepeats(tree) ? undefined : tree
  } catch {
    return undefined
  }
}

function hasRepeats(tree: JsonTree | undefined): boolean {
  if (typeof tree !== 'object' || tree === null || tree instanceof NumberLiteral) return false
  if (tree instanceof RepeatedMembers) return true
  return Array.isArray(tree) ? tree.some(hasRepeats) : Object.values(tree).some(hasRepeats)
}
