import type { Job, JobSpec } from '../../api/batch/v1.ts'
import type { PodTemplateSpec } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { immutable, immutableNamed } from '../../validation/field-rules.ts'
import {
  hasInvalidValue,
  isUsableSelector,
  selectorMatches,
  validateLabelSelector,
} from '../../validation/label-selectors.ts'
import { dns1123Label, subdomainName } from '../../validation/names.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { internalJson, selectorJson, labelsJson, templateLabelsJson } from '../../validation/pod/internal-json.ts'
import { NOT_MATCHED, templateRules } from '../../validation/pod/pod-template.ts'
import { hostnameWarnings } from '../../validation/pod/pod-warnings.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { samePodSpec, samePodTemplate, sameSelector, sameValue } from '../../validation/same-value.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { jobPrinter } from '../../codec/table/batch.ts'
import { goQuote } from '../../go/quote.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { labelsOfTemplate } from '../template-labels.ts'
import type { StrategyContext } from '../strategy.ts'
import { jobSpecWarnings, validateJobSpec } from './job-spec.ts'
import { isTrue, validateJobStatusUpdate } from './job-status.ts'
import type { WorkloadRule } from '../work/work.ts'
import { itself, keyOf, ownersWork } from '../work/work.ts'

const spec = path('spec')
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid'
const JOB_NAME = 'batch.kubernetes.io/job-name'
const LEGACY_CONTROLLER_UID = 'controller-uid'
const LEGACY_JOB_NAME = 'job-name'

/**
 * After a Job is gone, `job-gone` takes the tracking finalizer off its pods, and the Job's controller forgets the Job.
 */
const goneWork: WorkloadRule = ({ object, old }) =>
  object === undefined && old !== undefined
    ? [
        { topic: 'job-gone', payload: `${old.metadata.namespace}/${old.metadata.uid}` },
        { topic: 'job', payload: keyOf(old) },
      ]
    : []

export const jobs: BuiltInDefinition<Job> = {
  defaults: { v1: defaultRule<Job>(applyDefaults) },
  unknownField: (field) => `field label ${goQuote(field)} not supported for Job`,
  podTemplate: ({ spec }) => spec?.template,
  printer: jobPrinter,
  workloadWork: [itself('job'), ownersWork, goneWork],
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  warningOfDefaultPropagation:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  prepareForCreate(job, { enabled }) {
    const wanted = (job.spec ??= {})
    if (wanted.manualSelector !== true) generateSelector(job, wanted)
    dropDisabledPodFields(wanted.template?.spec, undefined, enabled)
  },
  completeOnCreate: labelsOfTemplate,
  prepareForUpdate(job, old, { enabled }) {
    dropDisabledPodFields(job.spec?.template?.spec, old.spec?.template?.spec, enabled)
  },
  validate: (job, context) => validateJob(job, templateRules(context), true, false),
  metadataOnUpdate: 'by strategy',
  validateUpdate(job, old, context) {
    const rules = templateRules(context, old.spec?.template)
    const labels = old.spec?.template?.metadata?.labels ?? {}
    const selector = old.spec?.selector
    const lenient = selector !== undefined && hasInvalidValue(selector)
    return [
      ...validateObjectMeta(job.metadata, true, subdomainName),
      ...validateJob(job, rules, Object.hasOwn(labels, JOB_NAME) && Object.hasOwn(labels, CONTROLLER_UID), lenient),
      ...validateKindMetaUpdate(job.metadata, old.metadata),
      ...validateSpecUpdate(job, old, rules, context, lenient),
    ]
  },
  selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  warningsOnCreate: (job) => [
    ...hostnameWarnings(job.metadata.name ?? '', 'Pod names and hostnames'),
    ...jobSpecWarnings(spec, job.spec ?? {}),
  ],
  warningsOnUpdate: (job, old) =>
    job.metadata.generation === old.metadata.generation ? [] : jobSpecWarnings(spec, job.spec ?? {}),
  subresources: { status: { prepareForUpdate: labelsOfTemplate, validateUpdate: validateJobStatusUpdate } },
}

/** The selector and the pods' labels contain the UID of the Job, so no Job selects pods of another one. */
function generateSelector({ metadata }: Job, wanted: JobSpec): void {
  const { name = '', uid = '' } = metadata
  const template = (wanted.template ??= {})
  const labels = ((template.metadata ??= {}).labels ??= {})
  const added = { [LEGACY_JOB_NAME]: name, [JOB_NAME]: name, [LEGACY_CONTROLLER_UID]: uid, [CONTROLLER_UID]: uid }
  for (const [key, value] of Object.entries(added)) labels[key] ??= value // own key: one of the four above
  wanted.selector = {
    ...wanted.selector,
    matchLabels: { [CONTROLLER_UID]: uid, ...wanted.selector?.matchLabels },
  }
}

