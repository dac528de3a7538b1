// Generated from the facts by `npm run generate`. Do not edit.
import type * as AuthenticationV1 from '../authentication/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'

export interface AdmissionRequest {
  uid?: string
  kind?: MetaV1.GroupVersionKind
  resource?: MetaV1.GroupVersionResource
  subResource?: string
  requestKind?: MetaV1.GroupVersionKind
  requestResource?: MetaV1.GroupVersionResource
  requestSubResource?: string
  name?: string
  namespace?: string
  operation?: string
  userInfo?: AuthenticationV1.UserInfo
  object?: PkgRuntime.RawExtension
  oldObject?: PkgRuntime.RawExtension
  dryRun?: boolean
  options?: PkgRuntime.RawExtension
}
export interface AdmissionResponse {
  uid?: string
  allowed?: boolean
  status?: MetaV1.Status
  patch?: string
  patchType?: string
  auditAnnotations?: Record<string, string>
  warnings?: string[]
}
export interface AdmissionReview {
  kind?: string
  apiVersion?: string
  request?: AdmissionRequest
  response?: AdmissionResponse
}
