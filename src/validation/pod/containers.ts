/** Validates containers, init containers and ephemeral containers of a pod. */
import { repeatsIn } from '../../base/lookup.ts'
import { append } from '../../base/append.ts'
import { kept } from '../../base/parts.ts'
import { errorsOf } from '../errors-of.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import { sentField } from '../../schema/emptied.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notFoundField,
  notSupported,
  required,
  tooMany,
} from '../../api/field.ts'
import { portNameProblems, portNumberProblems, problems, requiredText, validateLabelText } from '../field-rules.ts'
import { descendingPath, withoutBacksteps } from '../local-paths.ts'
import { validateEnv, validateEnvFrom } from './env.ts'
import { PROBE_KINDS, validateLifecycle, validateProbe } from './handlers.ts'
import { validatePullPolicy } from './pull-policy.ts'
import { validateResources } from './resources.ts'
import type { PodRules } from './rules.ts'
import { oneOf, validateSecurityContext } from './security-context.ts'
import type { Volumes } from './volumes.ts'

/** The parts of a pod on which validation of its containers depends. */
export interface ContainerContext {
  readonly spec: CoreV1.PodSpec
  readonly volumes: Volumes
  readonly claimNames: ReadonlySet<string>
  readonly hostUsers: boolean
  readonly rules: PodRules
}

export function validateContainers(
  at: FieldPath,
  containers: readonly CoreV1.Container[],
  context: ContainerContext,
): FieldError[] {
  if (containers.length === 0) return [required(at)]
  const { spec, rules } = context
  const handlers = { gracePeriod: spec.terminationGracePeriodSeconds, rules }
  const repeats = repeatedNames(containers)
  const errors = errorsOf(containers, (container, index) => {
    const here = at.index(index)
    const { name = '', lifecycle } = container
    const wrong = validateCommon(here, container, context)
    if (repeats.has(index)) wrong.push(duplicate(here.child('name'), name))
    if (lifecycle) append(wrong, validateLifecycle(here.child('lifecycle'), lifecycle, spec.os, handlers))
    for (const kind of PROBE_KINDS) append(wrong, validateProbe(here.child(kind), kind, container[kind], handlers))
    if (rules.enabled('ContainerRestartRules')) append(wrong, validateRestartPolicy(here, container, rules))
    else if (container.restartPolicy !== undefined)
      wrong.push(forbiddenField(here.child('restartPolicy'), 'may not be set for non-init containers'))
    return wrong
  })
  return [...errors, ...hostPortConflicts(at, containers)]
}

const WITHOUT_ALWAYS = 'may not be set for init containers without restartPolicy=Always'

export function validateInitContainers(
  at: FieldPath,
  containers: readonly CoreV1.Container[],
  context: ContainerContext,
): FieldError[] {
  const { spec, rules } = context
  const handlers = { gracePeriod: spec.terminationGracePeriodSeconds, rules }
  const others = kept(containers, () => new Set((spec.containers ?? []).map(({ name = '' }) => name)))
  const repeats = repeatedNames(containers)
  return errorsOf(containers, (container, index) => {
    const here = at.index(index)
    const { name = '', lifecycle, resizePolicy = [] } = container
    const isSidecar = container.restartPolicy === 'Always'
    const errors = [...validateCommon(here, container, context), ...validateInitRestartPolicy(here, container, rules)]
    if (others.has(name) || (name !== '' && repeats.has(index))) errors.push(duplicate(here.child('name'), name))
    append(
      errors,
      // kube-apiserver checks the ports of each init container alone, and reports index 0
      portConflicts(
        at.index(0),
        container,
        kept(container, () => new Set<string>()),
      ),
    )
    if (isSidecar) {
      if (lifecycle) append(errors, validateLifecycle(here.child('lifecycle'), lifecycle, spec.os, handlers))
      for (const kind of PROBE_KINDS) append(errors, validateProbe(here.child(kind), kind, container[kind], handlers))
    } else
      for (const field of ['lifecycle', ...PROBE_KINDS] as const)
        if (container[field] !== undefined) errors.push(forbiddenField(here.child(field), WITHOUT_ALWAYS))
    if (!isSidecar && !rules.allows.restartOfInitContainers)
      append(
        errors,
        errorsOf(resizePolicy, ({ restartPolicy }, position) =>
          restartPolicy === 'RestartContainer'
            ? [
                invalidValue(
                  here.child('resizePolicy').index(position).child('restartPolicy'),
                  restartPolicy,
                  "must not be set to 'RestartContainer' for non-sidecar initContainers",
                ),
              ]
            : [],
        ),
      )
    return errors
  })
}

