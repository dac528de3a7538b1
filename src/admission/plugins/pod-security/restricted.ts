/** The checks that the level `restricted` adds, in the order of their names. They require hardened pods. */
import type { Container, Volume } from '../../../api/core/v1.ts'
import { badSeccompProfiles } from './baseline.ts'
import type { CheckedPod, PodCheck } from './checks.ts'
import { badSetters, counted, named, quoted, refuseContainers, sorted } from './checks.ts'

/** Exempts Windows containers, which lack what the check is about. */
export const exceptWindows =
  (check: PodCheck): PodCheck =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod)

/** Root in a user namespace has no rights on the node (KEP-127). */
export const exceptUserNamespace =
  (check: PodCheck): PodCheck =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod)

export const allowPrivilegeEscalation: PodCheck = (pod) =>
  refuseContainers(
    pod,
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
    'allowPrivilegeEscalation != false',
    'must set securityContext.allowPrivilegeEscalation=false',
  )

export const dropAllCapabilities: PodCheck = (pod) => {
  const keeping = pod.containers.filter(
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  )
  const added = ({ securityContext }: Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE')
  const adding = pod.containers.filter((container) => added(container).length > 0)
  const names = sorted(adding.flatMap(added))
  const rules = [
    ...(keeping.length === 0 ? [] : [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${named(adding)} must not include ${quoted(names)} in securityContext.capabilities.add`]),
  ]
  return rules.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: rules.join('; ') }
}

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const satisfies (keyof Volume)[]

/** The other types of volumes, for the messages. */
const REFUSED_VOLUMES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const satisfies (keyof Volume)[]

export const restrictedVolumes: PodCheck = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => VOLUMES.every((field) => volume[field] === undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => REFUSED_VOLUMES.find((field) => volume[field] !== undefined) ?? 'unknown'))
  const names = quoted(bad.map(({ name = '' }) => name))
  const subject = `${counted(bad.length, 'volume')} ${names} ${counted(bad.length, 'uses', 'use')}`
  return {
    reason: 'restricted volume types',
    detail: `${subject} ${counted(types.length, 'restricted volume type')} ${quoted(types)}`,
  }
}

export const runAsNonRoot: PodCheck = (pod) => {
  const reason = 'runAsNonRoot != true'
  const { setters } = badSetters(pod, (context) => context.runAsNonRoot === false)
  if (setters.length > 0)
    return { reason, detail: `${setters.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined
  const rule = 'must set securityContext.runAsNonRoot=true'
  return orPod(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined, reason, rule)
}

export const runAsUser: PodCheck = (pod) => {
  const { setters } = badSetters(pod, (context) => context.runAsUser === 0)
  if (setters.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${setters.join(' and ')} must not set runAsUser=0` }
}

export const requireSeccompProfile: PodCheck = (pod) => {
  const bad = badSeccompProfiles(pod)
  if (bad !== undefined) return bad
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined
  const rule = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
  return orPod(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined, 'seccompProfile', rule)
}

/** The violation of containers that leave a value open which the pod does not set either. */
function orPod(
  { containers }: CheckedPod,
  isOpen: (container: Container) => boolean,
  reason: string,
  rule: string,
): { reason: string; detail: string } | undefined {
  const open = containers.filter(isOpen)
  return open.length === 0 ? undefined : { reason, detail: `pod or ${named(open)} ${rule}` }
}
