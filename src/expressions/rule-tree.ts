/** The nodes of a schema that have rules. The rules of a node are compiled when its first value is validated. */
import type { ValidationRule } from '../api/apiextensions/v1.ts'
import { lazy } from '../base/lazy.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, kept } from '../base/parts.ts'
import { structuralOf } from '../schema/from-openapi.ts'
import type { Structural } from '../schema/structural.ts'
import { shapeOf } from './schema-facts.ts'
import type { CompiledRules } from './schema-rules.ts'
import { compileRules } from './schema-rules.ts'

export interface RuleTree {
  /** The schema's `type`, or '' if it has none. */
  readonly type: string
  readonly schema: Structural
  readonly json: JsonObject
  /** Undefined: only nodes below this one have rules. */
  readonly rules: (() => CompiledRules | undefined) | undefined
  readonly properties: ReadonlyMap<string, RuleTree>
  readonly values: RuleTree | undefined
  readonly items: RuleTree | undefined
}

/** @returns undefined if the schema has no rules */
export const ruleTreeOf = (json: JsonObject, isRoot: boolean): RuleTree | undefined =>
  treeOf(json, structuralOf(json), isRoot)

function treeOf(json: JsonObject, schema: Structural, isRoot: boolean): RuleTree | undefined {
  const validations = rulesOf(json)
  const declared = isJsonObject(json['properties']) ? json['properties'] : {}
  const properties = kept(declared, () => new Map<string, RuleTree>())
  eachName(declared, Object.keys, (name) => {
    const tree = below(declared[name], schema.shape === 'struct' ? schema.field(name)?.type : undefined)
    if (tree !== undefined) properties.set(name, tree)
  })
  const values = below(json['additionalProperties'], schema.shape === 'map' ? schema.value : undefined)
  const items = below(json['items'], schema.shape === 'list' ? schema.element : undefined)
  if (validations.length === 0 && properties.size === 0 && values === undefined && items === undefined) return undefined
  const type = json['type']
  return {
    type: typeof type === 'string' ? type : '',
    schema,
    json,
    rules: validations.length === 0 ? undefined : lazy(() => compileRules(validations, schema, isRoot)),
    properties,
    values,
    items,
  }
}

/**
 * The rules of a node below. Undefined also if expressions cannot see the node.
 * @param known undefined: the parent's type does not contain the schema, so it is converted on its own
 */
function below(json: Json | undefined, known: Structural | undefined): RuleTree | undefined {
  if (!isJsonObject(json)) return undefined
  const schema = known ?? structuralOf(json)
  if (shapeOf(schema).is === 'hidden') return undefined
  return treeOf(json, schema, ownValue(json, 'x-kubernetes-embedded-resource') === true)
}

// decoding the definition has checked that the rules have this type
const rulesOf = (json: JsonObject): readonly ValidationRule[] =>
  Array.isArray(json['x-kubernetes-validations'])
    ? (json['x-kubernetes-validations'] as unknown as ValidationRule[])
    : []
