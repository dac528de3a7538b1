/** Stories of one object: several managers write in a given order; tests check the object and its managed fields. */
import type { GroupVersionKind } from '../../src/api/group-version.ts'
import { apiVersionOf } from '../../src/api/group-version.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../src/api/object.ts'
import type { JsonTree } from '../../src/json/json.ts'
import { parseStored } from '../../src/json/parse-json.ts'
import { decodeObject } from '../../src/codec/decode/decode.ts'
import { canonical } from '../../src/codec/encode/encode.ts'
import { serverSideApply } from '../../src/patch/apply.ts'
import { trackUpdate } from '../../src/patch/managed-fields.ts'
import { keepEmptyManagedFields, mergedObject } from '../../src/patch/object-forms.ts'
import { builtInResetFields } from '../../src/registry/built-in-resource.ts'
import { customResetFields } from '../../src/registry/custom-resources/custom-resource.ts'
import { definitionOf } from '../../src/registry/definitions.ts'
import { parseFeatureGates } from '../../src/api/feature-gates.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import type { DefaultingContext } from '../../src/schema/default-rules.ts'
import { applyDefaults } from '../../src/schema/defaulting.ts'
import type { StructType } from '../../src/schema/structural.ts'

/** Defaulting of a server without settings, whose feature gates change no default of these kinds. */
const defaultingOf = ({ kind: { group, version }, type, resource }: Actor): DefaultingContext => {
  const apply = definitionOf({ group, resource }).defaults?.[version]
  return {
    now: new Date('2030-01-01T00:00:00Z'),
    enabled: parseFeatureGates(undefined).enabled,
    ofKind: apply && { type: type.name, apply },
  }
}

export interface Actor {
  readonly kind: GroupVersionKind
  readonly type: StructType
  readonly resource: string
}

export const configMaps: Actor = builtIn({ group: '', version: 'v1', kind: 'ConfigMap' }, 'configmaps')
export const deployments: Actor = builtIn({ group: 'apps', version: 'v1', kind: 'Deployment' }, 'deployments')
export const clusterRoles: Actor = builtIn(
  { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole' },
  'clusterroles',
)
export const services: Actor = builtIn({ group: '', version: 'v1', kind: 'Service' }, 'services')

function builtIn(kind: GroupVersionKind, resource: string): Actor {
  return { kind, type: typeOfKind(kind)!, resource }
}

/** Plays a story. Each step starts from the object that the step before left, one minute later. */
export class Story {
  object: KubeObject | undefined
  private time = Date.parse('2030-01-01T00:00:00Z')

  constructor(private readonly of: Actor) {}

  /** A create or an update with a whole object; the server fills in the rest. */
  write(manager: string, sent: JsonObject, subresource = ''): this {
    const { type, kind } = this.of
    const body = this.complete(sent)
    const object = (type.goType === undefined
      ? structuredClone(body)
      : decodeObject(type, structuredClone(body)).object) as unknown as KubeObject
    if (type.goType !== undefined) applyDefaults(type, object as unknown as JsonObject, defaultingOf(this.of))
    keepEmptyManagedFields(type, body, object)
    const managedFields = trackUpdate({
      type,
      live: this.object,
      object,
      manager,
      apiVersion: apiVersionOf(kind),
      subresource,
      now: this.now(),
      resetFields: this.resetFields(subresource),
      failed(error) {
        throw error
      },
    })
    return this.store({ ...object, metadata: { ...object.metadata, managedFields: managedFields! } })
  }

  /** Changes a copy of the object and sends it as an update. */
  edit(manager: string, change: (object: JsonObject) => void, subresource = ''): this {
    const copy = structuredClone(this.object) as unknown as JsonObject
    change(copy)
    return this.write(manager, copy, subresource)
  }

  apply(manager: string, config: JsonObject, options: { force?: boolean; subresource?: string } = {}): this {
    const { type, kind } = this.of
    const { force = false, subresource = '' } = options
    return this.store(
      serverSideApply({
        type,
        kind,
        live: this.object,
        config: this.complete(config),
        manager,
        force,
        subresource,
        now: this.now(),
        resetFields: this.resetFields(subresource),
        toObject: (merged) => this.decoded(merged),
      }),
    )
  }

  /** The object without the metadata that no story checks. */
  get content(): JsonObject {
    const {
      kind: _,
      apiVersion: __,
      metadata,
      ...rest
    } = this.object as unknown as JsonObject & { metadata: JsonObject }
    const { name: ___, uid: ____, managedFields: _____, ...kept } = metadata
    return Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept }
  }

  /** Managed fields by manager, operation and subresource: `Apply a status` → the paths it owns. */
  get owners(): Record<string, JsonObject> {
    return Object.fromEntries(
      this.entries.map(({ manager, operation, subresource, fieldsV1 }) => [
        [operation, manager, subresource].filter(Boolean).join(' '),
        fieldsV1 as JsonObject,
      ]),
    )
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return this.object?.metadata.managedFields ?? []
  }

  private complete(sent: JsonObject): JsonObject {
    const { kind } = this.of
    const metadata = { name: 'x', ...(sent['metadata'] as JsonObject | undefined) }
    return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...sent, metadata }
  }

  private decoded(merged: JsonObject): KubeObject {
    const { type, kind } = this.of
    const decoding = {
      decode: (tree: JsonTree) => decodeObject(type, tree),
      applyDefaults: (object: JsonObject) => applyDefaults(type, object, defaultingOf(this.of)),
    }
    return mergedObject(type, kind, merged, decoding) as unknown as KubeObject
  }

  private store(object: KubeObject): this {
    const { type } = this.of
    const json = object as unknown as JsonObject
    const written = type.goType === undefined ? json : canonical(type, json)
    // storage holds text, so the object passes through JSON
    this.object = parseStored(JSON.stringify(written)) as unknown as KubeObject
    this.object.metadata.uid = 'u'
    return this
  }

  private now = () => new Date((this.time += 60_000))

  private resetFields(subresource: string) {
    const { kind, resource, type } = this.of
    const withStatus = type.field('status') !== undefined
    return type.goType === undefined
      ? customResetFields(apiVersionOf(kind), subresource, () => withStatus)
      : builtInResetFields(definitionOf({ group: kind.group, resource }), withStatus, subresource)
  }
}
