/** Validates an update of a pod, and of its ephemeral containers. */
import { sentField, withFields } from '../../schema/emptied.ts'
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { lastBy } from '../../base/lookup.ts'
import { kept } from '../../base/parts.ts'
import { inRange, MAX_INT32 } from '../field-rules.ts'
import { differenceText } from '../difference-text.ts'
import { samePodSpec, sameValue } from '../same-value.ts'
import { validateImageText } from './containers.ts'
import { internalJson } from './internal-json.ts'
import { validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { MIRROR_POD } from './pod-spec.ts'
import type { PodRules } from './rules.ts'
import { validateTolerations } from './scheduling.ts'
import { errorsOf } from '../errors-of.ts'
import { CORE, at, nowhere, validateMetadataAndSpec } from './pod.ts'

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

export function validatePodUpdate(pod: CoreV1.Pod, old: CoreV1.Pod, rules: PodRules): FieldError[] {
  const spec = pod.spec ?? {}
  const before = old.spec ?? {}
  const errors = [
    ...validateMetadataAndSpec(pod, rules),
    ...validatePodAnnotationsUpdate(pod.metadata.annotations, old.metadata.annotations),
  ]
  for (const field of ['containers', 'initContainers'] as const) {
    const containers = spec[field] ?? []
    if (containers.length !== (before[field] ?? []).length)
      return [...errors, forbiddenField(at.child(field), 'pod updates may not add or remove containers')]
    append(
      errors,
      errorsOf(containers, (container, index) => {
        const errors: FieldError[] = []
        const here = at.child(field).index(index)
        if (!container.image) errors.push(required(here.child('image')))
        append(errors, validateImageText(here, container))
        return errors
      }),
    )
  }
  const deadline = validateDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds)
  append(errors, deadline.errors)
  if (deadline.ends) return errors
  append(errors, [
    ...validateAddedTolerations(spec.tolerations ?? [], before.tolerations ?? [], rules),
    ...validateRemovedGates(spec.schedulingGates ?? [], before.schedulingGates ?? []),
  ])
  if (samePodSpec(spec, before)) return errors
  const undone = kept(spec, () => {
    const rest = withAllowedChangesUndone(spec, before)
    return { rest, errors: (before.schedulingGates ?? []).length > 0 ? undoPlacement(rest, before) : [] }
  })
  append(errors, undone.errors)
  if (!samePodSpec(undone.rest, before)) {
    const was = kept(before, () => internalJson(`${CORE}.PodSpec`, before))
    const wanted = kept(undone.rest, () => internalJson(`${CORE}.PodSpec`, undone.rest))
    errors.push(
      forbiddenField(
        at,
        `pod updates may not change fields other than ${UPDATABLE.join(',')}\n${differenceText(was, wanted)}`,
      ),
    )
  }
  return errors
}

function validateDeadline(
  deadline: number | bigint | undefined,
  old: number | bigint | undefined,
): { readonly errors: FieldError[]; readonly ends: boolean } {
  const here = at.child('activeDeadlineSeconds')
  if (deadline === undefined)
    return {
      errors:
        old === undefined ? [] : [invalidValue(here, null, 'must not update from a positive integer to nil value')],
      ends: false,
    }
  const errors = inRange(here, deadline, 0, MAX_INT32)
  if (errors.length === 0 && old !== undefined && old < deadline)
    errors.push(invalidValue(here, deadline, 'must be less than or equal to previous value'))
  return { errors, ends: errors.length > 0 }
}

function validateAddedTolerations(
  tolerations: readonly CoreV1.Toleration[],
  old: readonly CoreV1.Toleration[],
  rules: PodRules,
): FieldError[] {
  const here = at.child('tolerations')
  const keyOf = ({ key = '', operator = '', value = '', effect = '' }: CoreV1.Toleration) =>
    JSON.stringify([key, operator, value, effect])
  const now = new Set(tolerations.map(keyOf))
  if (!old.every((before) => now.has(keyOf(before))))
    return [forbiddenField(here, 'existing toleration can not be modified except its tolerationSeconds')]
  return validateTolerations(here, tolerations, rules)
}

