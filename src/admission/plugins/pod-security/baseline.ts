/** The checks of the level `baseline`, in the order of their names. They refuse known ways to escalate privileges. */
import type { Container, LifecycleHandler, Probe } from '../../../api/core/v1.ts'
import { goQuote } from '../../../go/quote.ts'
import { ownValue } from '../../../base/own.ts'
import type { CheckedPod, PodCheck, Violation } from './checks.ts'
import { badSetters, counted, named, quoted, refuseContainers, sorted } from './checks.ts'

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/'

/** Types of profile that confine a container, for AppArmor and seccomp. */
export const isConfined = (type = ''): boolean => type === 'RuntimeDefault' || type === 'Localhost'

export const appArmorProfile: PodCheck = (pod) => {
  const { setters, contexts } = badSetters(
    pod,
    ({ appArmorProfile }) => appArmorProfile !== undefined && !isConfined(appArmorProfile.type),
  )
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAppArmorAnnotation(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
  if (annotations.length > 0) setters.push(counted(annotations.length, 'annotation'))
  if (setters.length === 0) return undefined
  const types = sorted(contexts.map(({ appArmorProfile }) => appArmorProfile?.type ?? ''))
  const values = [...types, ...sorted(annotations)]
  return {
    reason: counted(values.length, 'forbidden AppArmor profile'),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const isAppArmorAnnotation = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/')

const DEFAULT_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

export const capabilities: PodCheck = (pod) => {
  const added = (container: Container): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => !DEFAULT_CAPABILITIES.has(name))
  const names = sorted(pod.containers.flatMap(added))
  return refuseContainers(
    pod,
    (container) => added(container).length > 0,
    'non-default capabilities',
    `must not include ${quoted(names)} in securityContext.capabilities.add`,
  )
}

export const hostNamespaces: PodCheck = ({ spec }) => {
  const fields = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true)
  return fields.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: fields.map((field) => `${field}=true`).join(', ') }
}

export const hostPathVolumes: PodCheck = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name = '' }) => name)
  return names.length === 0
    ? undefined
    : { reason: 'hostPath volumes', detail: `${counted(names.length, 'volume')} ${quoted(names)}` }
}

export const hostPorts: PodCheck = ({ containers }) => {
  const portsOf = ({ ports = [] }: Container): string[] =>
    ports.filter(({ hostPort = 0 }) => hostPort !== 0).map(({ hostPort }) => String(hostPort))
  const bad = containers.filter((container) => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const detail = `${named(bad)} ${counted(bad.length, 'uses', 'use')} ${counted(ports.length, 'hostPort')}`
  return { reason: 'hostPort', detail: `${detail} ${ports.join(', ')}` }
}

/** A probe's host can be any host that the node reaches. */
export const hostsOfProbes: PodCheck = ({ containers }) => {
  const bad = containers.filter((container) => hostsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const hosts = sorted(bad.flatMap(hostsOf))
  const names = sorted(bad.map(({ name = '' }) => name))
  const subject = `${counted(names.length, 'container')} ${quoted(names)} ${counted(names.length, 'uses', 'use')}`
  return {
    reason: 'probe or lifecycle host',
    detail: `${subject} ${counted(hosts.length, 'probe or lifecycle host')} ${quoted(hosts)}`,
  }
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] {
  const handlers: (Probe | LifecycleHandler | undefined)[] = [
    livenessProbe,
    readinessProbe,
    startupProbe,
    lifecycle?.postStart,
    lifecycle?.preStop,
  ]
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '')
}

export const privileged: PodCheck = (pod) =>
  refuseContainers(
    pod,
    ({ securityContext }) => securityContext?.privileged === true,
    'privileged',
    'must not set securityContext.privileged=true',
  )

export const procMount: PodCheck = (pod) => {
  const valueOf = ({ securityContext }: Container): string => securityContext?.procMount ?? 'Default'
  const values = sorted(pod.containers.map(valueOf).filter((value) => value !== 'Default'))
  return refuseContainers(
    pod,
    (container) => valueOf(container) !== 'Default',
    'procMount',
    `must not set securityContext.procMount to ${quoted(values)}`,
  )
}

/** @param types the allowed types; no type is allowed too */
export const seLinuxOptions =
  (...types: readonly string[]): PodCheck =>
  (pod) => {
    const isType = (type = ''): boolean => type === '' || types.includes(type)
    const { setters, contexts } = badSetters(
      pod,
      ({ seLinuxOptions: options }) =>
        options !== undefined && (!isType(options.type) || (options.user ?? '') !== '' || (options.role ?? '') !== ''),
    )
    if (setters.length === 0) return undefined
    const bad = contexts.flatMap((context) => context.seLinuxOptions ?? [])
    const badTypes = sorted(bad.map(({ type = '' }) => type).filter((type) => !isType(type)))
    const rules = [
      ...(badTypes.length === 0 ? [] : [`${counted(badTypes.length, 'type')} ${quoted(badTypes)}`]),
      ...(bad.some(({ user = '' }) => user !== '') ? ['user may not be set'] : []),
      ...(bad.some(({ role = '' }) => role !== '') ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${rules.join('; ')}`,
    }
  }

const POD_SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod'
const CONTAINER_SECCOMP = 'container.seccomp.security.alpha.kubernetes.io/'

/** Before Kubernetes 1.19 annotations named the profiles. */
export const seccompAnnotations: PodCheck = ({ annotations, containers }) => {
  const keys = [POD_SECCOMP, ...containers.map(({ name = '' }) => `${CONTAINER_SECCOMP}${name}`)]
  const bad = sorted(
    keys.flatMap((key) => {
      const value = ownValue(annotations, key)
      return value === undefined || isSeccompAnnotation(value) ? [] : [`${key}=${goQuote(value)}`]
    }),
  )
  if (bad.length === 0) return undefined
  return { reason: 'seccompProfile', detail: `forbidden ${counted(bad.length, 'annotation')} ${bad.join(', ')}` }
}

const isSeccompAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

export const seccompProfile: PodCheck = (pod) => badSeccompProfiles(pod)

/** The seccomp profiles that leave a container unconfined. */
export function badSeccompProfiles(pod: CheckedPod): Violation | undefined {
  const { setters, contexts } = badSetters(
    pod,
    ({ seccompProfile: profile }) => profile !== undefined && !isConfined(profile.type),
  )
  if (setters.length === 0) return undefined
  const types = sorted(contexts.map(({ seccompProfile: profile }) => profile?.type ?? ''))
  return {
    reason: 'seccompProfile',
    detail: `${setters.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  }
}

/** @param safe names of the allowed sysctls */
export const sysctls =
  (...safe: readonly string[]): PodCheck =>
  ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name = '' }) => name)
    // few: the levels name them
    const bad = names.filter((name) => !safe.includes(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }

export const windowsHostProcess: PodCheck = (pod) => {
  const { setters } = badSetters(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  if (setters.length === 0) return undefined
  return {
    reason: 'hostProcess',
    detail: `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
  }
}
