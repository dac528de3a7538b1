/** Reads applied configurations in CBOR. It refuses repeated map keys, whatever fieldValidation says. */
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import type { Steps } from '../base/slices.ts'
import { parsingCbor } from '../codec/cbor/decode.ts'
import type { Applied } from './applied-yaml.ts'

/** Returns a function that reads the configuration. Each call makes a new value. @see appliedYaml */
export const appliedCbor = (body: Uint8Array): (() => Steps<Applied>) =>
  function* () {
    const tree = yield* parsingCbor(body)
    if (tree === null || isMap(tree)) return { tree, repeated: [] }
    throw new Error(`cbor: cannot unmarshal ${kindOf(tree)} into Go value of type map[string]interface {}`)
  }

const isMap = (tree: JsonTree): boolean =>
  typeof tree === 'object' && !Array.isArray(tree) && !(tree instanceof NumberLiteral)

function kindOf(tree: JsonTree): string {
  if (Array.isArray(tree)) return 'array'
  if (typeof tree === 'string') return 'byte string'
  return typeof tree === 'boolean' || tree instanceof NumberLiteral ? 'primitives' : 'positive integer'
}
