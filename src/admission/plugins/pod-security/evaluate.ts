/**
 * The checks of each standard, by version. A namespace that pins a version gets the checks of that Kubernetes
 * release.
 */
import type { PodSpec } from '../../../api/core/v1.ts'
import * as baseline from './baseline.ts'
import type { PodCheck, Violation } from './checks.ts'
import type { Standard, Version } from './policy.ts'
import * as restricted from './restricted.ts'

interface VersionedCheck {
  /** Checks with the version from which each holds. The last one that is not newer than the pinned version runs. */
  readonly since: readonly (readonly [Version, PodCheck])[]
  /** The check of `baseline` that this check replaces in `restricted`. */
  readonly replaces?: VersionedCheck
}

const since = (version: Version, check: PodCheck, ...later: (readonly [Version, PodCheck])[]): VersionedCheck => ({
  since: [[version, check], ...later],
})

const instead = (replaces: VersionedCheck, check: VersionedCheck): VersionedCheck => ({ ...check, replaces })

const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const SYSCTLS_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports']
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']
const SELINUX_TYPES = ['container_t', 'container_init_t', 'container_kvm_t']

const capabilities = since(0, baseline.capabilities)
const hostPathVolumes = since(0, baseline.hostPathVolumes)
const procMount = since(0, baseline.procMount, [35, restricted.exceptUserNamespace(baseline.procMount)])
const seccompProfile = since(0, baseline.seccompAnnotations, [19, baseline.seccompProfile])

/** In the order in which violations are listed. */
const BASELINE: readonly VersionedCheck[] = [
  since(0, baseline.appArmorProfile),
  capabilities,
  since(0, baseline.hostNamespaces),
  hostPathVolumes,
  since(0, baseline.hostPorts),
  since(34, baseline.hostsOfProbes),
  since(0, baseline.privileged),
  procMount,
  since(0, baseline.seLinuxOptions(...SELINUX_TYPES), [
    31,
    baseline.seLinuxOptions(...SELINUX_TYPES, 'container_engine_t'),
  ]),
  seccompProfile,
  since(
    0,
    baseline.sysctls(...SYSCTLS),
    [27, baseline.sysctls(...SYSCTLS_27)],
    [29, baseline.sysctls(...SYSCTLS_29)],
    [32, baseline.sysctls(...SYSCTLS_32)],
  ),
  since(0, baseline.windowsHostProcess),
]

const RESTRICTED: readonly VersionedCheck[] = [
  since(8, restricted.allowPrivilegeEscalation, [25, restricted.exceptWindows(restricted.allowPrivilegeEscalation)]),
  instead(
    capabilities,
    since(22, restricted.dropAllCapabilities, [25, restricted.exceptWindows(restricted.dropAllCapabilities)]),
  ),
  instead(procMount, since(35, baseline.procMount)),
  instead(hostPathVolumes, since(0, restricted.restrictedVolumes)),
  since(0, restricted.runAsNonRoot, [35, restricted.exceptUserNamespace(restricted.runAsNonRoot)]),
  since(23, restricted.runAsUser, [35, restricted.exceptUserNamespace(restricted.runAsUser)]),
  instead(
    seccompProfile,
    since(19, restricted.requireSeccompProfile, [25, restricted.exceptWindows(restricted.requireSeccompProfile)]),
  ),
]

const checkAt = ({ since }: VersionedCheck, version: Version): PodCheck | undefined =>
  since.findLast(([first]) => first <= version)?.[1]

function checksOf({ level, version }: Standard): PodCheck[] {
  if (level === 'privileged') return []
  const added = level === 'restricted' ? RESTRICTED.filter((check) => checkAt(check, version) !== undefined) : []
  const replaced = new Set(added.map(({ replaces }) => replaces))
  return [...BASELINE.filter((check) => !replaced.has(check)), ...added].flatMap(
    (check) => checkAt(check, version) ?? [],
  )
}

/** @returns why a pod or a pod template violates a standard; empty where it does not */
export function violationsOf(
  standard: Standard,
  annotations: Readonly<Record<string, string>> = {},
  spec: PodSpec = {},
): Violation[] {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
  return checksOf(standard).flatMap((check) => check({ annotations, spec, containers }) ?? [])
}

/** `host namespaces (hostNetwork=true), privileged (…)`, for one object. */
export const detailText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')

/** `host namespaces, privileged`, for many objects. */
export const reasonText = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ')
