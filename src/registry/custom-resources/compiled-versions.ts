/**
 * The types of custom resources, compiled from their definitions on first use. There may be thousands of definitions,
 * so a bound of size evicts the types that the server has not used for the longest time.
 */
import { cloneJson } from '../../json/clone-json.ts'
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../../api/apiextensions/v1.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { asJson } from '../../api/object.ts'
import { inPartsAwaiting, undivided } from '../../base/parts.ts'
import { LARGE, turnOfOthers } from '../../base/slices.ts'
import { reshapeStored } from '../../codec/decode/decode-custom.ts'
import { customModelName } from './custom-model-name.ts'
import type { Growth } from '../../codec/encoded-resource.ts'
import type { DefaultGrowth } from '../../schema/default-growth.ts'
import { growthByDefaults } from '../../schema/default-growth.ts'
import { applyDefaultsToStored } from '../../schema/structural-default.ts'
import { customKindType } from '../../schema/from-openapi.ts'
import { prune, pruneNulls } from '../../schema/prune.ts'
import type { StructType } from '../../schema/structural.ts'
import type { Tenant } from '../../storage/tenant.ts'
import type { SchemaFacts } from '../../tenancy/definition-cuts.ts'
import { factsOfSchema } from '../../tenancy/definition-cuts.ts'
import { factsOf, readSchema } from '../../tenancy/lazy-definition.ts'
import type { Strategy } from '../strategy.ts'
import { checkConversion, isConvertedByWebhook } from './conversion-webhook.ts'
import { storageVersion, versionNamed } from './definition.ts'
import { withPrunedDefaults } from './pruned-defaults.ts'
import { customStrategy } from './strategy.ts'

/** The compiled form of one version of a definition. */
export interface CompiledVersion {
  readonly type: StructType
  readonly strategy: Strategy
  readonly hasDefaults: boolean
  /** Whether its defaults make each object large. */
  readonly makesLarge: boolean
  /** The work of an object, in characters: for each of its own characters, and once for its defaults. */
  readonly growth: Growth
}

/**
 * Filling in this number of characters of defaults costs as much as decoding, validating and encoding one character of
 * a body.
 */
const CHEAP = 4

/** Bytes of the schema texts whose compiled types are kept. A compiled type is a few times as large. */
const MAX_KEPT = 8 * 1024 * 1024

/** A compiled rule is about 50 times as large as its text. */
const RULE_WEIGHT = 12

/**
 * The server compiles a property when an object has it. The size counts all properties, because objects may have all of
 * them.
 */
const sizeOf = ({ length, rules }: SchemaFacts): number => length + rules * RULE_WEIGHT

function schemaFacts(version: CustomResourceDefinitionVersion | undefined): SchemaFacts {
  const known = version && factsOf(version)
  if (known !== undefined) return known
  // a definition outside of the control snapshot is about to be written
  const text = JSON.stringify(version?.schema?.openAPIV3Schema ?? null)
  return factsOfSchema(text)
}

interface Kept {
  readonly compiled: CompiledVersion
  readonly size: number
  /** Whether the server has walked its schema for the growth of its objects. Otherwise the growth is the most. */
  readonly isWalked: boolean
}

/** In the order of last use. Bound: MAX_KEPT. */
const kept = new Map<string, Kept>()
let keptSize = 0

// after a restore a generation may come again with another content; a revision never does
const keyOf = (
  tenant: Tenant,
  { metadata: { uid = '', generation = 0, resourceVersion = '' } }: CustomResourceDefinition,
  version: string,
): string => `${tenant.uid}\0${uid}\0${generation}\0${resourceVersion}\0${version}`

/**
 * @param version a version of the definition, served or not
 * @param walked how much defaults add to its objects, if the server has walked its long schema
 */
export function compiledVersion(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  version: string,
  walked?: DefaultGrowth,
): CompiledVersion {
  const key = keyOf(tenant, definition, version)
  const known = kept.get(key)
  kept.delete(key)
  if (known !== undefined && (known.isWalked || walked === undefined)) {
    kept.set(key, known)
    return known.compiled
  }
  keptSize -= known?.size ?? 0
  const facts = schemaFacts(versionNamed(definition, version))
  const size = sizeOf(facts)
  const schema = schemaOf(definition, version)
  const compiled = compile(definition, version, schema, facts, walked ?? growthOf(schema, facts))
  kept.set(key, { compiled, size, isWalked: walked !== undefined || !isLong(facts) })
  keptSize += size
  for (const [oldest, { size: freed }] of kept) {
    if (keptSize <= MAX_KEPT || oldest === key) break
    kept.delete(oldest)
    keptSize -= freed
  }
  return compiled
}

