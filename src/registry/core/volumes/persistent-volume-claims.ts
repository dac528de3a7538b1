import { ownValue } from '../../../base/own.ts'
import { sentField, withFields } from '../../../schema/emptied.ts'
import { kept } from '../../../base/parts.ts'
import { errorsByName } from '../../../validation/errors-of.ts'
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
  Pod,
} from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../../api/field.ts'
import { Quantity } from '../../../schema/quantity.ts'
import { immutableNamed, validateQualifiedName } from '../../../validation/field-rules.ts'
import { differenceText } from '../../../validation/difference-text.ts'
import { hasInvalidValue } from '../../../validation/label-selectors.ts'
import { subdomainName } from '../../../validation/names.ts'
import { validateObjectMeta } from '../../../validation/object-meta.ts'
import { validateClaimSpec } from '../../../validation/persistent-volume-claim-spec.ts'
import { internalJson } from '../../../validation/pod/internal-json.ts'
import { claimWarnings } from '../../../validation/pod/pod-warnings.ts'
import { isNative, validateAmount } from '../../../validation/pod/resources.ts'
import { sameValue } from '../../../validation/same-value.ts'
import { persistentVolumeClaimPrinter } from '../../../codec/table/core.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import type { StrategyContext } from '../../strategy.ts'
import { claimEvaluator } from '../../quota/claims.ts'
import { isFinished } from '../pods/pod-conditions.ts'
import { claimRules } from './volume-work.ts'

const spec = path('spec')
const status = path('status')
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const SPEC_TYPE = 'io.k8s.api.core.v1.PersistentVolumeClaimSpec'

