/**
 * The types of custom resources, compiled from their definitions on first use. There may be thousands of definitions,
 * so a limit of size drops the types that were not used for the longest time.
 */
import { cloneJson } from '../../api/clone-json.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { reshapeStored } from '../../codec/decode-custom.ts'
import { customModelName } from './custom-model-name.ts'
import { applyStructuralDefaults } from '../../schema/structural-default.ts'
import { customKindType } from '../../schema/from-openapi.ts'
import { prune } from '../../schema/prune.ts'
import type { StructType } from '../../schema/structural.ts'
import type { Tenant } from '../../storage/tenant.ts'
import type { Strategy } from '../strategy.ts'
import { checkConversion, isConvertedByWebhook } from './conversion-webhook.ts'
import { storageVersion, versionNamed } from './definition.ts'
import { customStrategy } from './strategy.ts'

/** One version of a definition. */
export interface CompiledVersion {
  readonly type: StructType
  readonly strategy: Strategy
}

/** Bytes of schema text whose types are kept. A compiled type is a few times as large. */
const MAX_KEPT = 8 * 1024 * 1024

/** A compiled rule is about 50 times as large as its text. */
const RULE_WEIGHT = 12

const RULES = 'x-kubernetes-validations'

function sizeOf(schema: JsonObject | undefined): number {
  const text = JSON.stringify(schema ?? null)
  if (!text.includes(RULES)) return text.length
  let rules = 0
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value))
      if (name === RULES) rules += JSON.stringify(member).length
      else visit(member)
  }
  visit(schema)
  return text.length + rules * RULE_WEIGHT
}

interface Kept {
  readonly compiled: CompiledVersion
  readonly size: number
}

/** In the order of their last use. Bound: MAX_KEPT. */
const kept = new Map<string, Kept>()
let keptSize = 0

/** @param version a version of the definition, served or not */
export function compiledVersion(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  version: string,
): CompiledVersion {
  const { uid = '', generation = 0, resourceVersion = '' } = definition.metadata
  // after a restore the same generation may come again and say something else; a revision never does
  const key = `${tenant.uid}\0${uid}\0${generation}\0${resourceVersion}\0${version}`
  const known = kept.get(key)
  if (known !== undefined) {
    kept.delete(key)
    kept.set(key, known)
    return known.compiled
  }
  const schema = schemaOf(definition, version)
  const size = sizeOf(schema)
  const compiled = compile(definition, version, schema)
  kept.set(key, { compiled, size })
  keptSize += size
  for (const [oldest, { size: freed }] of kept) {
    if (keptSize <= MAX_KEPT || oldest === key) break
    kept.delete(oldest)
    keptSize -= freed
  }
  return compiled
}

// a schema is JSON, but its interface does not say so
const schemaOf = (definition: CustomResourceDefinition, version: string): JsonObject | undefined =>
  versionNamed(definition, version)?.schema?.openAPIV3Schema as unknown as JsonObject | undefined

function compile(
  definition: CustomResourceDefinition,
  version: string,
  schema: JsonObject | undefined,
): CompiledVersion {
  const gvk = { group: definition.spec?.group ?? '', version, kind: definition.status?.acceptedNames?.kind ?? '' }
  const type = customKindType(customModelName(gvk.group, gvk.version, gvk.kind), gvk, schema)
  return { type, strategy: customStrategy(definition, version, type, schema) }
}

/**
 * An object of storage as the definition shapes it now: pruned and with the defaults of the version that it was written
 * in, then in the storage version of today. Changes it in place.
 */
export function currentForm(tenant: Tenant, definition: CustomResourceDefinition, object: KubeObject): KubeObject {
  reshape(tenant, definition, object)
  // only callers that can wait use the webhook
  return isConvertedByWebhook(definition) ? object : inVersion(tenant, definition, object, storageVersion(definition))
}

/**
 * Converts to the version of a request. A webhook converts from the version in which the object was written. An object
 * that was written in the version of the request needs no conversion, whatever the storage version is.
 * @throws ConversionError
 */
export function servedForm(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  object: KubeObject,
  version: string,
): KubeObject {
  if (!isConvertedByWebhook(definition))
    return inVersion(tenant, definition, currentForm(tenant, definition, object), version)
  checkConversion(definition, object, version)
  reshape(tenant, definition, object)
  return object
}

/** Pruned and with the defaults of the version that it was written in. */
function reshape(tenant: Tenant, definition: CustomResourceDefinition, object: KubeObject): void {
  const written = parseApiVersion(object.apiVersion ?? '')?.version ?? ''
  const stored = storageVersion(definition)
  const { type } = compiledVersion(
    tenant,
    definition,
    versionNamed(definition, written) === undefined ? stored : written,
  )
  // an API object is JSON
  const json = object as unknown as JsonObject
  reshapeStored(type, json)
  applyStructuralDefaults(type, json)
}

/**
 * Conversion by strategy None: it changes apiVersion, and prunes fields that the other version's schema does not have.
 * @throws ConversionError where a webhook converts
 */
export function inVersion(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  object: KubeObject,
  version: string,
): KubeObject {
  const apiVersion = apiVersionOf({ group: definition.spec?.group ?? '', version })
  if (object.apiVersion === apiVersion) return object
  checkConversion(definition, object, version)
  return renamedTo(tenant, definition, object, version)
}

/** A copy with only the fields that the other version has under the same names. Use it for comparisons alone. */
export function renamedTo(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  object: KubeObject,
  version: string,
): KubeObject {
  const apiVersion = apiVersionOf({ group: definition.spec?.group ?? '', version })
  const converted = { ...cloneJson(object), apiVersion }
  // nulls stay: an applied one is for validation to refuse
  prune(compiledVersion(tenant, definition, version).type, converted as unknown as JsonObject)
  return converted
}
