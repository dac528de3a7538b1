/** Validates annotations of pods that are older forms of fields. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, path } from '../../api/field.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import { ownValue } from '../../base/own.ts'
import { kept } from '../../base/parts.ts'
import { descendingPath } from '../local-paths.ts'
import { MIRROR_POD } from './pod-spec.ts'
import type { PodRules } from './rules.ts'
import { isDeletionCost, POD_DELETION_COST } from './rules.ts'
import { validateTolerations } from './scheduling.ts'
import { visitContainers } from './visit-containers.ts'
import { errorsOf } from '../errors-of.ts'

type Annotations = Readonly<Record<string, string>>

const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const LOCALHOST = 'localhost/'

export function validatePodAnnotations(
  at: FieldPath,
  annotations: Annotations,
  spec: CoreV1.PodSpec,
  rules: PodRules,
): FieldError[] {
  const errors: FieldError[] = []
  const mirror = annotations[MIRROR_POD]
  if (mirror !== undefined && !spec.nodeName)
    errors.push(invalidValue(at.key(MIRROR_POD), mirror, 'must set spec.nodeName if mirror pod annotation is set'))
  if (annotations[TOLERATIONS]) append(errors, validateTolerationsText(at, annotations[TOLERATIONS], rules))
  const cost = annotations[POD_DELETION_COST]
  if (rules.enabled('PodDeletionCost') && !rules.allows.deletionCost && !isDeletionCost(cost))
    errors.push(invalidValue(at.key(POD_DELETION_COST), cost, 'must be a 32bit integer'))
  return [...errors, ...validateSeccompTexts(at, annotations), ...validateAppArmorTexts(at, annotations, spec)]
}

function validateTolerationsText(at: FieldPath, text: string, rules: PodRules): FieldError[] {
  try {
    const tolerations = JSON.parse(text) as CoreV1.Toleration[] | null
    return validateTolerations(at.child(TOLERATIONS), tolerations ?? [], rules)
  } catch (error) {
    return [invalidValue(at, TOLERATIONS, error instanceof Error ? error.message : String(error))]
  }
}

/** Annotations with this prefix, sorted by name. */
const beginning = (annotations: Annotations, start: string): [string, string][] =>
  kept(annotations, () =>
    Object.keys(annotations)
      .filter((name) => name.startsWith(start))
      .sort()
      .map((name): [string, string] => [name, ownValue(annotations, name)!]),
  )

function validateSeccompTexts(at: FieldPath, annotations: Annotations): FieldError[] {
  const profile = (key: string, text: string): FieldError[] => {
    if (['runtime/default', 'docker/default', 'unconfined'].includes(text)) return []
    if (text.startsWith(LOCALHOST)) return descendingPath(at.child(key), text.slice(LOCALHOST.length))
    return [invalidValue(at.child(key), text, 'must be a valid seccomp profile')]
  }
  const ofPod = ownValue(annotations, SECCOMP_POD)
  return [
    ...(ofPod === undefined ? [] : profile(SECCOMP_POD, ofPod)),
    ...errorsOf(beginning(annotations, SECCOMP_CONTAINER), ([key, text]) => profile(key, text)),
  ]
}

function validateAppArmorTexts(at: FieldPath, annotations: Annotations, spec: CoreV1.PodSpec): FieldError[] {
  const annotated = beginning(annotations, APP_ARMOR)
  if (annotated.length === 0) return []
  const names = new Set(visitContainers(spec, path('spec')).map(({ container }) => container.name ?? ''))
  return errorsOf(annotated, ([key, text]) => {
    const name = key.slice(APP_ARMOR.length)
    const isKnown = text === '' || text === 'runtime/default' || text === 'unconfined' || text.startsWith(LOCALHOST)
    return [
      ...(names.has(name) ? [] : [invalidValue(at.key(key), name, 'container not found')]),
      ...(isKnown ? [] : [invalidValue(at.key(key), text, `invalid AppArmor profile name: ${JSON.stringify(text)}`)]),
    ]
  })
}

/** The appArmorProfile that the annotation stands for; undefined if there is none. */
export function appArmorOf(annotation: string): CoreV1.AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const profile = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : ''
  return profile === '' ? undefined : { type: 'Localhost', localhostProfile: profile }
}

interface Profile {
  readonly type?: string
  readonly localhostProfile?: string
}

/** Compares the annotation and the field of one container. They must have the same profile. */
function profileMismatch(
  at: FieldPath,
  what: 'seccomp' | 'apparmor',
  annotation: string,
  { type, localhostProfile }: Profile,
): FieldError[] {
  const differs = [forbiddenField(at.child('type'), `${what} type in annotation and field must match`)]
  if (type === 'Unconfined') return annotation === 'unconfined' ? [] : differs
  if (type === 'RuntimeDefault') {
    const isDefault = annotation === 'runtime/default' || (what === 'seccomp' && annotation === 'docker/default')
    return isDefault ? [] : differs
  }
  if (type !== 'Localhost') return []
  if (!annotation.startsWith(LOCALHOST)) return differs
  return annotation.slice(LOCALHOST.length) === localhostProfile
    ? []
    : [forbiddenField(at.child('localhostProfile'), `${what} profile in annotation and field must match`)]
}

/** kube-apiserver checks this in templates, and in pods only on creation. */
export function validateProfilesMatch(at: FieldPath, meta: ObjectMeta, spec: CoreV1.PodSpec): FieldError[] {
  const annotations = meta.annotations ?? {}
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {}
  const containers = visitContainers(spec, at)
  const ofPod = annotations[SECCOMP_POD]
  return [
    ...(seccompProfile && ofPod !== undefined
      ? profileMismatch(at.child('securityContext', 'seccompProfile'), 'seccomp', ofPod, seccompProfile)
      : []),
    ...errorsOf(containers, ({ container, at: here }) => {
      const profile = container.securityContext?.seccompProfile
      const annotation = ownValue(annotations, SECCOMP_CONTAINER + (container.name ?? ''))
      if (profile === undefined || annotation === undefined) return []
      return profileMismatch(here.child('securityContext', 'seccompProfile'), 'seccomp', annotation, profile)
    }),
    ...errorsOf(spec.os?.name === 'windows' ? [] : containers, ({ container, at: here }) => {
      const profile = container.securityContext?.appArmorProfile ?? appArmorProfile
      const annotation = ownValue(annotations, APP_ARMOR + (container.name ?? ''))
      if (profile === undefined || annotation === undefined) return []
      return profileMismatch(here.child('securityContext', 'appArmorProfile'), 'apparmor', annotation, profile)
    }),
  ]
}

/** Refuses changes of immutable annotations. */
export function validatePodAnnotationsUpdate(annotations: Annotations = {}, old: Annotations = {}): FieldError[] {
  const at = path('metadata', 'annotations')
  const fixed = (key: string, changed: string, added: string): FieldError[] => {
    if (ownValue(annotations, key) === ownValue(old, key)) return []
    const verb = Object.hasOwn(old, key) ? changed : added
    return [forbiddenField(at.key(key), verb)]
  }
  const isFixed = (key: string): boolean => key.startsWith(APP_ARMOR) || key === MIRROR_POD
  const before = Object.keys(old).filter(isFixed)
  const added = Object.keys(annotations).filter((key) => isFixed(key) && !Object.hasOwn(old, key))
  return [...before, ...added]
    .sort()
    .flatMap((key) =>
      key === MIRROR_POD
        ? fixed(key, 'may not remove or update mirror pod annotation', 'may not add mirror pod annotation')
        : fixed(key, 'may not remove or update AppArmor annotations', 'may not add AppArmor annotations'),
    )
}
