import type { StatefulSet, StatefulSetSpec } from '../../api/apps/v1.ts'
import type { PodTemplateSpec } from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, named, notSupported, path, required } from '../../api/field.ts'
import {
  amountOf,
  atMost100Percent,
  nonNegative,
  validateIntOrPercent,
  validateLabelText,
} from '../../validation/field-rules.ts'
import {
  isEmptySelector,
  isUsableSelector,
  selectorMatches,
  validateLabelSelector,
} from '../../validation/label-selectors.ts'
import { labelName } from '../../validation/names.ts'
import { validateAnnotations, validateKindMetaUpdate, validateLabels } from '../../validation/object-meta.ts'
import { validateClaimSpec } from '../../validation/persistent-volume-claim-spec.ts'
import { internalJson, selectorJson, templateLabelsJson } from '../../validation/pod/internal-json.ts'
import { validatePodAnnotations } from '../../validation/pod/pod-annotations.ts'
import {
  NOT_MATCHED,
  templateRules,
  validateAlwaysRunning,
  validatePodTemplate,
} from '../../validation/pod/pod-template.ts'
import { claimWarnings, templateWarnings } from '../../validation/pod/pod-warnings.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { sameValue } from '../../validation/same-value.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { statefulSetPrinter } from '../../codec/table/apps.ts'
import type { DefaultingContext } from '../../schema/default-rules.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { notMoreThan, validateCollisionCount } from './workload.ts'
import { scalableWork } from '../autoscaling/autoscaled-work.ts'
import { itself } from '../work/work.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { eachPart, flatMapParts, kept } from '../../base/parts.ts'

const spec = path('spec')
const status = path('status')
const TYPE = 'io.k8s.api.apps.v1.StatefulSetSpec'

const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const

/** Values that an update may keep if the stored object has them. */
interface Skips {
  readonly serviceName?: boolean
  readonly claims?: boolean
  readonly template?: boolean
}

export const statefulSets: BuiltInDefinition<StatefulSet> = {
  defaults: { v1: defaultRule<StatefulSet>(applyDefaults) },
  zero: { members: { spec: { replicas: 0 } } },
  podTemplate: ({ spec }) => spec?.template,
  printer: statefulSetPrinter,
  workloadWork: [itself('stateful-set'), scalableWork],
  hasGeneration: true,
  nameRule: labelName,
  prepareForCreate: (set, context) => dropDisabled(set, undefined, context),
  prepareForUpdate: (set, old, context) => dropDisabled(set, old, context),
  validate: (set, context) => validateSpec(set.spec ?? {}, templateRules(context), {}),
  validateUpdate(set, old, context) {
    const wanted = set.spec ?? {}
    const before = old.spec ?? {}
    const rules = templateRules(context, before.template)
    const wasInvalid = validateSpec(before, rules, { serviceName: true, claims: true }).length > 0
    const rest = { ...wanted, ...Object.fromEntries(CHANGEABLE.map((field) => [field, before[field]])) }
    return [
      ...validateSpec(wanted, rules, { serviceName: true, claims: true, template: wasInvalid }),
      ...(sameValue(TYPE, rest, before)
        ? []
        : [
            forbiddenField(
              spec,
              "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ),
          ]),
    ]
  },
  warningsOnCreate: (set) => [
    ...templateWarnings(spec.child('template'), set.spec?.template ?? {}),
    ...warningsOfClaims(set, (at) => at),
    ...historyWarnings(set),
  ],
  warningsOnUpdate: (set, old) => [
    ...(set.metadata.generation === old.metadata.generation
      ? []
      : templateWarnings(spec.child('template'), set.spec?.template ?? {})),
    ...warningsOfClaims(set, (at) => at.child('Spec')),
    ...historyWarnings(set),
  ],
  subresources: {
    status: {
      metadataOnUpdate: 'by strategy',
      validateUpdate: ({ metadata, status: found = {} }, old) => [
        ...counts.flatMap((field) => nonNegative(status.child(field), found[field])),
        ...notMoreThan(
          status,
          found,
          ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
          'replicas',
          'status.replicas',
        ),
        ...notMoreThan(status, found, ['availableReplicas'], 'readyReplicas', 'status.readyReplicas'),
        ...validateKindMetaUpdate(metadata, old.metadata),
        ...validateCollisionCount(status, found, old.status),
      ],
    },
  },
}

const counts = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
] as const

