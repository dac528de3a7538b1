/** Pods themselves: creation, and what each kind of update may change. */
import { append } from '../../api/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { FieldPath as Path, forbiddenField, invalidValue, path, required } from '../../api/field.ts'
import { ownValue } from '../../api/own.ts'
import { qosClassOf } from './pod-qos.ts'
import { lastBy } from '../../api/lookup.ts'
import { kept } from '../../api/parts.ts'
import { inRange, MAX_INT32 } from '../field-rules.ts'
import { differenceText } from '../difference-text.ts'
import { subdomainName } from '../names.ts'
import { validateObjectMeta } from '../object-meta.ts'
import { samePodSpec, sameValue } from '../same-value.ts'
import { validateImageText } from './containers.ts'
import { internalJson } from './internal-json.ts'
import { validatePodAnnotations, validatePodAnnotationsUpdate, validateProfilesMatch } from './pod-annotations.ts'
import { MIRROR_POD, validatePodSpec } from './pod-spec.ts'
import type { PodRules } from './rules.ts'
import { validateTolerations } from './scheduling.ts'
import { errorsOf } from '../errors-of.ts'

const at = path('spec')
const CORE = 'io.k8s.api.core.v1'

export function validatePodCreate(pod: CoreV1.Pod, rules: PodRules): FieldError[] {
  const { metadata, spec = {} } = pod
  return [
    ...validateMetadataAndSpec(pod, rules, false),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbiddenField(at.child('ephemeralContainers'), 'cannot be set on create')]
      : []),
    ...(spec.nodeName && (spec.schedulingGates ?? []).length > 0
      ? [forbiddenField(at.child('nodeName'), 'cannot be set until all schedulingGates have been cleared')]
      : []),
    ...validateProfilesMatch(at, metadata, spec),
  ]
}

/** @param whole metadata too: the store has checked that of new pods */
function validateMetadataAndSpec({ metadata, spec = {} }: CoreV1.Pod, rules: PodRules, whole = true): FieldError[] {
  const volumes = spec.serviceAccountName ? [] : (spec.volumes ?? [])
  return [
    ...(whole ? validateObjectMeta(metadata, true, subdomainName) : []),
    ...validatePodAnnotations(path('metadata', 'annotations'), metadata.annotations ?? {}, spec, rules),
    ...validatePodSpec(at, spec, metadata, rules),
    ...errorsOf(volumes, ({ projected }, index) =>
      errorsOf(projected?.sources ?? [], ({ serviceAccountToken }, position) =>
        serviceAccountToken === undefined
          ? []
          : [
              forbiddenField(
                at
                  .child('volumes')
                  .index(index)
                  .child('projected', 'sources')
                  .index(position)
                  .child('serviceAccountToken'),
                'must not be specified when serviceAccountName is not set',
              ),
            ],
      ),
    ),
    ...(['containers', 'initContainers'] as const).flatMap((field) =>
      errorsOf(spec[field] ?? [], (container, index) => validateImageText(at.child(field).index(index), container)),
    ),
  ]
}

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
  deadline: number | undefined,
  old: number | undefined,
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
    (spec[field] ?? []).map((container, index) => ({ ...container, image: old[field]?.[index]?.image }))
  const negative = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1
  return {
    ...spec,
    ...(spec.containers ? { containers: withImages('containers') } : {}),
    ...(spec.initContainers ? { initContainers: withImages('initContainers') } : {}),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
    ...(negative ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds } : {}),
  } as CoreV1.PodSpec
}