function validateJob(job: Job, rules: PodRules, prefixedLabels: boolean, allowInvalidValues: boolean): FieldError[] {
  const { metadata, spec: wanted = {} } = job
  const errors = [
    ...validateGeneratedSelector(job, prefixedLabels),
    ...validateWholeSpec(wanted, rules, allowInvalidValues),
  ]
  const { completions = 0 } = wanted
  if (wanted.completionMode !== 'Indexed' || completions <= 0) return errors
  const hostname = `${metadata.name ?? ''}-${completions - 1}`
  if (dns1123Label(hostname).length > 0)
    errors.push(
      invalidValue(
        path('metadata', 'name'),
        metadata.name ?? '',
        `will not able to create pod with invalid DNS label: ${hostname}`,
      ),
    )
  return errors
}

function validateGeneratedSelector({ metadata, spec: wanted = {} }: Job, prefixedLabels: boolean): FieldError[] {
  const { manualSelector, selector, template } = wanted
  if (manualSelector === true || selector === undefined) return []
  const { uid = '', name = '' } = metadata
  const expected: Record<string, string> = {
    [LEGACY_CONTROLLER_UID]: uid,
    [LEGACY_JOB_NAME]: name,
    ...(prefixedLabels ? { [CONTROLLER_UID]: uid, [JOB_NAME]: name } : {}),
  }
  const labels = template?.metadata?.labels ?? {}
  const at = spec.child('template', 'metadata', 'labels')
  const errors: FieldError[] = uid === '' ? [required(path('metadata', 'uid'))] : []
  for (const [key, value] of Object.entries(expected)) {
    const found = ownValue(labels, key)
    if (found === undefined) errors.push(required(at.key(key), `must be '${value}'`))
    else if (found !== value) errors.push(invalidValue(at.key(key), labelsJson(labels), `must be '${value}'`))
  }
  if (isUsableSelector(selector) && !selectorMatches(selector, expected))
    errors.push(invalidValue(spec.child('selector'), selectorJson(selector), '`selector` not auto-generated'))
  return errors
}

function validateWholeSpec(wanted: JobSpec, rules: PodRules, allowInvalidValues: boolean): FieldError[] {
  const { selector, template } = wanted
  const at = spec.child('selector')
  const labels = template?.metadata?.labels
  const isMatched = selector !== undefined && (!isUsableSelector(selector) || selectorMatches(selector, labels))
  return [
    ...validateJobSpec(spec, wanted, rules),
    ...(selector === undefined ? [required(at)] : validateLabelSelector(at, selector, { allowInvalidValues })),
    ...(isMatched
      ? []
      : [invalidValue(spec.child('template', 'metadata', 'labels'), templateLabelsJson(template ?? {}), NOT_MATCHED)]),
  ]
}

function validateSpecUpdate(
  job: Job,
  old: Job,
  rules: PodRules,
  context: StrategyContext,
  allowInvalidValues: boolean,
): FieldError[] {
  const wanted = job.spec ?? {}
  const before = old.spec ?? {}
  const same = (type: string, a: object | undefined, b: object | undefined) =>
    sameValue(`io.k8s.api.batch.v1.${type}`, a, b)
  const shown = (type: string, value: object | undefined) =>
    value === undefined ? null : internalJson(`io.k8s.api.batch.v1.${type}`, value)
  return [
    ...validateWholeSpec(wanted, rules, allowInvalidValues),
    ...validateCompletions(wanted, before),
    ...immutable(
      spec.child('selector'),
      () => (wanted.selector ? selectorJson(wanted.selector) : null),
      sameSelector(wanted.selector, before.selector),
    ),
    ...validateTemplateUpdate(wanted, old, context),
    ...immutableNamed(spec.child('completionMode'), wanted.completionMode, before.completionMode),
    ...immutable(
      spec.child('podFailurePolicy'),
      () => shown('PodFailurePolicy', wanted.podFailurePolicy),
      same('PodFailurePolicy', wanted.podFailurePolicy, before.podFailurePolicy),
    ),
    ...immutable(
      spec.child('backoffLimitPerIndex'),
      wanted.backoffLimitPerIndex,
      wanted.backoffLimitPerIndex === before.backoffLimitPerIndex,
    ),
    ...immutableNamed(spec.child('managedBy'), wanted.managedBy, before.managedBy),
    ...immutable(
      spec.child('successPolicy'),
      () => shown('SuccessPolicy', wanted.successPolicy),
      same('SuccessPolicy', wanted.successPolicy, before.successPolicy),
    ),
  ]
}

