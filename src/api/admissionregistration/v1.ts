// Generated from the facts by `npm run generate`. Do not edit.
import type * as MetaV1 from '../meta/v1.ts'

export interface ApplyConfiguration {
  expression?: string
}
export interface AuditAnnotation {
  key?: string
  valueExpression?: string
}
export interface ExpressionWarning {
  fieldRef?: string
  warning?: string
}
export interface JSONPatch {
  expression?: string
}
export interface MatchCondition {
  name?: string
  expression?: string
}
export interface MatchResources {
  namespaceSelector?: MetaV1.LabelSelector
  objectSelector?: MetaV1.LabelSelector
  resourceRules?: NamedRuleWithOperations[]
  excludeResourceRules?: NamedRuleWithOperations[]
  matchPolicy?: string
}
export interface MutatingAdmissionPolicy {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: MutatingAdmissionPolicySpec
}
export interface MutatingAdmissionPolicyBinding {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: MutatingAdmissionPolicyBindingSpec
}
export interface MutatingAdmissionPolicyBindingList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: MutatingAdmissionPolicyBinding[]
}
export interface MutatingAdmissionPolicyBindingSpec {
  policyName?: string
  paramRef?: ParamRef
  matchResources?: MatchResources
}
export interface MutatingAdmissionPolicyList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: MutatingAdmissionPolicy[]
}
export interface MutatingAdmissionPolicySpec {
  paramKind?: ParamKind
  matchConstraints?: MatchResources
  variables?: Variable[]
  mutations?: Mutation[]
  failurePolicy?: string
  matchConditions?: MatchCondition[]
  reinvocationPolicy?: string
}
export interface MutatingWebhook {
  name?: string
  clientConfig?: WebhookClientConfig
  rules?: RuleWithOperations[]
  failurePolicy?: string
  matchPolicy?: string
  namespaceSelector?: MetaV1.LabelSelector
  objectSelector?: MetaV1.LabelSelector
  sideEffects?: string
  timeoutSeconds?: number
  admissionReviewVersions?: string[]
  reinvocationPolicy?: string
  matchConditions?: MatchCondition[]
}
export interface MutatingWebhookConfiguration {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  webhooks?: MutatingWebhook[]
}
export interface MutatingWebhookConfigurationList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: MutatingWebhookConfiguration[]
}
export interface Mutation {
  patchType?: string
  applyConfiguration?: ApplyConfiguration
  jsonPatch?: JSONPatch
}
export interface NamedRuleWithOperations {
  resourceNames?: string[]
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}
export interface ParamKind {
  apiVersion?: string
  kind?: string
}
export interface ParamRef {
  name?: string
  namespace?: string
  selector?: MetaV1.LabelSelector
  parameterNotFoundAction?: string
}
export interface Rule {
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}
export interface RuleWithOperations {
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}
export interface ServiceReference {
  namespace?: string
  name?: string
  path?: string
  port?: number
}
export interface TypeChecking {
  expressionWarnings?: ExpressionWarning[]
}
export interface ValidatingAdmissionPolicy {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ValidatingAdmissionPolicySpec
  status?: ValidatingAdmissionPolicyStatus
}
export interface ValidatingAdmissionPolicyBinding {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ValidatingAdmissionPolicyBindingSpec
}
export interface ValidatingAdmissionPolicyBindingList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ValidatingAdmissionPolicyBinding[]
}
export interface ValidatingAdmissionPolicyBindingSpec {
  policyName?: string
  paramRef?: ParamRef
  matchResources?: MatchResources
  validationActions?: string[]
}
export interface ValidatingAdmissionPolicyList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ValidatingAdmissionPolicy[]
}
export interface ValidatingAdmissionPolicySpec {
  paramKind?: ParamKind
  matchConstraints?: MatchResources
  validations?: Validation[]
  failurePolicy?: string
  auditAnnotations?: AuditAnnotation[]
  matchConditions?: MatchCondition[]
  variables?: Variable[]
}
export interface ValidatingAdmissionPolicyStatus {
  observedGeneration?: number | bigint
  typeChecking?: TypeChecking
  conditions?: MetaV1.Condition[]
}
export interface ValidatingWebhook {
  name?: string
  clientConfig?: WebhookClientConfig
  rules?: RuleWithOperations[]
  failurePolicy?: string
  matchPolicy?: string
  namespaceSelector?: MetaV1.LabelSelector
  objectSelector?: MetaV1.LabelSelector
  sideEffects?: string
  timeoutSeconds?: number
  admissionReviewVersions?: string[]
  matchConditions?: MatchCondition[]
}
export interface ValidatingWebhookConfiguration {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  webhooks?: ValidatingWebhook[]
}
export interface ValidatingWebhookConfigurationList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ValidatingWebhookConfiguration[]
}
export interface Validation {
  expression?: string
  message?: string
  reason?: string
  messageExpression?: string
}
export interface Variable {
  name?: string
  expression?: string
}
export interface WebhookClientConfig {
  url?: string
  service?: ServiceReference
  caBundle?: string
}
