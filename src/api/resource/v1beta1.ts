// Generated from the facts by `npm run generate`. Do not edit.
import type * as ApiResource from '../api/resource.ts'
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'

export interface AllocatedDeviceStatus {
  driver?: string
  pool?: string
  device?: string
  shareID?: string
  conditions?: MetaV1.Condition[]
  data?: PkgRuntime.RawExtension
  networkData?: NetworkDeviceData
}
export interface AllocationResult {
  devices?: DeviceAllocationResult
  nodeSelector?: CoreV1.NodeSelector
  allocationTimestamp?: MetaV1.Time
}
export interface BasicDevice {
  attributes?: Record<string, DeviceAttribute>
  capacity?: Record<string, DeviceCapacity>
  consumesCounters?: DeviceCounterConsumption[]
  nodeName?: string
  nodeSelector?: CoreV1.NodeSelector
  allNodes?: boolean
  taints?: DeviceTaint[]
  bindsToNode?: boolean
  bindingConditions?: string[]
  bindingFailureConditions?: string[]
  allowMultipleAllocations?: boolean
  nodeAllocatableResourceMappings?: Record<string, NodeAllocatableResourceMapping>
}
export interface CELDeviceSelector {
  expression?: string
}
export interface CapacityRequestPolicy {
  default?: ApiResource.Quantity
  validValues?: ApiResource.Quantity[]
  validRange?: CapacityRequestPolicyRange
}
export interface CapacityRequestPolicyRange {
  min?: ApiResource.Quantity
  max?: ApiResource.Quantity
  step?: ApiResource.Quantity
}
export interface CapacityRequirements {
  requests?: Record<string, ApiResource.Quantity>
}
export interface Counter {
  value?: ApiResource.Quantity
}
export interface CounterSet {
  name?: string
  counters?: Record<string, Counter>
}
export interface Device {
  name?: string
  basic?: BasicDevice
}
export interface DeviceAllocationConfiguration {
  source?: string
  requests?: string[]
  opaque?: OpaqueDeviceConfiguration
}
export interface DeviceAllocationResult {
  results?: DeviceRequestAllocationResult[]
  config?: DeviceAllocationConfiguration[]
}
export interface DeviceAttribute {
  int?: number | bigint
  bool?: boolean
  string?: string
  version?: string
  ints?: (number | bigint)[]
  bools?: boolean[]
  strings?: string[]
  versions?: string[]
}
export interface DeviceCapacity {
  value?: ApiResource.Quantity
  requestPolicy?: CapacityRequestPolicy
}
export interface DeviceClaim {
  requests?: DeviceRequest[]
  constraints?: DeviceConstraint[]
  config?: DeviceClaimConfiguration[]
}
export interface DeviceClaimConfiguration {
  requests?: string[]
  opaque?: OpaqueDeviceConfiguration
}
export interface DeviceClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: DeviceClassSpec
}
export interface DeviceClassConfiguration {
  opaque?: OpaqueDeviceConfiguration
}
export interface DeviceClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: DeviceClass[]
}
export interface DeviceClassSpec {
  selectors?: DeviceSelector[]
  config?: DeviceClassConfiguration[]
  extendedResourceName?: string
}
export interface DeviceConfiguration {
  opaque?: OpaqueDeviceConfiguration
}
export interface DeviceConstraint {
  requests?: string[]
  matchAttribute?: string
  distinctAttribute?: string
}
export interface DeviceCounterConsumption {
  counterSet?: string
  counters?: Record<string, Counter>
}
export interface DeviceRequest {
  name?: string
  deviceClassName?: string
  selectors?: DeviceSelector[]
  allocationMode?: string
  count?: number | bigint
  adminAccess?: boolean
  firstAvailable?: DeviceSubRequest[]
  tolerations?: DeviceToleration[]
  capacity?: CapacityRequirements
}
export interface DeviceRequestAllocationResult {
  request?: string
  driver?: string
  pool?: string
  device?: string
  adminAccess?: boolean
  tolerations?: DeviceToleration[]
  bindingConditions?: string[]
  bindingFailureConditions?: string[]
  shareID?: string
  consumedCapacity?: Record<string, ApiResource.Quantity>
}
export interface DeviceSelector {
  cel?: CELDeviceSelector
}
export interface DeviceSubRequest {
  name?: string
  deviceClassName?: string
  selectors?: DeviceSelector[]
  allocationMode?: string
  count?: number | bigint
  tolerations?: DeviceToleration[]
  capacity?: CapacityRequirements
}
export interface DeviceTaint {
  key?: string
  value?: string
  effect?: string
  timeAdded?: MetaV1.Time
}
export interface DeviceToleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number | bigint
}
export interface NetworkDeviceData {
  interfaceName?: string
  ips?: string[]
  hardwareAddress?: string
}
export interface NodeAllocatableResourceMapping {
  capacityKey?: string
  allocationMultiplier?: ApiResource.Quantity
}
export interface OpaqueDeviceConfiguration {
  driver?: string
  parameters?: PkgRuntime.RawExtension
}
export interface ResourceClaim {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ResourceClaimSpec
  status?: ResourceClaimStatus
}
export interface ResourceClaimConsumerReference {
  apiGroup?: string
  resource?: string
  name?: string
  uid?: string
}
export interface ResourceClaimList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ResourceClaim[]
}
export interface ResourceClaimSpec {
  devices?: DeviceClaim
}
export interface ResourceClaimStatus {
  allocation?: AllocationResult
  reservedFor?: ResourceClaimConsumerReference[]
  devices?: AllocatedDeviceStatus[]
}
export interface ResourceClaimTemplate {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ResourceClaimTemplateSpec
}
export interface ResourceClaimTemplateList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ResourceClaimTemplate[]
}
export interface ResourceClaimTemplateSpec {
  metadata?: MetaV1.ObjectMeta
  spec?: ResourceClaimSpec
}
export interface ResourcePool {
  name?: string
  generation?: number | bigint
  resourceSliceCount?: number | bigint
}
export interface ResourceSlice {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ResourceSliceSpec
}
export interface ResourceSliceList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ResourceSlice[]
}
export interface ResourceSliceSpec {
  driver?: string
  pool?: ResourcePool
  nodeName?: string
  nodeSelector?: CoreV1.NodeSelector
  allNodes?: boolean
  devices?: Device[]
  perDeviceNodeSelection?: boolean
  sharedCounters?: CounterSet[]
}