/** An update may change the completions of an Indexed Job, together with its parallelism. */
function validateCompletions(wanted: JobSpec, old: JobSpec): FieldError[] {
  const at = spec.child('completions')
  const { completions, parallelism } = wanted
  if (wanted.completionMode !== 'Indexed') return immutable(at, completions, completions === old.completions)
  if (completions === old.completions || completions === undefined || completions === parallelism) return []
  return [invalidValue(at, completions, 'can only be modified in tandem with spec.parallelism')]
}

/** While a Job is suspended and has no pods, an update may change where its pods run and their resources. */
function validateTemplateUpdate(wanted: JobSpec, old: Job, { enabled }: StrategyContext): FieldError[] {
  const { spec: before = {}, status = {} } = old
  const template = wanted.template ?? {}
  const at = spec.child('template')
  const suspended = before.suspend === true
  const notStarted = status.startTime === undefined
  const mayChange = suspended && (notStarted || isTrue(status, 'Suspended')) && (status.active ?? 0) === 0
  const placement = enabled('MutableSchedulingDirectivesForSuspendedJobs') ? mayChange : suspended && notStarted
  let allowed = before.template ?? {}
  if (placement) allowed = withPlacement(allowed, template)
  if (suspended && enabled('MutablePodResourcesForSuspendedJobs') && mayChange) {
    const pod = withResources(allowed, template)
    const shown = () => internalJson('io.k8s.api.core.v1.PodSpec', template.spec ?? {})
    return samePodSpec(template.spec ?? {}, pod) ? [] : immutable(path('spec', 'template.spec'), shown(), false)
  }
  if (samePodTemplate(template, allowed)) return []
  return immutable(at, internalJson('io.k8s.api.core.v1.PodTemplateSpec', template), false)
}

function withPlacement(allowed: PodTemplateSpec, template: PodTemplateSpec): PodTemplateSpec {
  const now = template.spec ?? {}
  const { affinity: before, ...pod } = allowed.spec ?? {}
  const affinity: NonNullable<typeof before> = { ...before }
  if (now.affinity?.nodeAffinity === undefined) delete affinity.nodeAffinity
  else affinity.nodeAffinity = now.affinity.nodeAffinity
  const hasAffinity = Object.keys(affinity).length > 0 || now.affinity !== undefined
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) {
    delete pod[field]
    // own key: one of the three
    if (now[field] !== undefined) Object.assign(pod, { [field]: now[field] })
  }
  const { annotations: _annotations, labels: _labels, ...meta } = allowed.metadata ?? {}
  const { annotations, labels } = template.metadata ?? {}
  return {
    ...allowed,
    metadata: { ...meta, ...(annotations ? { annotations } : {}), ...(labels ? { labels } : {}) },
    spec: { ...pod, ...(hasAffinity ? { affinity } : {}) },
  }
}

function withResources(allowed: PodTemplateSpec, template: PodTemplateSpec): object {
  const pod = { ...allowed.spec }
  for (const field of ['containers', 'initContainers'] as const) {
    const containers = pod[field]
    const now = template.spec?.[field] ?? []
    if (containers === undefined || now.length !== containers.length) continue
    pod[field] = containers.map((container, index) => {
      if (now[index]!.name !== container.name) return container
      const { resources: _resources, ...rest } = container
      const { resources } = now[index]!
      return { ...rest, ...(resources ? { resources } : {}) }
    })
  }
  return pod
}

const MAX_INT32 = 2 ** 31 - 1

function applyDefaults({ metadata, spec }: Job): void {
  const job = spec!
  if (job.parallelism === undefined) job.completions ??= 1
  job.parallelism ??= 1
  job.backoffLimit ??= job.backoffLimitPerIndex === undefined ? 6 : MAX_INT32
  const labels = job.template?.metadata?.labels
  // both share one map: labels that the strategy adds to the template are labels of the Job too
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels
  job.completionMode ??= 'NonIndexed'
  job.suspend ??= false
  job.podReplacementPolicy ??= job.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'
  job.manualSelector ??= false
}