/** Until a gated pod is let go, where it may run can still be narrowed. */
function undoPlacement(rest: CoreV1.PodSpec, old: CoreV1.PodSpec): FieldError[] {
  const errors: FieldError[] = []
  const selector = rest.nodeSelector ?? {}
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => ownValue(selector, key) !== value))
    errors.push(
      invalidValue(
        at.child('nodeSelector'),
        rest.nodeSelector,
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

/** Errors of static pods stand at no field. */
const nowhere: FieldPath = Path.root.key('')

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

export function validatePodResize(pod: CoreV1.Pod, old: CoreV1.Pod, rules: PodRules): FieldError[] {
  const spec = pod.spec ?? {}
  const before = old.spec ?? {}
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined)
    return [forbiddenField(nowhere, 'static pods cannot be resized')]
  if (before.os?.name === 'windows') return [forbiddenField(nowhere, 'windows pods cannot be resized')]
  const errors = validateMetadataAndSpec(pod, rules)
  if ((old.status?.qosClass || qosClassOf(before)) !== qosClassOf(spec))
    errors.push(invalidValue(at, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'))
  const running = (old.status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined)
  if (running !== undefined && running.resources === undefined)
    errors.push(forbiddenField(at, 'Pod running on node without support for resize'))
  const rest: CoreV1.PodSpec = { ...spec }
  const hasOwn = ({ resources }: CoreV1.PodSpec) =>
    Object.keys({ ...resources?.requests, ...resources?.limits }).length > 0
  if (hasOwn(spec) || hasOwn(before)) {
    if (!rules.enabled('InPlacePodLevelResourcesVerticalScaling'))
      return [
        ...errors,
        forbiddenField(
          nowhere,
          'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled',
        ),
      ]
    append(errors, validatePodLevelResize(rest, before))
  }
  const moved = validateSameContainers(spec, before)
  append(errors, moved)
  if (moved.length > 0) return errors
  for (const field of ['initContainers', 'containers'] as const)
    append(
      errors,
      errorsOf(before[field] ?? [], (container, index) => {
        const errors: FieldError[] = []
        const here = at.child(field).index(index).child('resources')
        const now = spec[field]![index]!.resources
        for (const part of ['requests', 'limits'] as const)
          if (isRemoved(now?.[part], container.resources?.[part]))
            errors.push(forbiddenField(here.child(part), `resource ${part} cannot be removed`))
        return errors
      }),
    )
  append(errors, undoResize(rest, before))
  if (errors.length === 0 && !samePodSpec(rest, before))
    errors.push(forbiddenField(at, 'only cpu and memory resources are mutable'))
  return errors
}

type Amounts = Readonly<Record<string, string>>

const isRemoved = (list: Amounts = {}, old: Amounts = {}): boolean =>
  Object.keys(old).some((name) => !Object.hasOwn(list, name))

function withOldCompute(list: Amounts = {}, old: Amounts = {}): Record<string, string> {
  const merged: Record<string, string> = { ...list }
  for (const name of ['cpu', 'memory'] as const) {
    delete merged[name]
    if (old[name] !== undefined) merged[name] = old[name]
  }
  return merged
}

function validatePodLevelResize(rest: CoreV1.PodSpec, old: CoreV1.PodSpec): FieldError[] {
  const here = at.child('resources')
  if (old.resources !== undefined && rest.resources === undefined)
    return [forbiddenField(here, 'pod-level resources cannot be removed')]
  const errors = (['requests', 'limits'] as const)
    .filter((part) => isRemoved(rest.resources?.[part], old.resources?.[part]))
    .map((part) => forbiddenField(here.child(part), `pod-level resource ${part} cannot be removed`))
  const { resources = {} } = rest
  const undone: CoreV1.ResourceRequirements = {
    ...resources,
    requests: withOldCompute(resources.requests, old.resources?.requests),
    limits: withOldCompute(resources.limits, old.resources?.limits),
  }
  const isEmpty = Object.keys({ ...undone.requests, ...undone.limits }).length === 0
  if (old.resources === undefined && isEmpty) delete rest.resources
  else rest.resources = undone
  if (!sameValue(`${CORE}.ResourceRequirements`, rest.resources, old.resources))
    errors.push(forbiddenField(at, 'only cpu and memory resources are mutable at pod-level'))
  return errors
}

function validateSameContainers(spec: CoreV1.PodSpec, old: CoreV1.PodSpec): FieldError[] {
  return (['containers', 'initContainers'] as const).flatMap((field) => {
    const before = old[field] ?? []
    const now = spec[field] ?? []
    if (now.length !== before.length)
      return [forbiddenField(at.child(field), `${field} may not be added or removed on resize`)]
    return errorsOf(before, ({ name }, index) =>
      now[index]!.name === name
        ? []
        : [
            forbiddenField(
              at.child(field).index(index).child('name'),
              `${field} may not be renamed or reordered on resize`,
            ),
          ],
    )
  })
}

/**
 * Puts the old amounts of what may be resized into `rest`; what still differs was not to be changed. Claims are not put
 * back: nothing that has some can be resized, as it is in kube-apiserver.
 */
function undoResize(rest: CoreV1.PodSpec, old: CoreV1.PodSpec): FieldError[] {
  const errors: FieldError[] = []
  const undone = (container: CoreV1.Container, before: CoreV1.Container): CoreV1.Container => ({
    ...container,
    resources: {
      requests: withOldCompute(container.resources?.requests, before.resources?.requests),
      limits: withOldCompute(container.resources?.limits, before.resources?.limits),
    },
  })
  rest.containers = (rest.containers ?? []).map((container, index) => {
    const before = old.containers![index]!
    const now = undone(container, before)
    if (!sameValue(`${CORE}.Container`, now, before))
      errors.push(forbiddenField(at, 'only cpu and memory resources are mutable'))
    return now
  })
  rest.initContainers = (rest.initContainers ?? []).map((container, index) => {
    const before = old.initContainers![index]!
    const here = at.child('initContainers').index(index)
    const isChanged = !sameValue(`${CORE}.Container`, container, before)
    const now = undone(container, before)
    if (!sameValue(`${CORE}.Container`, now, before))
      errors.push(forbiddenField(here, 'only cpu and memory resources for init or sidecar containers are mutable'))
    if (isChanged && container.restartPolicy !== 'Always')
      append(
        errors,
        errorsOf(container.resizePolicy ?? [], ({ restartPolicy }) =>
          restartPolicy === 'RestartContainer'
            ? [
                forbiddenField(
                  here,
                  'non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
                ),
              ]
            : [],
        ),
      )
    return now
  })
  return errors
}