function validateInitRestartPolicy(at: FieldPath, container: CoreV1.Container, rules: PodRules): FieldError[] {
  const { restartPolicy, restartPolicyRules = [] } = container
  if (restartPolicy === undefined)
    return restartPolicyRules.length === 0
      ? []
      : [required(at.child('restartPolicy'), 'must specify restartPolicy when restart rules are used')]
  if (!rules.enabled('ContainerRestartRules')) return oneOf(at.child('restartPolicy'), restartPolicy, ['Always'])
  if (restartPolicy !== 'Always' || rules.enabled('RestartAllContainersOnContainerExits'))
    return validateRestartPolicy(at, container, rules)
  return restartPolicyRules.length === 0
    ? []
    : [
        forbiddenField(
          at.child('restartPolicyRules'),
          'restartPolicyRules are not allowed for init containers with restart policy Always',
        ),
      ]
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']

function validateRestartPolicy(at: FieldPath, container: CoreV1.Container, rules: PodRules): FieldError[] {
  const { restartPolicy, restartPolicyRules = [] } = container
  const errors: FieldError[] = []
  const policy = at.child('restartPolicy')
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return []
    errors.push(required(policy, 'must specify restartPolicy when restart rules are used'))
  } else append(errors, oneOf(policy, restartPolicy, RESTART_POLICIES))
  const list = at.child('restartPolicyRules')
  if (restartPolicyRules.length > 20) errors.push(tooMany(list, restartPolicyRules.length, 20))
  const actions = rules.enabled('RestartAllContainersOnContainerExits')
    ? ['Restart', 'RestartAllContainers']
    : ['Restart']
  append(
    errors,
    errorsOf(restartPolicyRules, ({ action = '', exitCodes }, index) => {
      const errors: FieldError[] = []
      const here = list.index(index)
      append(errors, oneOf(here.child('action'), action, actions))
      if (exitCodes === undefined) errors.push(required(here.child('exitCodes'), 'must be specified'))
      else {
        const { operator = '', values = [] } = exitCodes
        append(errors, oneOf(here.child('exitCodes', 'operator'), operator, ['In', 'NotIn']))
        if (values.length > 255) errors.push(tooMany(here.child('exitCodes', 'values'), values.length, 255))
      }
      return errors
    }),
  )
  return errors
}

/** Container fields that ephemeral containers must not have. */
const notForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container'

export function validateEphemeralContainers(
  at: FieldPath,
  containers: readonly CoreV1.EphemeralContainer[],
  context: ContainerContext,
): FieldError[] {
  const { spec } = context
  const others = kept(
    containers,
    () => new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name)),
  )
  const repeats = repeatedNames(containers)
  return errorsOf(containers, (container, index) => {
    const here = at.index(index)
    const { name = '', targetContainerName = '', volumeMounts = [] } = container
    const errors = [...validateCommon(here, container, context), ...validateImageText(here, container)]
    if (others.has(name) || repeats.has(index)) errors.push(duplicate(here.child('name'), name))
    if (targetContainerName !== '' && !others.has(targetContainerName))
      errors.push(notFoundField(here.child('targetContainerName'), targetContainerName))
    for (const field of notForEphemeral) {
      const value = sentField(container, field)
      const isEmptyStruct = field === 'resources' && Object.keys(value ?? {}).length === 0
      if (value !== undefined && !isEmptyStruct) errors.push(forbiddenField(here.child(field), NOT_EPHEMERAL))
    }
    append(
      errors,
      errorsOf(volumeMounts, ({ subPath, subPathExpr }, position) => {
        const errors: FieldError[] = []
        const mount = here.child('volumeMounts').index(position)
        if (subPath) errors.push(forbiddenField(mount.child('subPath'), NOT_EPHEMERAL))
        if (subPathExpr) errors.push(forbiddenField(mount.child('subPathExpr'), NOT_EPHEMERAL))
        return errors
      }),
    )
    return errors
  })
}

/** kube-apiserver checks this in pods, but not in templates. */
export const validateImageText = (at: FieldPath, { image = '' }: CoreV1.Container): FieldError[] =>
  image.trim() === image ? [] : [invalidValue(at.child('image'), image, 'must not have leading or trailing whitespace')]

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError']

