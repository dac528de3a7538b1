// Generated from the facts by `npm run generate`. Do not edit.
import type { Json } from '../object.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'

export interface ConversionRequest {
  uid?: string
  desiredAPIVersion?: string
  objects?: PkgRuntime.RawExtension[]
}
export interface ConversionResponse {
  uid?: string
  convertedObjects?: PkgRuntime.RawExtension[]
  result?: MetaV1.Status
}
export interface ConversionReview {
  kind?: string
  apiVersion?: string
  request?: ConversionRequest
  response?: ConversionResponse
}
export interface CustomResourceColumnDefinition {
  name?: string
  type?: string
  format?: string
  description?: string
  priority?: number
  jsonPath?: string
}
export interface CustomResourceConversion {
  strategy?: string
  webhook?: WebhookConversion
}
export interface CustomResourceDefinition {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: CustomResourceDefinitionSpec
  status?: CustomResourceDefinitionStatus
}
export interface CustomResourceDefinitionCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
  observedGeneration?: number | bigint
}
export interface CustomResourceDefinitionList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CustomResourceDefinition[]
}
export interface CustomResourceDefinitionNames {
  plural?: string
  singular?: string
  shortNames?: string[]
  kind?: string
  listKind?: string
  categories?: string[]
}
export interface CustomResourceDefinitionSpec {
  group?: string
  names?: CustomResourceDefinitionNames
  scope?: string
  versions?: CustomResourceDefinitionVersion[]
  conversion?: CustomResourceConversion
  preserveUnknownFields?: boolean
}
export interface CustomResourceDefinitionStatus {
  conditions?: CustomResourceDefinitionCondition[]
  acceptedNames?: CustomResourceDefinitionNames
  storedVersions?: string[]
  observedGeneration?: number | bigint
}
export interface CustomResourceDefinitionVersion {
  name?: string
  served?: boolean
  storage?: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: CustomResourceValidation
  subresources?: CustomResourceSubresources
  additionalPrinterColumns?: CustomResourceColumnDefinition[]
  selectableFields?: SelectableField[]
}
export interface CustomResourceSubresourceScale {
  specReplicasPath?: string
  statusReplicasPath?: string
  labelSelectorPath?: string
}
export type CustomResourceSubresourceStatus = Record<string, never>
export interface CustomResourceSubresources {
  status?: CustomResourceSubresourceStatus
  scale?: CustomResourceSubresourceScale
}
export interface CustomResourceValidation {
  openAPIV3Schema?: JSONSchemaProps
}
export interface ExternalDocumentation {
  description?: string
  url?: string
}
export type JSON = Json
export interface JSONSchemaProps {
  id?: string
  $schema?: string
  $ref?: string
  description?: string
  type?: string
  format?: string
  title?: string
  default?: JSON
  maximum?: number
  exclusiveMaximum?: boolean
  minimum?: number
  exclusiveMinimum?: boolean
  maxLength?: number | bigint
  minLength?: number | bigint
  pattern?: string
  maxItems?: number | bigint
  minItems?: number | bigint
  uniqueItems?: boolean
  multipleOf?: number
  enum?: JSON[]
  maxProperties?: number | bigint
  minProperties?: number | bigint
  required?: string[]
  items?: JSONSchemaPropsOrArray
  allOf?: JSONSchemaProps[]
  oneOf?: JSONSchemaProps[]
  anyOf?: JSONSchemaProps[]
  not?: JSONSchemaProps
  properties?: Record<string, JSONSchemaProps>
  additionalProperties?: JSONSchemaPropsOrBool
  patternProperties?: Record<string, JSONSchemaProps>
  dependencies?: Record<string, JSONSchemaPropsOrStringArray>
  additionalItems?: JSONSchemaPropsOrBool
  definitions?: Record<string, JSONSchemaProps>
  externalDocs?: ExternalDocumentation
  example?: JSON
  nullable?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-list-type'?: string
  'x-kubernetes-map-type'?: string
  'x-kubernetes-validations'?: ValidationRule[]
}
export type JSONSchemaPropsOrArray = Json
export type JSONSchemaPropsOrBool = Json
export type JSONSchemaPropsOrStringArray = Json
export interface SelectableField {
  jsonPath?: string
}
export interface ServiceReference {
  namespace?: string
  name?: string
  path?: string
  port?: number
}
export interface ValidationRule {
  rule?: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}
export interface WebhookClientConfig {
  url?: string
  service?: ServiceReference
  caBundle?: string
}
export interface WebhookConversion {
  clientConfig?: WebhookClientConfig
  conversionReviewVersions?: string[]
}
