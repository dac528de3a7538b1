/**
 * Defaults that are more than a fixed value for an absent field. Each function changes an object of its type in place;
 * the object is in the normal form of codec/decode. This file has the types of members. The definition of a kind has
 * the rule of the whole kind (`defaults` in src/registry/built-in-definition.ts).
 */
import type * as ApiextensionsV1 from '../api/apiextensions/v1.ts'
import type * as CoreV1 from '../api/core/v1.ts'
import type { JsonObject } from '../api/object.ts'
import type * as RbacV1 from '../api/rbac/v1.ts'
import type * as ResourceV1 from '../api/resource/v1.ts'
import type * as ResourceV1beta1 from '../api/resource/v1beta1.ts'
import { isEmpty } from '../base/own.ts'
import { kept } from '../base/parts.ts'
import { imageTag } from './image-tag.ts'
import { overlaid } from './overlaid.ts'
import { timeText } from './time.ts'

/** The inputs of a default in addition to the object. */
export interface DefaultingContext {
  readonly now: Date
  /** Feature gates: on or off in this server. */
  enabled(gate: string): boolean
  /** The rule of the object's kind. */
  readonly ofKind?: KindDefaults | undefined
}

/** A definition's rule for the whole object. It runs before the rules of the members. */
export interface KindDefaults {
  /** Model name. */
  readonly type: string
  readonly apply: DefaultRule
}

const pullPolicy = (image: string | undefined) => (imageTag(image ?? '') === 'latest' ? 'Always' : 'IfNotPresent')

function container(container: CoreV1.Container | CoreV1.EphemeralContainer): void {
  container.imagePullPolicy ||= pullPolicy(container.image)
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
}

/** A volume without a source is an emptyDir. VolumeSource is inline, so all members but `name` are sources. */
function volume(volume: CoreV1.Volume): void {
  if (Object.keys(volume).every((name) => name === 'name')) volume.emptyDir = {}
}

function imageVolume(source: CoreV1.ImageVolumeSource, context: DefaultingContext): void {
  if (context.enabled('ImageVolume')) source.pullPolicy ||= pullPolicy(source.reference)
}

function nodeStatus(status: CoreV1.NodeStatus): void {
  const { allocatable, capacity } = status
  // each run of a walk must get the same copy, also after an earlier run has filled it in
  const copy = kept(capacity, () => (allocatable === undefined && capacity !== undefined ? { ...capacity } : undefined))
  if (copy !== undefined) status.allocatable = copy
}

function limitRangeItem(item: CoreV1.LimitRangeItem): void {
  if (item.type !== 'Container') return
  const limits = overlaid(item, item.max, item.default)
  const requests = overlaid(item, item.min, limits, item.defaultRequest)
  if (!isEmpty(limits)) item.default = limits
  if (!isEmpty(requests)) item.defaultRequest = requests
}

function podLogOptions(options: CoreV1.PodLogOptions, context: DefaultingContext): void {
  if (context.enabled('PodLogsQuerySplitStreams')) options.stream ??= 'All'
}

function subject(subject: RbacV1.Subject): void {
  if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ||= 'rbac.authorization.k8s.io'
}

function deviceRequest(request: ResourceV1.ExactDeviceRequest | ResourceV1.DeviceSubRequest): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
}

/** A request without deviceClassName has alternatives (firstAvailable), which kube-apiserver does not default here. */
function deviceRequestV1beta1(request: ResourceV1beta1.DeviceRequest): void {
  if (request.deviceClassName) deviceRequest(request)
}

function deviceTaint(taint: ResourceV1.DeviceTaint, context: DefaultingContext): void {
  taint.timeAdded ??= timeText(context.now)
}

function customResourceDefinitionSpec(spec: ApiextensionsV1.CustomResourceDefinitionSpec): void {
  const names = spec.names!
  if (names.kind) {
    names.singular ||= names.kind.toLowerCase()
    names.listKind ||= `${names.kind}List`
  }
  spec.conversion ??= { strategy: 'None' }
}

/** `serviceAccount` is the old name of `serviceAccountName`. Where a client sends both, the new one wins. */
function podSpec(spec: CoreV1.PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount
  if (name) spec.serviceAccountName = spec.serviceAccount = name
}

/** `podCIDR` is the first of `podCIDRs`. If they differ, `podCIDR` replaces the whole list. */
function nodeSpec(spec: CoreV1.NodeSpec): void {
  const { podCIDR, podCIDRs = [] } = spec
  if (podCIDR && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR]
  else if (!podCIDR && podCIDRs[0]) spec.podCIDR = podCIDRs[0]
}

/** `podIP` is the first of `podIPs`. If they differ, `podIP` replaces the whole list. */
function podStatus(status: CoreV1.PodStatus): void {
  const { podIP = '', podIPs = [] } = status
  const first = podIPs[0]?.ip ?? ''
  if (podIP !== '' && podIP !== first) status.podIPs = [{ ip: podIP }]
  else if (podIP === '' && first !== '') status.podIP = first
}

/** A rule without its type parameter, for the table below and for definitions. */
export type DefaultRule = (object: JsonObject, context: DefaultingContext) => void

/** defaulting.ts calls a rule only with objects of the rule's type. */
export const defaultRule = <T>(apply: (object: T, context: DefaultingContext) => void): DefaultRule =>
  apply as (object: unknown, context: DefaultingContext) => void

/** Model name → rule. */
export const defaultRules: Readonly<Record<string, DefaultRule>> = {
  'io.k8s.api.core.v1.Container': defaultRule(container),
  'io.k8s.api.core.v1.EphemeralContainerCommon': defaultRule(container),
  'io.k8s.api.core.v1.ImageVolumeSource': defaultRule(imageVolume),
  'io.k8s.api.core.v1.LimitRangeItem': defaultRule(limitRangeItem),
  'io.k8s.api.core.v1.NodeSpec': defaultRule(nodeSpec),
  'io.k8s.api.core.v1.NodeStatus': defaultRule(nodeStatus),
  'io.k8s.api.core.v1.PodLogOptions': defaultRule(podLogOptions),
  'io.k8s.api.core.v1.PodSpec': defaultRule(podSpec),
  'io.k8s.api.core.v1.PodStatus': defaultRule(podStatus),
  'io.k8s.api.core.v1.Volume': defaultRule(volume),
  'io.k8s.api.rbac.v1.Subject': defaultRule(subject),
  'io.k8s.api.resource.v1.DeviceSubRequest': defaultRule(deviceRequest),
  'io.k8s.api.resource.v1.DeviceTaint': defaultRule(deviceTaint),
  'io.k8s.api.resource.v1.ExactDeviceRequest': defaultRule(deviceRequest),
  'io.k8s.api.resource.v1alpha3.DeviceTaint': defaultRule(deviceTaint),
  'io.k8s.api.resource.v1beta1.DeviceRequest': defaultRule(deviceRequestV1beta1),
  'io.k8s.api.resource.v1beta1.DeviceSubRequest': defaultRule(deviceRequest),
  'io.k8s.api.resource.v1beta1.DeviceTaint': defaultRule(deviceTaint),
  'io.k8s.api.resource.v1beta2.DeviceSubRequest': defaultRule(deviceRequest),
  'io.k8s.api.resource.v1beta2.DeviceTaint': defaultRule(deviceTaint),
  'io.k8s.api.resource.v1beta2.ExactDeviceRequest': defaultRule(deviceRequest),
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec':
    defaultRule(customResourceDefinitionSpec),
}