/**
 * Reads a long schema in steps before it is compiled. Compiling takes little more then.
 * @returns undefined if the schema needs no steps
 */
export function versionsRead(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  ...versions: readonly string[]
): Promise<void> | undefined {
  const missing = versions.filter((version) => kept.get(keyOf(tenant, definition, version))?.isWalked !== true)
  return missing.length === 0 ? undefined : readVersions(tenant, definition, missing)
}

async function readVersions(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  versions: readonly string[],
): Promise<void> {
  for (const name of versions) {
    const version = versionNamed(definition, name)
    if (version === undefined) continue
    await readSchema(version)
    const facts = schemaFacts(version)
    const schema = schemaOf(definition, name)
    const growth = isLong(facts) ? await inPartsAwaiting(() => growthByDefaults(schema ?? {}), turnOfOthers) : undefined
    compiledVersion(tenant, definition, name, growth)
  }
}

/** Whether only a walk in parts may look for the defaults of a schema. */
const isLong = ({ length, hasDefaults }: SchemaFacts): boolean => hasDefaults && length > LARGE

// a schema is JSON, but its interface does not say so
const schemaOf = (definition: CustomResourceDefinition, version: string): JsonObject | undefined =>
  versionNamed(definition, version)?.schema?.openAPIV3Schema as unknown as JsonObject | undefined

function compile(
  definition: CustomResourceDefinition,
  version: string,
  schema: JsonObject | undefined,
  { rules, hasDefaults, hasEmbedded }: SchemaFacts,
  growth: DefaultGrowth,
): CompiledVersion {
  const gvk = { group: definition.spec?.group ?? '', version, kind: definition.status?.acceptedNames?.kind ?? '' }
  const isWhole = schema === undefined || !hasDefaults || !hasEmbedded
  const filled = isWhole ? schema : undivided(() => withPrunedDefaults(schema))
  const type = customKindType(customModelName(gvk.group, gvk.version, gvk.kind), gvk, filled, hasDefaults)
  const strategy = customStrategy(definition, version, type, schema, rules > 0)
  return {
    type,
    strategy,
    hasDefaults,
    makesLarge: growth.once > LARGE,
    growth: { perUnit: Math.max(1, growth.perUnit / CHEAP), base: growth.once / CHEAP },
  }
}

/** Without a walk of a long schema the server assumes that all of it is defaults, and that each object gets them. */
function growthOf(schema: JsonObject | undefined, facts: SchemaFacts): DefaultGrowth {
  if (!facts.hasDefaults) return { once: 0, perUnit: 0 }
  return isLong(facts) ? { once: facts.length + 1, perUnit: 0 } : growthByDefaults(schema ?? {})
}

/**
 * Fits a stored object to the present definition. Prunes it, and adds the defaults of the version in which it was
 * written. Then converts it to the present storage version. Changes it in place.
 */
export function currentForm(tenant: Tenant, definition: CustomResourceDefinition, object: KubeObject): KubeObject {
  reshape(tenant, definition, object)
  // only callers that can await use the webhook
  return isConvertedByWebhook(definition) ? object : inVersion(tenant, definition, object, storageVersion(definition))
}

/**
 * Converts an object from the version in which it was written to that of a request. An object of the request's version
 * needs no conversion, whatever the storage version is.
 * @throws ConversionError if a webhook has to convert
 */
export function servedForm(
  tenant: Tenant,
  definition: CustomResourceDefinition,
  object: KubeObject,
  version: string,
): KubeObject {
  checkConversion(definition, object, version)
  reshape(tenant, definition, object)
  const served = inVersion(tenant, definition, object, version)
  if (served !== object) pruneNulls(compiledVersion(tenant, definition, version).type, asJson(served))
  return served
}

/** Prunes an object, and adds the defaults of the version in which it was written. */
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
  applyDefaultsToStored(type, json)
}

/**
 * Converts by strategy None: changes apiVersion, and prunes fields that the schema of the other version lacks.
 * @throws ConversionError if a webhook converts the definition's objects
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
  const converted = { ...cloneJson(object), apiVersion }
  // nulls stay, so that validation refuses an applied null
  prune(compiledVersion(tenant, definition, version).type, converted as unknown as JsonObject)
  return converted
}
