/**
 * The options of pod spec validation: feature gates, pod or template, and leniency because of the stored spec. An
 * object may keep values that an older kube-apiserver accepted.
 */
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldPath } from '../../api/field.ts'
import { path } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { everyName, somePart } from '../../base/parts.ts'
import { Quantity } from '../../schema/quantity.ts'
import { hasInvalidValue, validateLabelSelector } from '../label-selectors.ts'
import { nonReservedPath } from '../local-paths.ts'

export interface PodRules {
  enabled(gate: string): boolean
  /** Validation of a pod. A template may leave out fields that the server fills in when a client creates the pod. */
  readonly isPod: boolean
  readonly allows: Leniency
}

/** Invalid values that the stored object already has, and that an update may keep. */
export interface Leniency {
  readonly selectorValues: boolean
  readonly nodeAffinityValues: boolean
  readonly spreadSelectors: boolean
  readonly tokenPaths: boolean
  readonly hugePages: boolean
  readonly hostSysctls: boolean
  readonly restartOfInitContainers: boolean
  readonly deletionCost: boolean
}

export function podRules(
  enabled: (gate: string) => boolean,
  isPod: boolean,
  old?: { readonly spec: CoreV1.PodSpec; readonly annotations?: Readonly<Record<string, string>> },
): PodRules {
  return { enabled, isPod, allows: old === undefined ? nothing : leniencyOf(old.spec, old.annotations) }
}

const nothing: Leniency = {
  selectorValues: false,
  nodeAffinityValues: false,
  spreadSelectors: false,
  tokenPaths: false,
  hugePages: false,
  hostSysctls: false,
  restartOfInitContainers: false,
  deletionCost: false,
}

function leniencyOf(spec: CoreV1.PodSpec, annotations: Readonly<Record<string, string>> = {}): Leniency {
  const { affinity, securityContext } = spec
  const isLenient = ({ labelSelector = {}, namespaceSelector = {} }: CoreV1.PodAffinityTerm): boolean =>
    hasInvalidValue(labelSelector) || hasInvalidValue(namespaceSelector)
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return {
    selectorValues: [affinity?.podAffinity, affinity?.podAntiAffinity].some(
      (part) =>
        somePart(part?.requiredDuringSchedulingIgnoredDuringExecution ?? [], isLenient) ||
        somePart(part?.preferredDuringSchedulingIgnoredDuringExecution ?? [], ({ podAffinityTerm = {} }) =>
          isLenient(podAffinityTerm),
        ),
    ),
    nodeAffinityValues: somePart(required, hasInvalidValue),
    spreadSelectors: somePart(
      spec.topologySpreadConstraints ?? [],
      ({ labelSelector }) => validateLabelSelector(anywhere, labelSelector).length > 0,
    ),
    tokenPaths: somePart(spec.volumes ?? [], ({ projected }) =>
      somePart(
        projected?.sources ?? [],
        ({ serviceAccountToken }) =>
          serviceAccountToken !== undefined && nonReservedPath(anywhere, serviceAccountToken.path ?? '').length > 0,
      ),
    ),
    hugePages: [spec.initContainers, spec.containers].some((containers = []) =>
      somePart(containers, ({ resources = {} }) =>
        [resources.limits, resources.requests].some(
          (list = {}) => !everyName(list, (name) => !isIndivisibleHugePage(name, ownValue(list, name)!)),
        ),
      ),
    ),
    hostSysctls: somePart(securityContext?.sysctls ?? [], ({ name = '' }) => isHostSysctl(name, spec) !== undefined),
    restartOfInitContainers: somePart(
      spec.initContainers ?? [],
      ({ restartPolicy, resizePolicy = [] }) =>
        restartPolicy !== 'Always' && somePart(resizePolicy, (policy) => policy.restartPolicy === 'RestartContainer'),
    ),
    deletionCost: !isDeletionCost(annotations[POD_DELETION_COST]),
  }
}

const anywhere: FieldPath = path()

export const POD_DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

/** An int32 in the spelling of Go's strconv: no plus sign, no leading zeros. */
export function isDeletionCost(text: string | undefined): boolean {
  if (text === undefined) return true
  return /^(0|-?[1-9]\d*)$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31
}

export const HUGE_PAGES = 'hugepages-'

export function isIndivisibleHugePage(name: string, text: string): boolean {
  if (!name.startsWith(HUGE_PAGES)) return false
  try {
    const size = Quantity.parse(name.slice(HUGE_PAGES.length))
    if (size.sign <= 0 || !size.isMultipleOf(0)) return true
    return Quantity.parse(text).scaledValue(0) % size.scaledValue(0) !== 0n
  } catch {
    return true
  }
}

/** The pod's setting that makes a namespaced sysctl one of the host; undefined without such a setting. */
export function isHostSysctl(name: string, spec: CoreV1.PodSpec): 'hostNetwork' | 'hostIPC' | undefined {
  const dotted = withDots(name)
  if (spec.hostNetwork && /^net\./.test(dotted)) return 'hostNetwork'
  if (spec.hostIPC && /^(kernel\.shm|kernel\.msg|fs\.mqueue\.)|^kernel\.sem$/.test(dotted)) return 'hostIPC'
  return undefined
}

/** A sysctl name may have slashes in place of dots. Its first separator decides. */
function withDots(name: string): string {
  const separator = /[./]/.exec(name)?.[0]
  if (separator !== '/') return name
  return name.replace(/[./]/g, (character) => (character === '/' ? '.' : '/'))
}