function validateCommon(at: FieldPath, container: CoreV1.Container, context: ContainerContext): FieldError[] {
  const { name, image, terminationMessagePolicy: policy = '', volumeMounts = [], volumeDevices = [] } = container
  const { rules, spec } = context
  return [
    ...(name ? validateLabelText(at.child('name'), name) : [required(at.child('name'))]),
    ...requiredText(at.child('image'), image),
    ...(policy === ''
      ? [required(at.child('terminationMessagePolicy'))]
      : oneOf(at.child('terminationMessagePolicy'), policy, MESSAGE_POLICIES)),
    ...validatePorts(at.child('ports'), container.ports ?? []),
    ...validateEnv(at.child('env'), container.env ?? [], rules),
    ...validateEnvFrom(at.child('envFrom'), container.envFrom ?? [], rules),
    ...validateMounts(at.child('volumeMounts'), volumeMounts, container, context.volumes),
    ...validateDevices(at.child('volumeDevices'), volumeDevices, volumeMounts, context.volumes),
    ...validatePullPolicy(at.child('imagePullPolicy'), container.imagePullPolicy),
    ...validateResources(at.child('resources'), container.resources ?? {}, context.claimNames, rules),
    ...validateResizePolicy(at.child('resizePolicy'), container.resizePolicy ?? [], spec.restartPolicy ?? ''),
    ...validateSecurityContext(at.child('securityContext'), container.securityContext, context.hostUsers),
  ]
}

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

function validatePorts(at: FieldPath, ports: readonly CoreV1.ContainerPort[]): FieldError[] {
  const names = kept(ports, () => new Set<string>())
  return errorsOf(ports, ({ name = '', containerPort = 0, hostPort = 0, protocol = '' }, index) => {
    const here = at.index(index)
    const errors: FieldError[] = []
    if (name !== '') {
      const texts = portNameProblems(name)
      if (texts.length > 0) {
        // kube-apiserver reuses the loop variable of the ports for these texts
        append(errors, problems(here.child('name'), name, texts))
      } else if (names.has(name)) errors.push(duplicate(here.child('name'), name))
      else names.add(name)
    }
    append(errors, [
      ...(containerPort === 0
        ? [required(here.child('containerPort'))]
        : problems(here.child('containerPort'), containerPort, portNumberProblems(containerPort))),
      ...(hostPort === 0 ? [] : problems(here.child('hostPort'), hostPort, portNumberProblems(hostPort))),
      ...(protocol === '' ? [required(here.child('protocol'))] : oneOf(here.child('protocol'), protocol, PROTOCOLS)),
    ])
    return errors
  })
}

export function hostPortConflicts(at: FieldPath, containers: readonly CoreV1.Container[]): FieldError[] {
  const taken = kept(containers, () => new Set<string>())
  return errorsOf(containers, (container, index) => portConflicts(at.index(index), container, taken))
}

const portConflicts = (at: FieldPath, { ports = [] }: CoreV1.Container, taken: Set<string>): FieldError[] =>
  errorsOf(ports, ({ protocol = '', hostIP = '', hostPort = 0 }, position) => {
    if (hostPort === 0) return []
    const port = `${protocol}/${hostIP}/${hostPort}`
    if (taken.has(port)) return [duplicate(at.child('ports').index(position).child('hostPort'), port)]
    taken.add(port)
    return []
  })

/** The indexes of containers that repeat the name of an earlier one. */
const repeatedNames = (containers: readonly CoreV1.Container[]): ReadonlySet<number> =>
  kept(containers, () => repeatsIn(containers.map(({ name = '' }) => name)))

