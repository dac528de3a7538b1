/**
 * Drops fields whose feature gate is off, without a warning. A write keeps them where the stored object already has
 * them. The schema names the feature gate of each field.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart, kept } from '../base/parts.ts'
import { dropField, sentField } from './emptied.ts'
import type { Field, HeldAs, StructType, Structural } from './structural.ts'

/** Feature gates of fields for which the schema names none, or another one than kube-apiserver checks. */
const gatesElsewhere: Readonly<Record<string, readonly string[]>> = {
  'io.k8s.api.core.v1.Lifecycle.stopSignal': ['ContainerStopSignals'],
  // kube-apiserver keeps what kubelets report
  'io.k8s.api.core.v1.ContainerStatus.stopSignal': [],
  'io.k8s.api.core.v1.VolumeMountStatus.volumeStatus': ['ImageVolumeWithDigest'],
  'io.k8s.api.core.v1.VolumeProjection.podCertificate': ['PodCertificateRequest'],
  // the strategy of claims drops the whole reference instead
  'io.k8s.api.core.v1.TypedObjectReference.namespace': [],
  // kube-apiserver has no gate for these any more
  'io.k8s.api.storage.v1.CSIDriverSpec.storageCapacity': [],
  'io.k8s.api.discovery.v1beta1.Endpoint.hints': [],
}

/** Structs that go when dropping has removed their last member. */
const goesWhenEmpty = new Set(['io.k8s.api.core.v1.Lifecycle'])

/**
 * Changes an object in place; the object is in its normal form.
 * @param old the stored object of an update
 */
export function dropDisabledFields(
  type: StructType,
  object: JsonObject,
  old: JsonObject | undefined,
  enabled: (gate: string) => boolean,
): void {
  const isOff = (field: string, gates: readonly string[]) => gates.some((gate) => !enabled(gate)) && !isUsed(field)
  /** Structs that lost a field here. A struct that the client sent empty stays. */
  const lessened = kept(object, () => new Set<Json>())
  const wasEmptied = (value: Json | undefined) => isEmptyObject(value) && lessened.has(value!)
  let used: ReadonlySet<string> | undefined
  const isUsed = (field: string) => (used ??= old === undefined ? new Set() : fieldsIn(type, old)).has(field)
  eachStruct(type, object, (struct, value) => {
    for (const [name, field, gates] of gatedFields(struct))
      if (sentField(value, name) !== undefined && isOff(field, gates)) {
        dropField(value, name)
        lessened.add(value)
      }
    for (const { name, type } of builtInFields(struct))
      if (type.shape === 'struct' && goesWhenEmpty.has(type.name) && wasEmptied(ownValue(value, name)))
        delete value[name]
  })
}

const isEmptyObject = (value: Json | undefined) => isJsonObject(value) && Object.keys(value).length === 0

/** Gated fields that an object has. */
function fieldsIn(type: StructType, object: JsonObject): Set<string> {
  const found = kept(object, () => new Set<string>())
  eachStruct(type, object, (struct, value) => {
    for (const [name, field] of gatedFields(struct)) if (ownValue(value, name) !== undefined) found.add(field)
  })
  return found
}

/** Fields of custom resources have no feature gates, and may be many. So only their metadata is checked. */
const mayBeGated = {
  typed: ({ fields }) => fields,
  unstructured: (type) => (type.typeMeta ? [type.field('metadata')].filter((field) => field !== undefined) : []),
} satisfies Record<HeldAs, (type: StructType) => readonly Field[]>

const builtInFields = (type: StructType): readonly Field[] => mayBeGated[type.heldAs](type)

const gated = new WeakMap<StructType, readonly (readonly [name: string, field: string, gates: readonly string[]])[]>()

function gatedFields(type: StructType): readonly (readonly [name: string, field: string, gates: readonly string[]])[] {
  let fields = gated.get(type)
  if (fields === undefined) {
    fields = builtInFields(type)
      .map(({ name, featureGates }) => {
        const field = `${type.name}.${name}`
        return [name, field, ownValue(gatesElsewhere, field) ?? featureGates ?? []] as const
      })
      .filter(([, , gates]) => gates.length > 0)
    gated.set(type, fields)
  }
  return fields
}

/** Visits a struct after the structs inside of it, so that `visit` finds the members that have become empty. */
function eachStruct(
  type: Structural,
  value: Json | undefined,
  visit: (type: StructType, value: JsonObject) => void,
): void {
  if (value === undefined || value === null || !mayHoldGated(type)) return
  if (type.shape === 'list') eachPart(value as Json[], (element) => eachStruct(type.element, element, visit))
  else if (type.shape === 'map')
    eachName(value as JsonObject, Object.keys, (name) => eachStruct(type.value, (value as JsonObject)[name], visit))
  else if (type.shape === 'struct' && isJsonObject(value)) {
    for (const { name, type: of } of holders(type)) eachStruct(of, ownValue(value, name), visit)
    visit(type, value)
  }
}

const holding = new WeakMap<StructType, boolean>()

/** Whether the type, or one inside of it, has a gated field. */
function mayHoldGated(type: Structural): boolean {
  if (type.shape === 'list') return mayHoldGated(type.element)
  if (type.shape === 'map') return mayHoldGated(type.value)
  if (type.shape !== 'struct') return false
  let holds = holding.get(type)
  if (holds === undefined) {
    holding.set(type, false) // a type may contain itself
    holds = gatedFields(type).length > 0 || builtInFields(type).some((field) => mayHoldGated(field.type))
    holding.set(type, holds)
  }
  return holds
}

const holderFields = new WeakMap<StructType, readonly Field[]>()

function holders(type: StructType): readonly Field[] {
  let fields = holderFields.get(type)
  if (fields === undefined) {
    fields = builtInFields(type).filter((field) => mayHoldGated(field.type))
    holderFields.set(type, fields)
  }
  return fields
}
