/**
 * Defaulting that takes more words than "this value when nothing is there": one function a type, which changes an
 * object of that type in place. Objects are in the normal form of codec/decode.
 */
import type * as ApiextensionsV1 from '../api/apiextensions/v1.ts'
import type * as AppsV1 from '../api/apps/v1.ts'
import type * as AutoscalingV1 from '../api/autoscaling/v1.ts'
import type * as AutoscalingV2 from '../api/autoscaling/v2.ts'
import type * as BatchV1 from '../api/batch/v1.ts'
import type * as CoreV1 from '../api/core/v1.ts'
import type * as NetworkingV1 from '../api/networking/v1.ts'
import type { JsonObject } from '../api/object.ts'
import type * as RbacV1 from '../api/rbac/v1.ts'
import type * as ResourceV1 from '../api/resource/v1.ts'
import type * as ResourceV1beta1 from '../api/resource/v1beta1.ts'
import { setOwn } from '../api/own.ts'
import { bytesToBase64 } from '../api/base64.ts'
import { sentField } from './emptied.ts'
import { imageTag } from './image-tag.ts'
import { defaultPodResources } from './pod-resource-defaults.ts'
import { timeText } from './time.ts'

/** What defaulting may know beside the object. */
export interface DefaultingContext {
  readonly now: Date
  /** Feature gates: on or off in this server. */
  enabled(gate: string): boolean
}

type Quantities = Record<string, string>

const pullPolicy = (image: string | undefined) => (imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent')

function container(container: CoreV1.Container | CoreV1.EphemeralContainer): void {
  container.imagePullPolicy ||= pullPolicy(container.image)
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
}

/** All but the name: the members of VolumeSource are the volume's own. */
function volume(volume: CoreV1.Volume): void {
  if (Object.keys(volume).every((name) => name === 'name')) volume.emptyDir = {}
}

function imageVolume(source: CoreV1.ImageVolumeSource, context: DefaultingContext): void {
  if (context.enabled('ImageVolume')) source.pullPolicy ||= pullPolicy(source.reference)
}

function pod(pod: CoreV1.Pod, context: DefaultingContext): void {
  const spec = pod.spec!
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  for (const { resources } of containers) if (resources !== undefined) requestsFromLimits(resources)
  if (context.enabled('PodLevelResources')) defaultPodResources(spec)
  spec.enableServiceLinks ??= true
  if (spec.hostNetwork)
    for (const { ports } of containers) for (const port of ports ?? []) port.hostPort ||= port.containerPort!
}

function requestsFromLimits(resources: CoreV1.ResourceRequirements): void {
  if (resources.limits === undefined) return
  resources.requests = { ...resources.limits, ...resources.requests }
}

function namespace({ metadata }: CoreV1.Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name }
}

function nodeStatus(status: CoreV1.NodeStatus): void {
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity }
}

function limitRangeItem(item: CoreV1.LimitRangeItem): void {
  if (item.type !== 'Container') return
  const limits: Quantities = { ...item.max, ...item.default }
  const requests: Quantities = { ...item.min, ...limits, ...item.defaultRequest }
  if (Object.keys(limits).length > 0) item.default = limits
  if (Object.keys(requests).length > 0) item.defaultRequest = requests
}

function podLogOptions(options: CoreV1.PodLogOptions, context: DefaultingContext): void {
  if (context.enabled('PodLogsQuerySplitStreams')) options.stream ??= 'All'
}

const isEmpty = (map: Record<string, string> | undefined) => map === undefined || Object.keys(map).length === 0

function replicationController({ metadata, spec }: CoreV1.ReplicationController): void {
  const labels = spec!.template?.metadata?.labels
  if (labels === undefined) return
  if (isEmpty(spec!.selector)) spec!.selector = { ...labels }
  if (isEmpty(metadata.labels)) metadata.labels = { ...labels }
}

function service({ spec, status }: CoreV1.Service): void {
  const service = spec!
  service.sessionAffinity ||= 'None'
  if (service.sessionAffinity === 'None') delete service.sessionAffinityConfig
  if (service.sessionAffinity === 'ClientIP' && service.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    service.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } }
  service.type ||= 'ClusterIP'
  for (const port of service.ports ?? []) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port ?? 0
  }
  const isBalanced = service.type === 'LoadBalancer'
  const isExternal = isBalanced || service.type === 'NodePort'
  if (isExternal || (service.type === 'ClusterIP' && (service.externalIPs ?? []).length > 0))
    service.externalTrafficPolicy ||= 'Cluster'
  if (isExternal || service.type === 'ClusterIP') service.internalTrafficPolicy ??= 'Cluster'
  if (!isBalanced) return
  service.allocateLoadBalancerNodePorts ??= true
  for (const ingress of status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP'
}

