/** Validates the resize subresource of a pod. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue } from '../../api/field.ts'
import { qosClassOf } from './pod-qos.ts'
import { samePodSpec, sameValue } from '../same-value.ts'
import { MIRROR_POD } from './pod-spec.ts'
import type { PodRules } from './rules.ts'
import { errorsOf } from '../errors-of.ts'
import { CORE, at, nowhere, validateMetadataAndSpec } from './pod.ts'

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
 * Puts the old amounts of resizable resources into `rest`, so that any remaining difference is an error. Like
 * kube-apiserver, it does not restore claims, so that a resize of a pod with claims fails.
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
