import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { apiServices } from './api-services.ts'

export const apiregistrationDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'apiservices.apiregistration.k8s.io': untyped(apiServices),
}
