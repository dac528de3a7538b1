// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface APIService {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: APIServiceSpec
  status?: APIServiceStatus
}
export interface APIServiceCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface APIServiceList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: APIService[]
}
export interface APIServiceSpec {
  service?: ServiceReference
  group?: string
  version?: string
  insecureSkipTLSVerify?: boolean
  caBundle?: string
  groupPriorityMinimum?: number
  versionPriority?: number
}
export interface APIServiceStatus {
  conditions?: APIServiceCondition[]
}
export interface ServiceReference {
  namespace?: string
  name?: string
  port?: number
}