function validateRemovedGates(
  gates: readonly CoreV1.PodSchedulingGate[],
  old: readonly CoreV1.PodSchedulingGate[],
): FieldError[] {
  const known = new Set(old.map(({ name = '' }) => name))
  const added = new Map(gates.map(({ name = '' }, index) => [name, index]))
  return [...added]
    .filter(([name]) => !known.has(name))
    .map(([name, index]) =>
      forbiddenField(
        at.child('schedulingGates').index(index).child('name'),
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    )
}

function withAllowedChangesUndone(spec: CoreV1.PodSpec, old: CoreV1.PodSpec): CoreV1.PodSpec {
  const withImages = (field: 'containers' | 'initContainers') =>
    (spec[field] ?? []).map((container, index) => withFields(container, { image: old[field]?.[index]?.image }))
  const negative = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1
  return withFields(spec, {
    ...(spec.containers ? { containers: withImages('containers') } : {}),
    ...(spec.initContainers ? { initContainers: withImages('initContainers') } : {}),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
    ...(negative ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds } : {}),
  })
}

/** While a pod has scheduling gates, an update may narrow its node selector and node affinity. */
function undoPlacement(rest: CoreV1.PodSpec, old: CoreV1.PodSpec): FieldError[] {
  const errors: FieldError[] = []
  const selector = rest.nodeSelector ?? {}
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => ownValue(selector, key) !== value))
    errors.push(
      invalidValue(
        at.child('nodeSelector'),
        sentField(rest, 'nodeSelector'),
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    )
  rest.nodeSelector = old.nodeSelector as Record<string, string>
  const before = old.affinity?.nodeAffinity
  const now = rest.affinity?.nodeAffinity
  if (sameValue(`${CORE}.NodeAffinity`, before, now)) return errors
  append(errors, validateAffinityChange(now, before))
  const { podAffinity, podAntiAffinity } = rest.affinity ?? {}
  if (before !== undefined) rest.affinity = { ...rest.affinity, nodeAffinity: before }
  else if (old.affinity === undefined && podAffinity === undefined && podAntiAffinity === undefined)
    delete rest.affinity
  else {
    const { nodeAffinity: _dropped, ...others } = rest.affinity ?? {}
    rest.affinity = others
  }
  return errors
}

function validateAffinityChange(
  now: CoreV1.NodeAffinity | undefined,
  old: CoreV1.NodeAffinity | undefined,
): FieldError[] {
  const needed = 'requiredDuringSchedulingIgnoredDuringExecution'
  const before = old?.[needed]?.nodeSelectorTerms ?? []
  const terms = now?.[needed]?.nodeSelectorTerms ?? []
  const here = at.child('affinity', 'nodeAffinity', needed, 'nodeSelectorTerms')
  const shown = (term: CoreV1.NodeSelectorTerm) => internalJson(`${CORE}.NodeSelectorTerm`, term)
  if (before.length > 0 && before.length !== terms.length)
    return [
      invalidValue(
        here,
        terms.length === 0 ? null : terms.map(shown),
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  return errorsOf(before, (term, index) =>
    hasOnlyAdditions(terms[index]!, term)
      ? []
      : [
          invalidValue(
            here.index(index),
            shown(terms[index]!),
            'only additions are allowed (no mutations or deletions)',
          ),
        ],
  )
}

function hasOnlyAdditions(term: CoreV1.NodeSelectorTerm, old: CoreV1.NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = old
  if (matchExpressions.length === 0 && matchFields.length === 0) return (term.matchExpressions ?? []).length === 0
  const startsWith = (list: readonly object[] = [], start: readonly object[]) =>
    start.every((item, index) => list[index] && sameValue(`${CORE}.NodeSelectorRequirement`, list[index], item))
  return startsWith(term.matchExpressions, matchExpressions) && startsWith(term.matchFields, matchFields)
}

export function validateEphemeralUpdate(pod: CoreV1.Pod, old: CoreV1.Pod, rules: PodRules): FieldError[] {
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined)
    return [forbiddenField(nowhere, 'static pods do not support ephemeral containers')]
  const here = at.child('ephemeralContainers')
  const now = lastBy(pod.spec?.ephemeralContainers ?? [], ({ name }) => name)
  const shown = (container: CoreV1.EphemeralContainer) =>
    kept(container, () => internalJson(`${CORE}.EphemeralContainer`, container))
  return [
    ...validateMetadataAndSpec(pod, rules),
    ...validatePodAnnotationsUpdate(pod.metadata.annotations, old.metadata.annotations),
    ...errorsOf(old.spec?.ephemeralContainers ?? [], (before) => {
      const container = now.get(before.name)
      const named = `existing ephemeral containers ${JSON.stringify(before.name)}`
      if (container === undefined) return [forbiddenField(here, `${named} may not be removed\n`)]
      return sameValue(`${CORE}.EphemeralContainer`, container, before)
        ? []
        : [forbiddenField(here, `${named} may not be changed\n${differenceText(shown(before), shown(container))}`)]
    }),
  ]
}