function deployment({ spec }: AppsV1.Deployment): void {
  const deployment = spec!
  deployment.replicas ??= 1
  const strategy = deployment.strategy!
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= '25%'
    strategy.rollingUpdate.maxSurge ??= '25%'
  }
  deployment.revisionHistoryLimit ??= 10
  deployment.progressDeadlineSeconds ??= 600
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

/** kube-apiserver's internal type has the generation of the template as a field, which is written as an annotation. */
function daemonSet({ metadata, spec }: AppsV1.DaemonSet): void {
  metadata!.annotations = {
    ...metadata!.annotations,
    [TEMPLATE_GENERATION]: metadata!.annotations?.[TEMPLATE_GENERATION] ?? '0',
  }
  const strategy = spec!.updateStrategy!
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= 1
  }
  // kube-apiserver's internal form knows no absence of these
  if (strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.maxUnavailable ??= 0
    strategy.rollingUpdate.maxSurge ??= 0
  }
  spec!.revisionHistoryLimit ??= 10
}

function statefulSet({ spec }: AppsV1.StatefulSet, context: DefaultingContext): void {
  const set = spec!
  set.podManagementPolicy ||= 'OrderedReady'
  const strategy = set.updateStrategy!
  if (!strategy.type) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) {
    strategy.rollingUpdate.partition ??= 0
    if (context.enabled('MaxUnavailableStatefulSet')) strategy.rollingUpdate.maxUnavailable ??= 1
  }
  const claims = (set.persistentVolumeClaimRetentionPolicy ??= {})
  claims.whenDeleted ||= 'Retain'
  claims.whenScaled ||= 'Retain'
  set.replicas ??= 1
  set.revisionHistoryLimit ??= 10
  for (const claim of set.volumeClaimTemplates ?? [])
    Object.assign(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' })
}

const MAX_INT32 = 2 ** 31 - 1

function job({ metadata, spec }: BatchV1.Job): void {
  const job = spec!
  if (job.parallelism === undefined) job.completions ??= 1
  job.parallelism ??= 1
  job.backoffLimit ??= job.backoffLimitPerIndex === undefined ? 6 : MAX_INT32
  const labels = job.template?.metadata?.labels
  // one and the same: what a strategy adds to the one is in the other
  if (labels !== undefined && isEmpty(metadata.labels)) metadata.labels = labels
  job.completionMode ??= 'NonIndexed'
  job.suspend ??= false
  job.podReplacementPolicy ??= job.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'
  job.manualSelector ??= false
}

function networkPolicy({ spec }: NetworkingV1.NetworkPolicy): void {
  if ((spec!.policyTypes ?? []).length > 0) return
  spec!.policyTypes = (spec!.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}

function ingressClass({ spec }: NetworkingV1.IngressClass): void {
  if (spec!.parameters !== undefined) spec!.parameters.scope ??= 'Cluster'
}

/** The metric that v2 would have by default is a matter of conversion: it may be in an annotation here. */
function autoscalerV1({ spec }: AutoscalingV1.HorizontalPodAutoscaler): void {
  spec!.minReplicas ??= 1
}

function autoscalerV2({ spec }: AutoscalingV2.HorizontalPodAutoscaler): void {
  const autoscaler = spec!
  autoscaler.minReplicas ??= 1
  if ((autoscaler.metrics ?? []).length === 0) autoscaler.metrics = [halfBusy()]
  const { behavior } = autoscaler
  if (behavior === undefined) return
  behavior.scaleUp = withDefaults(behavior.scaleUp, scaleUpRules())
  behavior.scaleDown = withDefaults(behavior.scaleDown, scaleDownRules())
}

/** An empty list of policies stays, to be refused. */
function withDefaults(
  rules: AutoscalingV2.HPAScalingRules = {},
  defaults: AutoscalingV2.HPAScalingRules,
): AutoscalingV2.HPAScalingRules {
  const isEmpty = rules.policies === undefined && sentField(rules, 'policies') !== undefined
  const { policies, ...others } = { ...defaults, ...rules }
  // own key: fields of HPAScalingRules
  return Object.assign(rules, others, isEmpty ? {} : { policies })
}

const halfBusy = (): AutoscalingV2.MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
})

const scaleUpRules = (): AutoscalingV2.HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
})

const scaleDownRules = (): AutoscalingV2.HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
})

function subject(subject: RbacV1.Subject): void {
  if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= 'rbac.authorization.k8s.io'
}

function deviceRequest(request: ResourceV1.ExactDeviceRequest | ResourceV1.DeviceSubRequest): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
}

