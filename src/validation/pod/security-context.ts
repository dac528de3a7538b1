/** Validates the security contexts of a pod and its containers. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, required, tooLong } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { problems, validateId } from '../field-rules.ts'
import { descendingPath } from '../local-paths.ts'
import { dns1123Subdomain } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import type { PodRules } from './rules.ts'
import { isHostSysctl } from './rules.ts'
import { internalJson } from './internal-json.ts'
import { visitContainers } from './visit-containers.ts'
import { errorsOf } from '../errors-of.ts'
import { kept } from '../../base/parts.ts'

export function validateSecurityContext(
  at: FieldPath,
  context: CoreV1.SecurityContext | undefined,
  hostUsers: boolean,
): FieldError[] {
  if (context === undefined) return []
  const { procMount, allowPrivilegeEscalation, privileged, capabilities } = context
  const errors = [
    ...validateId(at.child('runAsUser'), context.runAsUser),
    ...validateId(at.child('runAsGroup'), context.runAsGroup),
  ]
  if (procMount !== undefined) {
    const known = ['Default', 'Unmasked']
    if (!known.includes(procMount)) errors.push(notSupported(at.child('procMount'), procMount, known))
    if (hostUsers && procMount === 'Unmasked')
      errors.push(invalidValue(at.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`'))
  }
  append(errors, validateSeccomp(at.child('seccompProfile'), context.seccompProfile))
  if (allowPrivilegeEscalation === false) {
    const shown = () => internalJson('io.k8s.api.core.v1.SecurityContext', context)
    if (privileged === true)
      errors.push(invalidValue(at, shown(), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
    append(
      errors,
      errorsOf(capabilities?.add ?? [], (capability) =>
        capability === 'CAP_SYS_ADMIN'
          ? [
              invalidValue(
                at,
                shown(),
                'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
              ),
            ]
          : [],
      ),
    )
  }
  return [
    ...errors,
    ...validateWindowsOptions(at.child('windowsOptions'), context.windowsOptions),
    ...validateAppArmor(at.child('appArmorProfile'), context.appArmorProfile),
  ]
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']

function validateSeccomp(at: FieldPath, profile: CoreV1.SeccompProfile | undefined): FieldError[] {
  if (profile === undefined) return []
  const { type = '', localhostProfile } = profile
  const errors: FieldError[] = []
  if (type === '') errors.push(required(at.child('type'), 'type is required when seccompProfile is set'))
  else if (!PROFILE_TYPES.includes(type)) errors.push(notSupported(at.child('type'), type, PROFILE_TYPES))
  const local = at.child('localhostProfile')
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined)
      errors.push(
        invalidValue(
          local,
          { Type: type, LocalhostProfile: localhostProfile },
          'can only be set when seccomp type is Localhost',
        ),
      )
  } else if (localhostProfile === undefined) errors.push(required(local, 'must be set when seccomp type is Localhost'))
  else append(errors, descendingPath(local, localhostProfile))
  return errors
}

const LONGEST_PATH = 4095

export function validateAppArmor(at: FieldPath, profile: CoreV1.AppArmorProfile | undefined): FieldError[] {
  if (profile === undefined) return []
  const { type = '', localhostProfile } = profile
  const local = at.child('localhostProfile')
  if (type === 'Localhost') {
    const missing = required(local, 'must be set when AppArmor type is Localhost')
    if (localhostProfile === undefined) return [missing]
    const errors: FieldError[] = []
    if (localhostProfile.trim() !== localhostProfile)
      errors.push(invalidValue(local, localhostProfile, 'must not be padded with whitespace'))
    else if (localhostProfile === '') errors.push(missing)
    if (byteLength(localhostProfile) > LONGEST_PATH) errors.push(tooLong(local, LONGEST_PATH))
    return errors
  }
  if (type === '') return [required(at.child('type'), 'type is required when appArmorProfile is set')]
  if (!PROFILE_TYPES.includes(type)) return [notSupported(at.child('type'), type, PROFILE_TYPES)]
  return localhostProfile === undefined
    ? []
    : [invalidValue(local, localhostProfile, 'can only be set when AppArmor type is Localhost')]
}

const DNS_LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const domainFormats = [/^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/, new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`)]

function validateWindowsOptions(
  at: FieldPath,
  options: CoreV1.WindowsSecurityContextOptions | undefined,
): FieldError[] {
  if (options === undefined) return []
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  const errors: FieldError[] = []
  if (gmsaCredentialSpecName !== undefined)
    append(
      errors,
      problems(at.child('gmsaCredentialSpecName'), gmsaCredentialSpecName, dns1123Subdomain(gmsaCredentialSpecName)),
    )
  if (gmsaCredentialSpec !== undefined) {
    const spec = at.child('gmsaCredentialSpec')
    if (gmsaCredentialSpec === '') errors.push(invalidValue(spec, '', 'gmsaCredentialSpec cannot be an empty string'))
    else if (byteLength(gmsaCredentialSpec) > 64 * 1024)
      errors.push(invalidValue(spec, gmsaCredentialSpec, 'gmsaCredentialSpec size must be under 64 KiB'))
  }
  if (runAsUserName !== undefined)
    append(errors, problems(at.child('runAsUserName'), runAsUserName, windowsUserProblems(runAsUserName)))
  return errors
}

/** `[DOMAIN\]USER` */
function windowsUserProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const texts: string[] = []
  if (domain !== undefined && byteLength(domain) >= 256)
    texts.push("runAsUserName's Domain length must be under 256 characters")
  if (domain !== undefined && !domainFormats.some((format) => format.test(domain)))
    texts.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  if (user === '') texts.push("runAsUserName's User cannot be empty")
  else if (byteLength(user) > 104) texts.push("runAsUserName's User length must not be longer than 104 characters")
  if (/^[. ]+$/.test(user)) texts.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    texts.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  return texts
}