function dropDisabled(set: StatefulSet, old: StatefulSet | undefined, { enabled }: StrategyContext): void {
  const rolling = set.spec?.updateStrategy?.rollingUpdate
  const inUse = old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable !== undefined
  if (!enabled('MaxUnavailableStatefulSet') && !inUse) delete rolling?.maxUnavailable
  dropDisabledPodFields(set.spec?.template?.spec, old?.spec?.template?.spec, enabled)
}

const warningsOfClaims = (set: StatefulSet, under: (at: FieldPath) => FieldPath): string[] =>
  flatMapParts(set.spec?.volumeClaimTemplates ?? [], (claim, index) =>
    claimWarnings(under(spec.child('volumeClaimTemplates').index(index)), claim.spec),
  )

const historyWarnings = (set: StatefulSet): string[] =>
  (set.spec?.revisionHistoryLimit ?? 0) < 0
    ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
    : []

function validateSpec(set: StatefulSetSpec, rules: PodRules, skips: Skips): FieldError[] {
  const { podManagementPolicy = '', selector, template = {}, serviceName = '', ordinals } = set
  const policies = ['OrderedReady', 'Parallel']
  const policyAt = spec.child('podManagementPolicy')
  const here = spec.child('selector')
  return [
    ...(podManagementPolicy === ''
      ? [required(policyAt)]
      : policies.includes(podManagementPolicy)
        ? []
        : [invalidValue(policyAt, named(podManagementPolicy), "must be 'OrderedReady' or 'Parallel'")]),
    ...validateStrategy(spec.child('updateStrategy'), set.updateStrategy ?? {}),
    ...validateRetention(spec.child('persistentVolumeClaimRetentionPolicy'), set.persistentVolumeClaimRetentionPolicy),
    ...(skips.claims
      ? []
      : errorsOf(set.volumeClaimTemplates ?? [], (claim, index) =>
          validateClaimSpec(spec.child('volumeClaimTemplates').index(index).child('spec'), claim.spec ?? {}),
        )),
    ...nonNegative(spec.child('replicas'), set.replicas),
    ...nonNegative(spec.child('minReadySeconds'), set.minReadySeconds),
    ...nonNegative(spec.child('ordinals.start'), ordinals?.start),
    ...(skips.serviceName || serviceName === '' ? [] : validateLabelText(spec.child('serviceName'), serviceName)),
    ...(selector === undefined ? [required(here)] : validateLabelSelector(here, selector)),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [invalidValue(here, selectorJson(selector), 'empty selector is invalid for statefulset')]
      : []),
    ...(selector !== undefined && !isUsableSelector(selector)
      ? [invalidValue(here, selectorJson(selector), '')]
      : validateTemplate(spec.child('template'), set, rules, skips)),
    ...validateAlwaysRunning(spec.child('template'), template, 'StatefulSet'),
  ]
}