function validateMounts(
  at: FieldPath,
  mounts: readonly CoreV1.VolumeMount[],
  container: CoreV1.Container,
  volumes: Volumes,
): FieldError[] {
  const devices = container.volumeDevices
  const deviceNames = kept(devices, () => new Set(devices?.map(({ name = '' }) => name)))
  const devicePaths = kept(devices, () => new Set(devices?.map(({ devicePath = '' }) => devicePath)))
  const paths = kept(mounts, () => new Set<string>())
  return errorsOf(mounts, (mount, index) => {
    const here = at.index(index)
    const { name = '', mountPath = '', subPath = '', subPathExpr = '', mountPropagation } = mount
    const errors = requiredText(here.child('name'), name)
    if (!volumes.has(name)) errors.push(notFoundField(here.child('name'), name))
    append(errors, requiredText(here.child('mountPath'), mountPath))
    if (paths.has(mountPath)) errors.push(invalidValue(here.child('mountPath'), mountPath, 'must be unique'))
    paths.add(mountPath)
    if (deviceNames.has(name))
      errors.push(invalidValue(here.child('name'), name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath))
      errors.push(invalidValue(here.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'))
    // kube-apiserver reports these at the list, without an index
    if (subPath !== '') append(errors, descendingPath(at.child('subPath'), subPath))
    if (subPathExpr !== '') {
      if (subPath !== '')
        errors.push(
          invalidValue(here.child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
        )
      append(errors, descendingPath(at.child('subPathExpr'), subPathExpr))
    }
    if (mountPropagation !== undefined)
      append(errors, validatePropagation(at.child('mountPropagation'), mountPropagation, container))
    return [...errors, ...validateRecursiveReadOnly(at.child('recursiveReadOnly'), mount)]
  })
}

function validatePropagation(at: FieldPath, propagation: string, { securityContext }: CoreV1.Container): FieldError[] {
  const errors = oneOf(at, propagation, ['Bidirectional', 'HostToContainer', 'None'])
  if (propagation === 'Bidirectional' && securityContext?.privileged !== true)
    errors.push(forbiddenField(at, 'Bidirectional mount propagation is available only to privileged containers'))
  return errors
}

function validateRecursiveReadOnly(at: FieldPath, mount: CoreV1.VolumeMount): FieldError[] {
  const { recursiveReadOnly: mode, readOnly, mountPropagation } = mount
  if (mode === undefined || mode === 'Disabled') return []
  const modes = ['Disabled', 'Enabled', 'IfPossible']
  if (!modes.includes(mode)) return [notSupported(at, mode, modes)]
  const errors: FieldError[] = []
  if (!readOnly) errors.push(forbiddenField(at, 'may only be specified when readOnly is true'))
  if (mountPropagation !== undefined && mountPropagation !== 'None')
    errors.push(forbiddenField(at, 'may only be specified when mountPropagation is None or not specified'))
  return errors
}

function validateDevices(
  at: FieldPath,
  devices: readonly CoreV1.VolumeDevice[],
  mounts: readonly CoreV1.VolumeMount[],
  volumes: Volumes,
): FieldError[] {
  const names = kept(devices, () => new Set<string>())
  const paths = kept(devices, () => new Set<string>())
  const mountNames = kept(mounts, () => new Set(mounts.map(({ name: mounted = '' }) => mounted)))
  const mountPaths = kept(mounts, () => new Set(mounts.map(({ mountPath = '' }) => mountPath)))
  return errorsOf(devices, ({ name = '', devicePath = '' }, index) => {
    const here = at.index(index)
    const nameAt = here.child('name')
    const pathAt = here.child('devicePath')
    const errors = requiredText(nameAt, name)
    if (names.has(name)) errors.push(invalidValue(nameAt, name, 'must be unique'))
    const volume = volumes.get(name)
    if (volume === undefined) errors.push(notFoundField(nameAt, name))
    else if (!volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(
        invalidValue(
          nameAt,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      )
    append(errors, requiredText(pathAt, devicePath))
    if (paths.has(devicePath)) errors.push(invalidValue(pathAt, devicePath, 'must be unique'))
    if (withoutBacksteps(pathAt, devicePath).length > 0)
      errors.push(invalidValue(pathAt, devicePath, "can not contain backsteps ('..')"))
    else paths.add(devicePath)
    if (mountNames.has(name)) errors.push(invalidValue(nameAt, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath))
      errors.push(invalidValue(pathAt, devicePath, 'must not already exist as a path in volumeMounts'))
    if (name !== '') names.add(name)
    return errors
  })
}

function validateResizePolicy(
  at: FieldPath,
  policies: readonly CoreV1.ContainerResizePolicy[],
  podRestartPolicy: string,
): FieldError[] {
  const seen = kept(policies, () => new Set<string>())
  return errorsOf(policies, ({ resourceName = '', restartPolicy = '' }, index) => {
    const errors: FieldError[] = []
    if (seen.has(resourceName)) errors.push(duplicate(at.index(index), resourceName))
    seen.add(resourceName)
    append(errors, [
      ...(resourceName === '' ? [required(at)] : oneOf(at, resourceName, ['cpu', 'memory'])),
      ...(restartPolicy === '' ? [required(at)] : oneOf(at, restartPolicy, ['NotRequired', 'RestartContainer'])),
    ])
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.push(invalidValue(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    return errors
  })
}
