/** `cel.bind(name, value, expression)` binds a value to a name (cel-go's bindings library, version 0). */
import type { Library } from '../declarations.ts'
import { bound } from './optional.ts'

export const bindings: Library = {
  name: 'bindings',
  functions: [],
  macros: [
    {
      function: 'bind',
      member: true,
      argumentCount: 3,
      expand(make, target, [variable, value, expression]) {
        if (target?.kind !== 'identifier' || target.name !== 'cel') return undefined
        if (variable?.kind !== 'identifier')
          throw make.error('cel.bind() variable names must be simple identifiers', variable)
        return bound(make, variable.name, value!, expression!)
      },
    },
  ],
}