export const persistentVolumeClaims: BuiltInDefinition<PersistentVolumeClaim> = {
  printer: persistentVolumeClaimPrinter,
  protection: {
    finalizer: 'kubernetes.io/pvc-protection',
    account: 'pvc-protection-controller',
    isUsed: ({ metadata: { namespace = '', name } }, some) =>
      some<Pod>(
        { group: '', resource: 'pods' },
        namespace,
        (pod) =>
          !!pod.spec?.nodeName &&
          !isFinished(pod) &&
          (pod.spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
      ),
  },
  workloadWork: claimRules,
  quota: claimEvaluator,
  prepareForCreate(claim, context) {
    claim.status = { phase: 'Pending' }
    dropForeignSource(claim.spec ?? {}, {}, context)
    joinSources(claim.spec ?? {})
  },
  prepareForUpdate(claim, old, context) {
    dropForeignSource(claim.spec ?? {}, old.spec ?? {}, context)
    joinSources(claim.spec ?? {})
  },
  validate: ({ spec: now }) => validateClaimSpec(spec, now ?? {}),
  validateUpdate: (claim, old) => [
    ...validateObjectMeta(claim.metadata, true, subdomainName),
    ...validateClaimSpec(spec, claim.spec ?? {}, {
      allowInvalidSelectorValues: hasInvalidValue(old.spec?.selector ?? {}),
      allowInvalidDataSourceGroup:
        // storage keeps an absent group as null
        (old.spec?.dataSource?.apiGroup ?? old.spec?.dataSourceRef?.apiGroup ?? undefined) !== undefined,
    }),
    ...changeErrors(claim, old),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  selectableFields: ({ metadata }) => ({ name: metadata.name ?? '' }),
  subresources: { status: { validateUpdate: statusErrors } },
}

/**
 * Without `dataSourceRef`, kube-apiserver drops a `dataSource` of an unknown kind. A namespace in `dataSourceRef` needs
 * its feature gate.
 */
function dropForeignSource(
  now: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec,
  context: StrategyContext,
): void {
  if (
    now.dataSourceRef?.namespace &&
    !context.enabled('CrossNamespaceVolumeDataSource') &&
    old.dataSourceRef === undefined
  )
    delete now.dataSourceRef
  if (old.dataSource !== undefined || old.dataSourceRef !== undefined || now.dataSourceRef !== undefined) return
  const { kind, apiGroup = '' } = now.dataSource ?? {}
  const isKnown =
    (kind === 'PersistentVolumeClaim' && apiGroup === '') ||
    (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')
  if (!isKnown) delete now.dataSource
}

/** If a client sets only one of the two fields, the server sets the other one too. */
function joinSources(now: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = now
  if (dataSource !== undefined && dataSourceRef === undefined) now.dataSourceRef = { ...dataSource }
  else if (dataSourceRef !== undefined && dataSource === undefined && !dataSourceRef.namespace) {
    const { namespace: _none, ...source } = dataSourceRef
    now.dataSource = source
  }
}

function changeErrors(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const now = claim.spec ?? {}
  const before = { ...old.spec }
  joinSources(before)
  const errors: FieldError[] = []
  const compared = withFields(now, {})
  const comparedOld = { ...before }
  if (!before.volumeName) {
    if (now.volumeName === undefined) delete comparedOld.volumeName
    else comparedOld.volumeName = now.volumeName
  }
  const annotated = claim.metadata.annotations?.[CLASS_ANNOTATION]
  const annotatedBefore = old.metadata.annotations?.[CLASS_ANNOTATION]
  const isUnset = before.storageClassName === undefined
  const isFromAnnotation =
    annotatedBefore !== undefined &&
    isUnset &&
    now.storageClassName === annotatedBefore &&
    (annotated === undefined || annotated === annotatedBefore)
  if (isFromAnnotation) delete compared.storageClassName
  else {
    if ((annotated ?? '') !== (annotatedBefore ?? ''))
      errors.push(
        invalidValue(path('metadata', 'annotations', CLASS_ANNOTATION), annotated ?? '', 'field is immutable'),
      )
    if (
      isUnset &&
      now.storageClassName !== undefined &&
      (annotatedBefore === undefined || now.storageClassName === annotatedBefore)
    )
      delete compared.storageClassName
  }
  if (claim.status?.phase === 'Bound') {
    // requests without any are there, too, if the client sent them
    const requests = now.resources && sentField(now.resources, 'requests')
    if (requests !== undefined) {
      const storage = before.resources?.requests?.storage
      compared.resources = withFields(now.resources!, {
        requests: { ...requests, ...(storage === undefined ? {} : { storage }) },
      })
    }
    if (before.volumeAttributesClassName === undefined) delete compared.volumeAttributesClassName
    else compared.volumeAttributesClassName = before.volumeAttributesClassName
  }
  if (!sameValue(SPEC_TYPE, compared, comparedOld)) {
    const was = kept(before, () => internalJson(SPEC_TYPE, comparedOld))
    const wanted = kept(now, () => internalJson(SPEC_TYPE, compared))
    errors.push(
      forbiddenField(
        spec,
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n' +
          differenceText(was, wanted),
      ),
    )
  }
  return [
    ...errors,
    ...sizeErrors(now, before, old.status ?? {}),
    ...immutableNamed(path('volumeMode'), now.volumeMode, before.volumeMode),
    ...attributesClassErrors(now, before, old.status ?? {}),
  ]
}

/** A client may reduce the request of a claim again, but not to the present capacity or below. */
function sizeErrors(
  now: PersistentVolumeClaimSpec,
  before: PersistentVolumeClaimSpec,
  { capacity }: PersistentVolumeClaimStatus,
): FieldError[] {
  const amount = (text: string | undefined) => (text === undefined ? Quantity.zero : Quantity.parse(text))
  const size = amount(now.resources?.requests?.storage)
  if (size.compare(amount(before.resources?.requests?.storage)) >= 0) return []
  if (size.compare(amount(capacity?.storage)) > 0) return []
  return [forbiddenField(spec.child('resources', 'requests', 'storage'), 'field can not be less than status.capacity')]
}

function attributesClassErrors(
  { volumeAttributesClassName: now }: PersistentVolumeClaimSpec,
  { volumeAttributesClassName: before }: PersistentVolumeClaimSpec,
  { currentVolumeAttributesClassName: current }: PersistentVolumeClaimStatus,
): FieldError[] {
  if (now === before || current === undefined || now) return []
  const to = now === undefined ? 'nil' : 'empty string'
  return [
    forbiddenField(
      spec.child('volumeAttributesClassName'),
      `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`,
    ),
  ]
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort()

function statusErrors(claim: PersistentVolumeClaim): FieldError[] {
  const { capacity = {}, allocatedResourceStatuses = {}, allocatedResources = {} } = claim.status ?? {}
  const resizeAt = status.child('allocatedResourceStatuses')
  const allocatedAt = status.child('allocatedResources')
  return [
    ...((claim.spec?.accessModes ?? []).length === 0 ? [required(path('Spec', 'accessModes'))] : []),
    ...errorsByName(capacity, (name) => basicErrors(status.child('capacity').key(name), ownValue(capacity, name)!)),
    ...errorsByName(allocatedResourceStatuses, (name) => [
      ...resourceKeyErrors(resizeAt, name),
      // kube-apiserver prints the map key in place of the value
      ...(resizeStates.includes(ownValue(allocatedResourceStatuses, name)!)
        ? []
        : [notSupported(resizeAt, name, resizeStates)]),
    ]),
    ...errorsByName(allocatedResources, (name) => {
      const amount = ownValue(allocatedResources, name)!
      const wrongKey = resourceKeyErrors(allocatedAt, name)
      if (wrongKey.length > 0) return wrongKey
      const wrong = basicErrors(allocatedAt.key(name), amount)
      return wrong.length > 0 ? wrong : validateAmount(allocatedAt.key(name), 'storage', amount)
    }),
  ]
}

function basicErrors(at: FieldPath, text: string): FieldError[] {
  const value = Quantity.parse(text).scaledValue(0)
  return value < 0n ? [invalidValue(at, value, 'must be a valid resource quantity')] : []
}

function resourceKeyErrors(at: FieldPath, name: string): FieldError[] {
  const errors = validateQualifiedName(at, name)
  if (errors.length > 0 || !isNative(name) || name === 'storage') return errors
  return [notSupported(at, name, ['storage'])]
}

function warnings({ metadata, spec: now }: PersistentVolumeClaim): string[] {
  return [
    ...(metadata.annotations?.[CLASS_ANNOTATION] === undefined
      ? []
      : [`metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`]),
    ...claimWarnings(spec, now),
  ]
}
