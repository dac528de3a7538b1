import { addTo } from '../../../base/lookup.ts'
import { without } from '../../../patch/reset-fields.ts'
import type { Container, Pod, PodAffinityTerm, PodSpec, PodStatus } from '../../../api/core/v1.ts'
import { path } from '../../../api/field.ts'
import type { LabelSelector, ObjectMeta } from '../../../api/meta/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { ipWarnings } from '../../../api/ip-addresses.ts'
import { APP_ARMOR, appArmorOf } from '../../../validation/pod/pod-annotations.ts'
import { validatePodCreate } from '../../../validation/pod/pod.ts'
import { validateEphemeralUpdate, validatePodUpdate } from '../../../validation/pod/pod-update.ts'
import { validatePodResize } from '../../../validation/pod/pod-resize.ts'
import { validatePodStatusUpdate } from '../../../validation/pod/pod-status.ts'
import { hostnameWarnings, podWarnings, USE_APP_ARMOR_FIELD } from '../../../validation/pod/pod-warnings.ts'
import { podRules } from '../../../validation/pod/rules.ts'
import { validateAppArmor } from '../../../validation/pod/security-context.ts'
import { visitContainers } from '../../../validation/pod/visit-containers.ts'
import { timeText } from '../../../schema/time.ts'
import { sameTexts, sameValue } from '../../../validation/same-value.ts'
import { simulationWarnings } from '../../../validation/pod/simulation-annotations.ts'
import { podPrinter } from '../../../codec/table/pod.ts'
import { defaultPod } from './pod-defaults.ts'
import { defaultRule } from '../../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import type { StrategyContext } from '../../strategy.ts'
import { dropDisabledPodFields } from './pod-disabled-fields.ts'
import { qosClassOf } from '../../../validation/pod/pod-qos.ts'
import { podEvaluator } from '../../quota/pods.ts'
import { podWork } from './pod-work.ts'

const rulesOf = ({ enabled }: StrategyContext, old?: Pod) =>
  podRules(
    enabled,
    true,
    old && {
      spec: old.spec ?? {},
      ...(old.metadata.annotations ? { annotations: old.metadata.annotations } : {}),
    },
  )

