import { componentStatusPrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

export const componentStatuses: BuiltInDefinition = {
  printer: componentStatusPrinter,
  endpoints: { '': 'component-statuses' },
}
