/** Validates which fields of a PersistentVolume an update may change. */
import type { NodeSelectorRequirement, PersistentVolumeSpec, VolumeNodeAffinity } from '../../../api/core/v1.ts'
import type { FieldError } from '../../../api/field.ts'
import { forbiddenField, invalidValue, path } from '../../../api/field.ts'
import type { Json, JsonObject } from '../../../api/object.ts'
import { ownValue } from '../../../base/own.ts'
import { everyPart, kept } from '../../../base/parts.ts'
import { valuesEqual, valuesEqualApart } from '../../../json/value-order.ts'
import { sentField } from '../../../schema/emptied.ts'
import { immutableNamed } from '../../../validation/field-rules.ts'
import { differenceText } from '../../../validation/difference-text.ts'
import { internalJson } from '../../../validation/pod/internal-json.ts'
import { sourceOrder } from './persistent-volume-sources.ts'

const specAt = path('spec')

/** Checks the immutable fields. Other code validates the new state. */
export function volumeChangeErrors(
  now: PersistentVolumeSpec,
  before: PersistentVolumeSpec,
  { mutableAffinity }: { readonly mutableAffinity: boolean },
): FieldError[] {
  const classBefore = before.volumeAttributesClassName
  return [
    ...sourceChangeErrors(now, before),
    // kube-apiserver reports these paths without `spec`
    ...immutableNamed(path('volumeMode'), now.volumeMode, before.volumeMode),
    ...(!mutableAffinity && before.nodeAffinity !== undefined && !sameAffinity(now.nodeAffinity, before.nodeAffinity)
      ? [
          invalidValue(
            path('nodeAffinity'),
            now.nodeAffinity === undefined ? null : kept(now.nodeAffinity, () => affinityAsPrinted(now.nodeAffinity!)),
            'field is immutable, except for updating from beta label to GA',
          ),
        ]
      : []),
    ...(classBefore !== undefined && now.volumeAttributesClassName === undefined
      ? [forbiddenField(specAt.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden')]
      : []),
  ]
}

function sourceChangeErrors(now: PersistentVolumeSpec, before: PersistentVolumeSpec): FieldError[] {
  if (sameSources(now, before)) return []
  // an update may add a secret for volume expansion
  const { controllerExpandSecretRef, ...csi } = now.csi ?? {}
  const isAdded = before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined
  if (now.csi !== undefined && isAdded && controllerExpandSecretRef !== undefined)
    if (sameSources({ ...now, csi }, before)) return []
  const was = kept(before, () => shownSources(before))
  const wanted = kept(now, () => shownSources(now))
  return [
    forbiddenField(
      specAt.child('persistentvolumesource'),
      `spec.persistentvolumesource is immutable after creation\n${differenceText(was, wanted)}`,
    ),
  ]
}

/** The sources, with the field names of kube-apiserver's internal type. */
function shownSources(of: PersistentVolumeSpec): object {
  const whole = internalJson('io.k8s.api.core.v1.PersistentVolumeSpec', sourcesOf(of)) as JsonObject
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !besideSources.has(name)))
}

const besideSources = new Set(
  `Capacity AccessModes ClaimRef PersistentVolumeReclaimPolicy StorageClassName MountOptions VolumeMode NodeAffinity
  VolumeAttributesClassName`.split(/\s+/),
)

const sourcesOf = (of: PersistentVolumeSpec): object =>
  Object.fromEntries(sourceOrder.flatMap((field) => (of[field] === undefined ? [] : [[field, of[field]]])))

const sameSources = (a: PersistentVolumeSpec, b: PersistentVolumeSpec): boolean =>
  // sources are JSON, but their interfaces do not say so
  sourceOrder.every((field) => valuesEqualApart(a[field] as Json | undefined, b[field] as Json | undefined))

/**
 * Kubernetes renamed these node labels. An update may use the new name in place of the old one. As in kube-apiserver,
 * it may also remove the key.
 */
const renamedLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

function sameAffinity(now: VolumeNodeAffinity | undefined, before: VolumeNodeAffinity): boolean {
  if (now === undefined) return false
  const old = before.required?.nodeSelectorTerms ?? []
  const terms = now.required?.nodeSelectorTerms ?? []
  return (
    old.length === terms.length &&
    everyPart(old, ({ matchFields, matchExpressions }, index) => {
      const other = terms[index]!
      return (
        sameExpressions(matchFields, other.matchFields) && sameExpressions(matchExpressions, other.matchExpressions)
      )
    })
  )
}

const sameExpressions = (
  before: readonly NodeSelectorRequirement[] = [],
  now: readonly NodeSelectorRequirement[] = [],
): boolean =>
  before.length === now.length &&
  everyPart(before, (old, index) => {
    const one = now[index]!
    const [key = '', oldKey = ''] = [one.key, old.key]
    const isSameKey = key === oldKey || (ownValue(renamedLabels, oldKey) ?? '') === key
    return isSameKey && (one.operator ?? '') === (old.operator ?? '') && valuesEqual(valuesOf(one), valuesOf(old))
  })

const valuesOf = (one: NodeSelectorRequirement): string[] | null => sentField(one, 'values') ?? null

/** kube-apiserver prints the field names of its internal type. */
function affinityAsPrinted({ required: selector }: VolumeNodeAffinity) {
  const expressions = (list: readonly NodeSelectorRequirement[] | undefined) =>
    list === undefined
      ? null
      : list.map((one) => ({
          Key: one.key ?? '',
          Operator: one.operator ?? '',
          Values: valuesOf(one),
        }))
  if (selector === undefined) return { Required: null }
  return {
    Required: {
      NodeSelectorTerms:
        selector.nodeSelectorTerms?.map((term) => ({
          MatchExpressions: expressions(sentField(term, 'matchExpressions')),
          MatchFields: expressions(sentField(term, 'matchFields')),
        })) ?? null,
    },
  }
}
