import { untyped } from '../core/strategies.ts'
import type { Strategy } from '../strategy.ts'
import { apiServices } from './api-services.ts'

export const apiregistrationStrategies: Readonly<Record<string, Strategy>> = {
  'apiservices.apiregistration.k8s.io': untyped(apiServices),
}