function validateStrategy(at: FieldPath, strategy: NonNullable<StatefulSetSpec['updateStrategy']>): FieldError[] {
  const { type = '', rollingUpdate } = strategy
  const rolling = at.child('rollingUpdate')
  if (type === '') return [required(at)]
  // in kube-apiserver's internal type the partition is no pointer
  const internal = rollingUpdate && { ...rollingUpdate, partition: rollingUpdate.partition ?? 0 }
  if (type === 'OnDelete') {
    if (internal === undefined) return []
    const shown = internalJson('io.k8s.api.apps.v1.RollingUpdateStatefulSetStrategy', internal)
    return [invalidValue(rolling, shown, "only allowed for updateStrategy 'RollingUpdate'")]
  }
  if (type !== 'RollingUpdate') {
    const shown = internalJson('io.k8s.api.apps.v1.StatefulSetUpdateStrategy', {
      ...strategy,
      ...(internal && { rollingUpdate: internal }),
    })
    return [invalidValue(at, shown, "must be 'RollingUpdate' or 'OnDelete'")]
  }
  if (rollingUpdate === undefined) return []
  const { maxUnavailable, partition } = rollingUpdate
  const unavailable = rolling.child('maxUnavailable')
  return [
    ...nonNegative(rolling.child('partition'), partition),
    ...(maxUnavailable === undefined
      ? []
      : [
          ...validateIntOrPercent(unavailable, maxUnavailable),
          ...(amountOf(maxUnavailable) === 0 ? [invalidValue(unavailable, maxUnavailable, 'cannot be 0')] : []),
          ...atMost100Percent(unavailable, maxUnavailable),
        ]),
  ]
}

function validateRetention(
  at: FieldPath,
  policy: StatefulSetSpec['persistentVolumeClaimRetentionPolicy'],
): FieldError[] {
  if (policy === undefined) return []
  const known = ['Retain', 'Delete']
  return (['whenDeleted', 'whenScaled'] as const)
    .filter((field) => !known.includes(policy[field] ?? ''))
    .map((field) => notSupported(at.child(field), policy[field] ?? '', known))
}

/**
 * Validates the template without its hostname and subdomain, which the set gives its pods, and with the claims as
 * volumes.
 */
function validateTemplate(at: FieldPath, set: StatefulSetSpec, rules: PodRules, skips: Skips): FieldError[] {
  const { selector, template = {} } = set
  const created = kept(set, () => asCreated(template, set.volumeClaimTemplates ?? []))
  const labels = template.metadata?.labels ?? {}
  const annotations = template.metadata?.annotations ?? {}
  const matched = selector !== undefined && (isEmptySelector(selector) || selectorMatches(selector, labels))
  return [
    ...(matched ? [] : [invalidValue(at.child('metadata', 'labels'), templateLabelsJson(template), NOT_MATCHED)]),
    ...(skips.template ? [] : validatePodTemplate(at, created, rules)),
    ...validateLabels(labels, at.child('labels')),
    ...validateAnnotations(annotations, at.child('annotations')),
    ...validatePodAnnotations(at.child('annotations'), annotations, template.spec ?? {}, rules),
  ]
}

function asCreated(
  template: PodTemplateSpec,
  claims: NonNullable<StatefulSetSpec['volumeClaimTemplates']>,
): PodTemplateSpec {
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = template.spec ?? {}
  const names = new Set(claims.map(({ metadata }) => metadata?.name ?? ''))
  const volumes = [
    ...[...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...(pod.volumes ?? []).filter(({ name = '' }) => !names.has(name)),
  ]
  return { ...template, spec: { ...pod, ...(claims.length > 0 ? { volumes } : {}) } }
}

function applyDefaults({ spec }: StatefulSet, context: DefaultingContext): void {
  const set = spec!
  set.podManagementPolicy ||= 'OrderedReady'
  const strategy = set.updateStrategy!
  if (!strategy.type) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.partition ??= 0
    if (context.enabled('MaxUnavailableStatefulSet')) strategy.rollingUpdate.maxUnavailable ??= 1
  }
  const claims = (set.persistentVolumeClaimRetentionPolicy ??= {})
  claims.whenDeleted ||= 'Retain'
  claims.whenScaled ||= 'Retain'
  set.replicas ??= 1
  set.revisionHistoryLimit ??= 10
  eachPart(set.volumeClaimTemplates ?? [], (claim) => {
    Object.assign(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' })
  })
}
