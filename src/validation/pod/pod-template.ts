/** Validates the pod templates of workloads. */
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported } from '../../api/field.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import { isEmptySelector, selectorMatches } from '../label-selectors.ts'
import { validateAnnotations, validateLabels } from '../object-meta.ts'
import { validatePodAnnotations, validateProfilesMatch } from './pod-annotations.ts'
import { validatePodSpec } from './pod-spec.ts'
import { templateLabelsJson } from './internal-json.ts'
import type { PodRules } from './rules.ts'
import { podRules } from './rules.ts'

export function validatePodTemplate(at: FieldPath, template: CoreV1.PodTemplateSpec, rules: PodRules): FieldError[] {
  const { metadata = {}, spec = {} } = template
  const annotations = metadata.annotations ?? {}
  return [
    ...validateLabels(metadata.labels ?? {}, at.child('labels')),
    ...validateAnnotations(annotations, at.child('annotations')),
    ...validatePodAnnotations(at.child('annotations'), annotations, spec, rules),
    ...validatePodSpec(at.child('spec'), spec, undefined, rules),
    ...validateProfilesMatch(at.child('spec'), metadata, spec),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbiddenField(at.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template')]
      : []),
  ]
}

export const NOT_MATCHED = '`selector` does not match template `labels`'

/** Validates the template of a workload whose pods must have restartPolicy Always. */
export function validateRunningTemplate(
  at: FieldPath,
  template: CoreV1.PodTemplateSpec,
  selector: LabelSelector | undefined,
  rules: PodRules,
  workload: string,
): FieldError[] {
  const labels = template.metadata?.labels
  const matched = selector === undefined || isEmptySelector(selector) || selectorMatches(selector, labels)
  return [
    ...(matched ? [] : [invalidValue(at.child('metadata', 'labels'), templateLabelsJson(template), NOT_MATCHED)]),
    ...validatePodTemplate(at, template, rules),
    ...validateAlwaysRunning(at, template, workload),
  ]
}

export function validateAlwaysRunning(
  at: FieldPath,
  { spec = {} }: CoreV1.PodTemplateSpec,
  workload: string,
): FieldError[] {
  const { restartPolicy = '', activeDeadlineSeconds } = spec
  return [
    ...(restartPolicy === 'Always' ? [] : [notSupported(at.child('spec', 'restartPolicy'), restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [
          forbiddenField(
            at.child('spec', 'activeDeadlineSeconds'),
            `activeDeadlineSeconds in ${workload} is not Supported`,
          ),
        ]),
  ]
}

export const templateRules = (
  { enabled }: { enabled(gate: string): boolean },
  old?: CoreV1.PodTemplateSpec,
): PodRules =>
  podRules(
    enabled,
    false,
    old && { spec: old.spec ?? {}, ...(old.metadata?.annotations ? { annotations: old.metadata.annotations } : {}) },
  )