export function validatePodSecurityContext(
  at: FieldPath,
  context: CoreV1.PodSecurityContext | undefined,
  spec: CoreV1.PodSpec,
  rules: PodRules,
): FieldError[] {
  const { shareProcessNamespace, hostPID } = spec
  const sharesBoth =
    shareProcessNamespace === true && hostPID === true
      ? [
          invalidValue(
            at.child('shareProcessNamespace'),
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []
  if (context === undefined) return sharesBoth
  const { supplementalGroups = [], fsGroupChangePolicy, supplementalGroupsPolicy, seLinuxChangePolicy } = context
  return [
    ...validateId(at.child('fsGroup'), context.fsGroup),
    ...validateId(at.child('runAsUser'), context.runAsUser),
    ...validateId(at.child('runAsGroup'), context.runAsGroup),
    ...errorsOf(supplementalGroups, (group, index) => validateId(at.child('supplementalGroups').index(index), group)),
    ...sharesBoth,
    ...validateSysctls(at.child('sysctls'), context.sysctls ?? [], spec, rules),
    ...oneOf(at.child('fsGroupChangePolicy'), fsGroupChangePolicy, ['Always', 'OnRootMismatch']),
    ...validateSeccomp(at.child('seccompProfile'), context.seccompProfile),
    ...validateWindowsOptions(at.child('windowsOptions'), context.windowsOptions),
    ...validateAppArmor(at.child('appArmorProfile'), context.appArmorProfile),
    ...oneOf(at.child('supplementalGroupsPolicy'), supplementalGroupsPolicy, ['Merge', 'Strict']),
    ...oneOf(
      at.child('seLinuxChangePolicy'),
      seLinuxChangePolicy,
      rules.enabled('SELinuxMount') ? ['MountOption', 'Recursive'] : ['Recursive'],
    ),
  ]
}

export const oneOf = (at: FieldPath, value: string | undefined, known: readonly string[]): FieldError[] =>
  value === undefined || known.includes(value) ? [] : [notSupported(at, value, known)]

const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const SYSCTL = `^(${SEGMENT}[\\./])*${SEGMENT}$`
const sysctlPattern = new RegExp(SYSCTL)

function validateSysctls(
  at: FieldPath,
  sysctls: readonly CoreV1.Sysctl[],
  spec: CoreV1.PodSpec,
  rules: PodRules,
): FieldError[] {
  const seen = kept(sysctls, () => new Set<string>())
  return errorsOf(sysctls, ({ name = '' }, index) => {
    const here = at.index(index).child('name')
    const errors: FieldError[] = []
    if (name === '') errors.push(required(here))
    else if (name.length > 253 || !sysctlPattern.test(name))
      errors.push(invalidValue(here, name, `must have at most 253 characters and match regex ${SYSCTL}`))
    else if (seen.has(name)) errors.push(duplicate(here, name))
    const setting = isHostSysctl(name, spec)
    if (setting !== undefined && !rules.allows.hostSysctls)
      errors.push(invalidValue(here, name, `may not be specified when '${setting}' is true`))
    seen.add(name)
    return errors
  })
}

/** Validates hostProcess on Windows: all containers of a pod have it, or none. */
export function validateHostProcess(at: FieldPath, spec: CoreV1.PodSpec): FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const errors: FieldError[] = []
  const containers = visitContainers(spec, at)
  const hostProcesses = containers.filter(
    ({ container }) => container.securityContext?.windowsOptions?.hostProcess ?? ofPod,
  ).length
  append(
    errors,
    errorsOf(containers, ({ container, at: here }) => {
      const errors: FieldError[] = []
      const own = container.securityContext?.windowsOptions?.hostProcess
      if (ofPod !== undefined && own !== undefined && ofPod !== own)
        errors.push(
          invalidValue(
            here.child('securityContext', 'windowsOptions', 'hostProcess'),
            own,
            `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
          ),
        )
      return errors
    }),
  )
  if (hostProcesses === 0) return errors
  if (hostProcesses !== containers.length)
    errors.push(
      invalidValue(
        at,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    )
  if (!spec.hostNetwork)
    errors.push(
      invalidValue(
        at.child('hostNetwork'),
        false,
        'hostNetwork must be true if pod contains any hostProcess containers',
      ),
    )
  return errors
}

const NOT_ON_WINDOWS = 'cannot be set for a windows pod'
const NOT_ON_LINUX = 'windows options cannot be set for a linux pod'

/** Fields that Windows does not support, as paths in the pod spec, in kube-apiserver's order. */
const linuxFieldsOfPods = `securityContext.appArmorProfile securityContext.seLinuxOptions hostUsers hostPID hostIPC
  securityContext.seccompProfile securityContext.fsGroup securityContext.fsGroupChangePolicy securityContext.sysctls
  shareProcessNamespace securityContext.runAsUser securityContext.runAsGroup securityContext.supplementalGroups
  securityContext.supplementalGroupsPolicy securityContext.seLinuxChangePolicy`.split(/\s+/)
const linuxFieldsOfContainers = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const
/** For these fields, false equals absent. */
const countsWhenTrue = new Set(['hostPID', 'hostIPC'])

export function validateOs(at: FieldPath, spec: CoreV1.PodSpec): FieldError[] {
  const name = spec.os?.name
  if (spec.os === undefined) return []
  if (!name) return [required(at.child('os', 'name'))]
  const known = ['linux', 'windows']
  if (!known.includes(name)) return [notSupported(at.child('os'), name, known)]
  return name === 'linux' ? withoutWindowsFields(at, spec) : withoutLinuxFields(at, spec)
}

const withoutWindowsFields = (at: FieldPath, spec: CoreV1.PodSpec): FieldError[] => [
  ...(spec.securityContext?.windowsOptions
    ? [forbiddenField(at.child('securityContext', 'windowsOptions'), NOT_ON_LINUX)]
    : []),
  ...errorsOf(visitContainers(spec, at), ({ container, at: here }) =>
    container.securityContext?.windowsOptions
      ? [forbiddenField(here.child('securityContext', 'windowsOptions'), NOT_ON_LINUX)]
      : [],
  ),
]

const withoutLinuxFields = (at: FieldPath, spec: CoreV1.PodSpec): FieldError[] => [
  ...errorsOf(linuxFieldsOfPods, (field) => {
    const [first = '', second] = field.split('.')
    const holder = (second === undefined ? spec : (spec.securityContext ?? {})) as Readonly<Record<string, unknown>>
    const value = ownValue(holder, second ?? first)
    const isSet = countsWhenTrue.has(field) ? value === true : value !== undefined
    return isSet ? [forbiddenField(at.child(field), NOT_ON_WINDOWS)] : []
  }),
  ...errorsOf(visitContainers(spec, at), ({ container, at: here }) =>
    linuxFieldsOfContainers
      .filter((field) => container.securityContext?.[field] !== undefined)
      .map((field) => forbiddenField(here.child('securityContext', field), NOT_ON_WINDOWS)),
  ),
]
