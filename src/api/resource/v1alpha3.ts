// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface CELDeviceSelector {
  expression?: string
}
export interface DeviceSelector {
  cel?: CELDeviceSelector
}
export interface DeviceTaint {
  key?: string
  value?: string
  effect?: string
  timeAdded?: MetaV1.Time
}
export interface DeviceTaintRule {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: DeviceTaintRuleSpec
  status?: DeviceTaintRuleStatus
}
export interface DeviceTaintRuleList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: DeviceTaintRule[]
}
export interface DeviceTaintRuleSpec {
  deviceSelector?: DeviceTaintSelector
  taint?: DeviceTaint
}
export interface DeviceTaintRuleStatus {
  conditions?: MetaV1.Condition[]
}
export interface DeviceTaintSelector {
  driver?: string
  pool?: string
  device?: string
}
export interface PoolStatus {
  driver?: string
  poolName?: string
  generation?: number | bigint
  resourceSliceCount?: number
  totalDevices?: number
  allocatedDevices?: number
  availableDevices?: number
  unavailableDevices?: number
  nodeName?: string
  validationError?: string
}
export interface ResourcePoolStatusRequest {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ResourcePoolStatusRequestSpec
  status?: ResourcePoolStatusRequestStatus
}
export interface ResourcePoolStatusRequestList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ResourcePoolStatusRequest[]
}
export interface ResourcePoolStatusRequestSpec {
  driver?: string
  poolName?: string
  limit?: number
}
export interface ResourcePoolStatusRequestStatus {
  poolCount?: number
  pools?: PoolStatus[]
  conditions?: MetaV1.Condition[]
}