export const pods: BuiltInDefinition<Pod> = {
  defaults: { v1: defaultRule<Pod>(defaultPod) },
  endpoints: {
    attach: 'exec',
    binding: 'pod-binding',
    eviction: 'eviction',
    exec: 'exec',
    log: 'log',
    portforward: 'port-forward',
    proxy: 'pod-proxy',
  },
  withoutTable: ['binding', 'ephemeralcontainers', 'eviction', 'resize'],
  printer: podPrinter,
  workloadWork: podWork,
  quota: podEvaluator,
  hasGeneration: true,
  resetFields: { status: without(['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']) },
  // prepareForCreate keeps the QoS class that the client sent
  keepsStatusOnCreate: true,
  prepareForCreate(pod, context) {
    const spec = (pod.spec ??= {})
    raiseGracePeriod(spec)
    pod.status = { phase: 'Pending', qosClass: pod.status?.qosClass || qosClassOf(spec) }
    dropDisabledPodFields(spec, undefined, context.enabled)
    if ((spec.schedulingGates ?? []).length > 0)
      pod.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          lastTransitionTime: timeText(context.now),
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ]
    addMatchLabels(spec, pod.metadata.labels ?? {}, context)
    applyAppArmorAnnotations(pod, context)
  },
  prepareForUpdate(pod, old, { enabled }) {
    raiseGracePeriod(pod.spec ?? {})
    dropDisabledPodFields(pod.spec, old.spec, enabled)
  },
  validate: (pod, context) => validatePodCreate(pod, rulesOf(context)),
  validateUpdate: (pod, old, context) => validatePodUpdate(pod, old, rulesOf(context, old)),
  warningsOnCreate: (pod) => [...hostnameWarnings(pod.metadata.name ?? '', "the Pod's hostname"), ...podWarnings(pod)],
  warningsOnUpdate: ({ metadata, spec = {} }, old) =>
    sameTexts(metadata.annotations, old.metadata.annotations)
      ? []
      : simulationWarnings(path('metadata', 'annotations'), metadata.annotations ?? {}, spec),
  /** A DELETE removes a pod at once if it has no node or has finished. */
  gracePeriod(pod, asked) {
    const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (!pod.spec?.nodeName || finished) return 0
    const period = asked ?? pod.spec.terminationGracePeriodSeconds ?? 0
    return period < 0 ? 1 : period
  },
  selectableFields: ({ spec, status }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.restartPolicy': spec?.restartPolicy ?? '',
    'spec.schedulerName': spec?.schedulerName ?? '',
    'spec.serviceAccountName': spec?.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec?.hostNetwork ?? false),
    'status.phase': status?.phase ?? '',
    'status.podIP': status?.podIP ?? status?.podIPs?.[0]?.ip ?? '',
    'status.podIPs': status?.podIPs?.[0]?.ip ?? '',
    'status.nominatedNodeName': status?.nominatedNodeName ?? '',
  }),
  subresources: {
    status: {
      prepareForUpdate(pod, old) {
        // a client that reports the status cannot change owners or the deletion
        keepOrDelete(pod.metadata, old.metadata, 'ownerReferences')
        delete pod.metadata.deletionTimestamp
        const status = (pod.status ??= {})
        if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass
        keepObservedGenerations(status, old.status ?? {})
      },
      validateUpdate: (pod, old, context) => validatePodStatusUpdate(pod, old, rulesOf(context, old)),
      warningsOnUpdate: ({ status }) => [
        ...(status?.podIPs ?? []).flatMap(({ ip = '' }, index) =>
          ipWarnings(path('status', 'podIPs').index(index).child('ip'), ip),
        ),
        ...(status?.hostIPs ?? []).flatMap(({ ip = '' }, index) =>
          ipWarnings(path('status', 'hostIPs').index(index).child('ip'), ip),
        ),
      ],
    },
    ephemeralcontainers: {
      prepareForUpdate(pod, old) {
        const { ephemeralContainers } = pod.spec ?? {}
        pod.spec = structuredClone(old.spec ?? {})
        if (ephemeralContainers === undefined) delete pod.spec.ephemeralContainers
        else pod.spec.ephemeralContainers = ephemeralContainers
        keepAllButSpec(pod, old)
      },
      validateUpdate: (pod, old, context) => validateEphemeralUpdate(pod, old, rulesOf(context, old)),
    },
    resize: {
      prepareForUpdate(pod, old, { enabled }) {
        const spec = pod.spec ?? {}
        const before = old.spec ?? {}
        const sameLength = (field: 'containers' | 'initContainers') =>
          (spec[field] ?? []).length === (before[field] ?? []).length
        if (sameLength('containers') && sameLength('initContainers')) {
          pod.spec = {
            ...structuredClone(before),
            ...(before.containers ? { containers: onlyResources(spec.containers, before.containers) } : {}),
            ...(before.initContainers
              ? { initContainers: onlyResources(spec.initContainers, before.initContainers) }
              : {}),
          }
          if (spec.resources === undefined) delete pod.spec.resources
          else pod.spec.resources = spec.resources
          keepAllButSpec(pod, old)
        }
        dropDisabledPodFields(pod.spec, old.spec, enabled)
      },
      validateUpdate: (pod, old, context) => validatePodResize(pod, old, rulesOf(context, old)),
    },
  },
}

/** Replaces a negative grace period. Pod templates may keep one. */
function raiseGracePeriod(spec: PodSpec): void {
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
}

/** If containers were renamed or moved, the object stays as the client sent it, so that validation refuses it. */
function onlyResources(containers: Container[] = [], old: readonly Container[]): Container[] {
  const isMoved = containers.some(({ name }, index) => name !== old[index]!.name)
  if (isMoved) return containers
  return containers.map(({ resources, resizePolicy }, index) => {
    const { resources: _resources, resizePolicy: _policy, ...rest } = structuredClone(old[index]!)
    return { ...rest, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) }
  })
}

