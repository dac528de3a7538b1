/** Validates the creation of pods, and metadata and spec for updates. */
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { FieldPath as Path, forbiddenField, path } from '../../api/field.ts'
import { subdomainName } from '../names.ts'
import { validateObjectMeta } from '../object-meta.ts'
import { validateImageText } from './containers.ts'
import { validatePodAnnotations, validateProfilesMatch } from './pod-annotations.ts'
import { validatePodSpec } from './pod-spec.ts'
import type { PodRules } from './rules.ts'
import { errorsOf } from '../errors-of.ts'

export const at = path('spec')

export const CORE = 'io.k8s.api.core.v1'

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

/** @param whole validate the generic metadata, too; the store has validated that of new pods */
export function validateMetadataAndSpec(
  { metadata, spec = {} }: CoreV1.Pod,
  rules: PodRules,
  whole = true,
): FieldError[] {
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

/** The path of errors about static pods, which have no field. */
export const nowhere: FieldPath = Path.root.key('')
