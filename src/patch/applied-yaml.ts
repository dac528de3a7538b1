/** Reads applied configurations in YAML. It tries JSON first, which is a subset of YAML and what most clients send. */
import { MAX_NESTING, RepeatedMembers } from '../json/json.ts'
import { decodeUtf8 } from '../base/utf8.ts'
import { parsingJsonBytes } from '../json/parse-json.ts'
import { JsonSyntaxError } from '../json/scanner.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import { eachName, eachPart, inParts, kept } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { loadYaml, yamlReader } from '../codec/yaml/reader.ts'

/** An applied configuration that was read. */
export interface Applied {
  readonly tree: JsonTree
  /** `line 7: key "x" already set in map` */
  readonly repeated: readonly string[]
}

/**
 * Returns a function that reads the configuration. Each call makes a new value, because a write that lost a race
 * applies it again.
 * @param finish runs the steps of the first read
 * @returns a function that throws an Error with kube-apiserver's text
 */
export async function appliedYaml(
  body: Uint8Array,
  finish: <T>(steps: Steps<T>) => T | Promise<T>,
): Promise<() => Steps<Applied>> {
  let first = await finish(plainJsonOf(body))
  if (first === undefined) await loadYaml()
  return function* () {
    const json = first ?? (yield* plainJsonOf(body))
    first = undefined
    return json === undefined ? yield* fromYaml(body) : { tree: json, repeated: [] }
  }
}

function* fromYaml(body: Uint8Array): Steps<Applied> {
  const { parsingYaml, YamlError } = yamlReader()
  try {
    const { tree, duplicates } = yield* parsingYaml(decodeUtf8(body))
    return { tree, repeated: duplicates }
  } catch (error) {
    throw error instanceof YamlError ? new Error(`error converting YAML to JSON: ${error.message}`) : error
  }
}

const OPEN_BRACE = 0x7b

/**
 * Most configurations are JSON. JSON with repeated members is read as YAML, because the error names their lines. So are
 * numbers with an exponent: kube-apiserver makes an integer of `1e18` and a text of `1e400`.
 */
function* plainJsonOf(body: Uint8Array): Steps<JsonTree | undefined> {
  if (body[0] !== OPEN_BRACE) return undefined
  try {
    const tree = yield* parsingJsonBytes(body, MAX_NESTING)
    return (yield* inParts(() => differsInYaml(tree))) ? undefined : tree
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

function differsInYaml(tree: JsonTree | undefined): boolean {
  if (typeof tree !== 'object' || tree === null) return false
  if (tree instanceof NumberLiteral) return /e/i.test(tree.text)
  if (tree instanceof RepeatedMembers) return true
  const state = kept(tree, () => ({ differs: false }))
  const look = (value: JsonTree | undefined): boolean => !(state.differs ||= differsInYaml(value))
  if (Array.isArray(tree)) eachPart(tree, look)
  else eachName(tree, Object.keys, (name) => look(tree[name]))
  return state.differs
}
