/** The names of JSON values in error messages of Go's JSON decoder. */
import { NumberLiteral } from '../../json/numbers.ts'
import type { JsonTree } from '../../json/json.ts'

export const kindOf = (tree: JsonTree): string =>
  Array.isArray(tree)
    ? 'array'
    : typeof tree === 'string'
      ? 'string'
      : typeof tree === 'boolean'
        ? 'bool'
        : isNumber(tree)
          ? 'number'
          : 'object'

export const isNumber = (tree: JsonTree): tree is number | bigint | NumberLiteral =>
  typeof tree === 'number' || typeof tree === 'bigint' || tree instanceof NumberLiteral

export const numberText = (tree: number | bigint | NumberLiteral): string =>
  tree instanceof NumberLiteral ? tree.text : String(tree)
