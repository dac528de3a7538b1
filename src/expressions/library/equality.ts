/** The cost of comparing values of Kubernetes' own types. These are small, even if their text was long. */
import type { Library, Overload } from '../../cel/declarations.ts'
import { exactly, reading } from '../../cel/estimate.ts'
import { readingSmaller } from '../../cel/library/costs.ts'
import { overload } from '../../cel/library/declare.ts'
import type { Type } from '../../cel/checker/type.ts'
import { BOOL, parameter } from '../../cel/checker/type.ts'
import { sameType } from '../../cel/checker/type-relations.ts'
import { OpaqueValue } from '../../cel/values/value.ts'

const ofOneUnit: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  ...['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map(
    (name) => `kubernetes.authorization.${name}`,
  ),
])

const nameOf = (type: Type): string => (type.kind === 'struct' || type.kind === 'opaque' ? type.name : '')

const estimate: Overload['estimate'] = (args, sizes) => {
  const [left, right] = args
  if (sameType(left!.type, right!.type)) {
    const name = nameOf(left!.type)
    if (ofOneUnit.has(name)) return { cost: exactly(1) }
    if (name === 'kubernetes.NamedFormat') return { cost: reading({ min: 1, max: 64 }) }
    if (name === 'kubernetes.URL') return { cost: reading({ min: 1, max: right!.computedSize?.max ?? 1 }) }
  }
  return readingSmaller.estimate(args, sizes)
}

const A = parameter('A')

export const equality: Library = {
  name: 'kubernetes.equality',
  functions: [
    {
      name: '_==_',
      overloads: [
        overload('equals', [A, A], BOOL, {
          cost: (args) => (args[0] instanceof OpaqueValue ? 1 : readingSmaller.cost(args)),
          estimate,
        }),
      ],
    },
  ],
}