function keepAllButSpec(pod: Pod, old: Pod): void {
  if (old.status === undefined) delete pod.status
  else pod.status = old.status
  keepMetadata(pod.metadata, old.metadata)
}

/** Subresources of the spec change no labels, annotations, finalizers or owners. */
function keepMetadata(meta: ObjectMeta, old: ObjectMeta): void {
  for (const field of ['annotations', 'labels', 'finalizers', 'ownerReferences', 'deletionTimestamp'] as const)
    keepOrDelete(meta, old, field)
}

function keepOrDelete(meta: ObjectMeta, old: ObjectMeta, field: keyof ObjectMeta): void {
  if (old[field] === undefined) delete meta[field]
  // own key: a field of ObjectMeta
  else Object.assign(meta, { [field]: old[field] })
}

/** Keeps the stored observedGenerations if the client, for example an older kubelet, does not set them. */
function keepObservedGenerations(status: PodStatus, old: PodStatus): void {
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration
  // of repeated types, the first conditions belong together, then the second ones
  const left = new Map<string, (number | bigint)[]>()
  for (const { type = '', observedGeneration = 0 } of old.conditions?.toReversed() ?? [])
    addTo(left, type, observedGeneration)
  for (const condition of status.conditions ?? []) {
    const before = left.get(condition.type ?? '')?.pop() ?? 0
    if (!condition.observedGeneration && before !== 0) condition.observedGeneration = before
  }
}

/** On create, the server adds the pod's own values of these label keys to the selectors. */
function addMatchLabels(spec: PodSpec, labels: Readonly<Record<string, string>>, { enabled }: StrategyContext): void {
  const add = (selector: LabelSelector | undefined, keys: readonly string[] = [], operator: 'In' | 'NotIn') => {
    if (selector === undefined) return
    const known = keys.filter((key) => Object.hasOwn(labels, key))
    if (known.length === 0) return
    selector.matchExpressions = [
      ...(selector.matchExpressions ?? []),
      ...known.map((key) => ({ key, operator, values: [ownValue(labels, key)!] })),
    ]
  }
  const addToTerm = ({ labelSelector, matchLabelKeys, mismatchLabelKeys }: PodAffinityTerm) => {
    add(labelSelector, matchLabelKeys, 'In')
    add(labelSelector, mismatchLabelKeys, 'NotIn')
  }
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm = {} } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      addToTerm(podAffinityTerm)
    affinity?.requiredDuringSchedulingIgnoredDuringExecution?.forEach(addToTerm)
  }
  if (enabled('MatchLabelKeysInPodTopologySpread') && enabled('MatchLabelKeysInPodTopologySpreadSelectorMerge'))
    for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? [])
      add(labelSelector, matchLabelKeys, 'In')
}

/**
 * Older AppArmor annotations fill fields that the client did not set. kube-apiserver warns if it uses an annotation,
 * and if an annotation is invalid.
 */
function applyAppArmorAnnotations(pod: Pod, { warn }: StrategyContext): void {
  for (const { container, key, profile } of annotatedContainers(pod)) {
    if (container.securityContext?.appArmorProfile) continue
    if (profile !== undefined) {
      if (sameValue('io.k8s.api.core.v1.AppArmorProfile', profile, pod.spec?.securityContext?.appArmorProfile)) continue
      container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    }
    warn(`${path('metadata', 'annotations').key(key)}: ${USE_APP_ARMOR_FIELD}`)
  }
}

const annotatedContainers = ({ metadata, spec = {} }: Pod) =>
  (spec.os?.name === 'windows' ? [] : visitContainers(spec, path('spec'))).flatMap(({ container }) => {
    const key = APP_ARMOR + (container.name ?? '')
    const annotation = ownValue(metadata.annotations, key)
    if (annotation === undefined) return []
    const profile = appArmorOf(annotation)
    const isValid = profile !== undefined && validateAppArmor(path(), profile).length === 0
    return [{ container, key, profile: isValid ? profile : undefined }]
  })
