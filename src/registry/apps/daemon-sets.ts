import type { DaemonSet, DaemonSetSpec } from '../../api/apps/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { invalidValue, notSupported, path, required } from '../../api/field.ts'
import { badRequest } from '../../api/status.ts'
import {
  amountOf,
  atMost100Percent,
  immutable,
  nonNegative,
  validateIntOrPercent,
} from '../../validation/field-rules.ts'
import {
  hasInvalidValue,
  isEmptySelector,
  isUsableSelector,
  selectorMatches,
  validateLabelSelector,
} from '../../validation/label-selectors.ts'
import { internalJson, selectorJson, templateLabelsJson } from '../../validation/pod/internal-json.ts'
import {
  NOT_MATCHED,
  templateRules,
  validateAlwaysRunning,
  validatePodTemplate,
} from '../../validation/pod/pod-template.ts'
import { templateWarnings } from '../../validation/pod/pod-warnings.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { samePodTemplate, sameSelector } from '../../validation/same-value.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { daemonSetPrinter } from '../../codec/table/apps.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { validateCollisionCount } from './workload.ts'
import { itself } from '../work/work.ts'

const spec = path('spec')
const status = path('status')
/** Counts changes of the template. Older versions of the kind had a field for it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

export const daemonSets: BuiltInDefinition<DaemonSet> = {
  defaults: { v1: defaultRule<DaemonSet>(applyDefaults) },
  internalAnnotation: 'deprecated.daemonset.template.generation',
  zero: { annotations: { 'deprecated.daemonset.template.generation': '0' } },
  podTemplate: ({ spec }) => spec?.template,
  printer: daemonSetPrinter,
  workloadWork: [itself('daemon-set')],
  hasGeneration: true,
  prepareForCreate(daemonSet, { enabled }) {
    const generation = templateGeneration(daemonSet)
    setTemplateGeneration(daemonSet, generation < 1n ? 1n : generation)
    dropDisabledPodFields(daemonSet.spec?.template?.spec, undefined, enabled)
  },
  prepareForUpdate(daemonSet, old, { enabled }) {
    dropDisabledPodFields(daemonSet.spec?.template?.spec, old.spec?.template?.spec, enabled)
    const same = samePodTemplate(daemonSet.spec?.template, old.spec?.template)
    templateGeneration(daemonSet) // its text must be a number, but only the server counts
    setTemplateGeneration(daemonSet, templateGeneration(old) + (same ? 0n : 1n))
  },
  validate: (daemonSet, context) => validateSpec(daemonSet.spec ?? {}, templateRules(context), false),
  validateUpdate: (daemonSet, old, context) => {
    const { selector } = old.spec ?? {}
    return [
      ...immutable(
        spec.child('selector'),
        () => (daemonSet.spec?.selector ? selectorJson(daemonSet.spec.selector) : null),
        sameSelector(daemonSet.spec?.selector, selector),
      ),
      ...validateSpec(
        daemonSet.spec ?? {},
        templateRules(context, old.spec?.template),
        selector !== undefined && hasInvalidValue(selector),
      ),
    ]
  },
  warningsOnCreate: (daemonSet) => templateWarnings(spec.child('template'), daemonSet.spec?.template ?? {}),
  warningsOnUpdate: (daemonSet, old) =>
    templateGeneration(daemonSet) === templateGeneration(old)
      ? []
      : templateWarnings(spec.child('template'), daemonSet.spec?.template ?? {}),
  subresources: {
    status: {
      prepareForUpdate(daemonSet, old) {
        templateGeneration(daemonSet) // as in an update of the whole
        setTemplateGeneration(daemonSet, templateGeneration(old))
      },
      validateUpdate: ({ status: found = {} }, old) => [
        ...counts.flatMap((field) => nonNegative(status.child(field), found[field])),
        ...validateCollisionCount(status, found, old.status),
      ],
    },
  },
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const

/** @throws 400 if the text is no 64-bit number, because kube-apiserver cannot read such an object */
function templateGeneration({ metadata }: DaemonSet): bigint {
  const text = metadata.annotations?.[TEMPLATE_GENERATION]
  if (text === undefined) return 0n
  const isNumber = /^[-+]?\d+$/.test(text)
  const value = isNumber ? BigInt(text.replace('+', '')) : 0n
  if (isNumber && BigInt.asIntN(64, value) === value) return value
  throw badRequest(
    `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${goQuote(text)}: ${isNumber ? 'value out of range' : 'invalid syntax'}`,
  )
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: bigint): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) }
}