/** Without a class it has alternatives, and these are left to themselves. */
function deviceRequestV1beta1(request: ResourceV1beta1.DeviceRequest): void {
  if (request.deviceClassName) deviceRequest(request)
}

function deviceTaint(taint: ResourceV1.DeviceTaint, context: DefaultingContext): void {
  taint.timeAdded ??= timeText(context.now)
}

function customResourceDefinition({ spec, status }: ApiextensionsV1.CustomResourceDefinition): void {
  if ((status!.storedVersions ?? []).length > 0) return
  const stored = spec!.versions?.find(({ storage }) => storage)
  if (stored !== undefined) status!.storedVersions = [stored.name ?? '']
}

function customResourceDefinitionSpec(spec: ApiextensionsV1.CustomResourceDefinitionSpec): void {
  const names = spec.names!
  if (names.kind) {
    names.singular ||= names.kind.toLowerCase()
    names.listKind ||= `${names.kind}List`
  }
  spec.conversion ??= { strategy: 'None' }
}

/** What was sent as text is kept as bytes, and never seen as text again. */
function secret(object: CoreV1.Secret): void {
  const { stringData } = object
  if (stringData === undefined) return
  const data = { ...object.data }
  for (const [key, text] of Object.entries(stringData)) setOwn(data, key, bytesToBase64(new TextEncoder().encode(text)))
  object.data = data
  delete object.stringData
}

/** The field's old name says the same; where both are given, the new one counts. */
function podSpec(spec: CoreV1.PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount
  if (name) spec.serviceAccountName = spec.serviceAccount = name
}

/** A rule of any type, as the table below holds them. */
export type DefaultRule = (object: JsonObject, context: DefaultingContext) => void

/** A rule is only ever given objects of the type under whose name it stands. */
const rule = <T>(apply: (object: T, context: DefaultingContext) => void): DefaultRule =>
  apply as (object: unknown, context: DefaultingContext) => void

/** Model name → rule. */
export const defaultRules: Readonly<Record<string, DefaultRule>> = {
  'io.k8s.api.apps.v1.DaemonSet': rule(daemonSet),
  'io.k8s.api.apps.v1.Deployment': rule(deployment),
  'io.k8s.api.apps.v1.StatefulSet': rule(statefulSet),
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler': rule(autoscalerV1),
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler': rule(autoscalerV2),
  'io.k8s.api.batch.v1.Job': rule(job),
  'io.k8s.api.core.v1.Container': rule(container),
  'io.k8s.api.core.v1.EphemeralContainerCommon': rule(container),
  'io.k8s.api.core.v1.ImageVolumeSource': rule(imageVolume),
  'io.k8s.api.core.v1.LimitRangeItem': rule(limitRangeItem),
  'io.k8s.api.core.v1.Namespace': rule(namespace),
  'io.k8s.api.core.v1.NodeStatus': rule(nodeStatus),
  'io.k8s.api.core.v1.Pod': rule(pod),
  'io.k8s.api.core.v1.PodLogOptions': rule(podLogOptions),
  'io.k8s.api.core.v1.PodSpec': rule(podSpec),
  'io.k8s.api.core.v1.ReplicationController': rule(replicationController),
  'io.k8s.api.core.v1.Secret': rule(secret),
  'io.k8s.api.core.v1.Service': rule(service),
  'io.k8s.api.core.v1.Volume': rule(volume),
  'io.k8s.api.networking.v1.IngressClass': rule(ingressClass),
  'io.k8s.api.networking.v1.NetworkPolicy': rule(networkPolicy),
  'io.k8s.api.rbac.v1.Subject': rule(subject),
  'io.k8s.api.resource.v1.DeviceSubRequest': rule(deviceRequest),
  'io.k8s.api.resource.v1.DeviceTaint': rule(deviceTaint),
  'io.k8s.api.resource.v1.ExactDeviceRequest': rule(deviceRequest),
  'io.k8s.api.resource.v1alpha3.DeviceTaint': rule(deviceTaint),
  'io.k8s.api.resource.v1beta1.DeviceRequest': rule(deviceRequestV1beta1),
  'io.k8s.api.resource.v1beta1.DeviceSubRequest': rule(deviceRequest),
  'io.k8s.api.resource.v1beta1.DeviceTaint': rule(deviceTaint),
  'io.k8s.api.resource.v1beta2.DeviceSubRequest': rule(deviceRequest),
  'io.k8s.api.resource.v1beta2.DeviceTaint': rule(deviceTaint),
  'io.k8s.api.resource.v1beta2.ExactDeviceRequest': rule(deviceRequest),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition': rule(customResourceDefinition),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec':
    rule(customResourceDefinitionSpec),
}
