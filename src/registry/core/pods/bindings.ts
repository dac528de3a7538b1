import type { BuiltInDefinition } from '../../built-in-definition.ts'

export const bindings: BuiltInDefinition = {
  endpoints: { '': 'legacy-binding' },
  withoutTable: [''],
  quota: 'uncounted',
}
