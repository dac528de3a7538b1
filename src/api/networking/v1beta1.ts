// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as UtilIntstr from '../util/intstr.ts'

export interface HTTPIngressPath {
  path?: string
  pathType?: string
  backend?: IngressBackend
}
export interface HTTPIngressRuleValue {
  paths?: HTTPIngressPath[]
}
export interface IPAddress {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: IPAddressSpec
}
export interface IPAddressList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: IPAddress[]
}
export interface IPAddressSpec {
  parentRef?: ParentReference
}
export interface Ingress {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: IngressSpec
  status?: IngressStatus
}
export interface IngressBackend {
  serviceName?: string
  servicePort?: UtilIntstr.IntOrString
  resource?: CoreV1.TypedLocalObjectReference
}
export interface IngressClass {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: IngressClassSpec
}
export interface IngressClassList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: IngressClass[]
}
export interface IngressClassParametersReference {
  apiGroup?: string
  kind?: string
  name?: string
  scope?: string
  namespace?: string
}
export interface IngressClassSpec {
  controller?: string
  parameters?: IngressClassParametersReference
}
export interface IngressList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Ingress[]
}
export interface IngressLoadBalancerIngress {
  ip?: string
  hostname?: string
  ports?: IngressPortStatus[]
}
export interface IngressLoadBalancerStatus {
  ingress?: IngressLoadBalancerIngress[]
}
export interface IngressPortStatus {
  port?: number
  protocol?: string
  error?: string
}
export interface IngressRule {
  host?: string
  http?: HTTPIngressRuleValue
}
export interface IngressRuleValue {
  http?: HTTPIngressRuleValue
}
export interface IngressSpec {
  ingressClassName?: string
  backend?: IngressBackend
  tls?: IngressTLS[]
  rules?: IngressRule[]
}
export interface IngressStatus {
  loadBalancer?: IngressLoadBalancerStatus
}
export interface IngressTLS {
  hosts?: string[]
  secretName?: string
}
export interface ParentReference {
  group?: string
  resource?: string
  namespace?: string
  name?: string
}
export interface ServiceCIDR {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ServiceCIDRSpec
  status?: ServiceCIDRStatus
}
export interface ServiceCIDRList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ServiceCIDR[]
}
export interface ServiceCIDRSpec {
  cidrs?: string[]
}
export interface ServiceCIDRStatus {
  conditions?: MetaV1.Condition[]
}