function validateSpec(daemonSet: DaemonSetSpec, rules: PodRules, allowInvalidValues: boolean): FieldError[] {
  const { selector, template = {}, minReadySeconds, updateStrategy = {}, revisionHistoryLimit } = daemonSet
  const here = spec.child('selector')
  const templateAt = spec.child('template')
  const labels = template.metadata?.labels
  const matched = selector !== undefined && (!isUsableSelector(selector) || selectorMatches(selector, labels))
  return [
    ...validateLabelSelector(here, selector, { allowInvalidValues }),
    ...(matched
      ? []
      : [invalidValue(templateAt.child('metadata', 'labels'), templateLabelsJson(template), NOT_MATCHED)]),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [invalidValue(here, selectorJson(selector), 'empty selector is invalid for daemonset')]
      : []),
    ...validatePodTemplate(templateAt, template, rules),
    ...validateAlwaysRunning(templateAt, template, 'DaemonSet'),
    ...nonNegative(spec.child('minReadySeconds'), minReadySeconds),
    ...validateStrategy(spec.child('updateStrategy'), updateStrategy),
    ...nonNegative(spec.child('revisionHistoryLimit'), revisionHistoryLimit),
  ]
}

function validateStrategy(at: FieldPath, strategy: NonNullable<DaemonSetSpec['updateStrategy']>): FieldError[] {
  if (strategy.type === 'OnDelete') return []
  if (strategy.type !== 'RollingUpdate') {
    const shown = internalJson('io.k8s.api.apps.v1.DaemonSetUpdateStrategy', strategy)
    return [notSupported(at, shown, ['RollingUpdate', 'OnDelete'])]
  }
  const rolling = at.child('rollingUpdate')
  if (strategy.rollingUpdate === undefined) return [required(rolling)]
  const { maxUnavailable = 0, maxSurge = 0 } = strategy.rollingUpdate
  const unavailable = rolling.child('maxUnavailable')
  const surge = rolling.child('maxSurge')
  return [
    ...validateIntOrPercent(unavailable, maxUnavailable),
    ...validateIntOrPercent(surge, maxSurge),
    ...atMost100Percent(unavailable, maxUnavailable),
    ...atMost100Percent(surge, maxSurge),
    ...(amountOf(maxUnavailable) !== 0 && amountOf(maxSurge) !== 0
      ? [invalidValue(surge, maxSurge, 'may not be set when maxUnavailable is non-zero')]
      : []),
    ...(amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [required(unavailable, 'cannot be 0 when maxSurge is 0')]
      : []),
  ]
}

/**
 * kube-apiserver's internal type keeps the generation of the template in a field. It writes that field as an
 * annotation.
 */
function applyDefaults({ metadata, spec }: DaemonSet): void {
  metadata!.annotations = {
    ...metadata!.annotations,
    [TEMPLATE_GENERATION]: metadata!.annotations?.[TEMPLATE_GENERATION] ?? '0',
  }
  const strategy = spec!.updateStrategy!
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= 1
  }
  // in kube-apiserver's internal type these fields always have a value
  if (strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.maxUnavailable ??= 0
    strategy.rollingUpdate.maxSurge ??= 0
  }
  spec!.revisionHistoryLimit ??= 10
}
