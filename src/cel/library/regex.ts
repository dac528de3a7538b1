/** kube-apiserver's `find` and `findAll`, which search strings for RE2 patterns. */
import { listFrom } from '../values/collections.ts'
import type { Library } from '../declarations.ts'
import type { Costs } from './costs.ts'
import { matching } from './costs.ts'
import { INT, listOf, STRING } from '../checker/type.ts'
import type { Value } from '../values/value.ts'
import { CelError } from '../values/value.ts'
import { fn, member } from './declare.ts'
import { compiledPattern, textsFound } from '../values/patterns.ts'

/** The caller has checked the types of the arguments. @param limit a negative limit means all matches */
function matchesOf(text: Value | undefined, pattern: Value | undefined, limit: number): string[] | CelError {
  const compiled = compiledPattern(pattern as string)
  if (compiled instanceof CelError) return new CelError(`Illegal regex: ${compiled.message}`)
  return textsFound(compiled, text as string, limit < 0 ? Infinity : limit)
}

const asList = (found: string[] | CelError): Value => (found instanceof CelError ? found : listFrom(found))

const costs: Costs = {
  cost: matching.cost,
  estimate: (args, sizes) => ({
    ...matching.estimate(args, sizes),
    resultSize: { min: 0, max: sizes.sizeOf(args[0]!).max },
  }),
}

export const regex: Library = {
  name: 'kubernetes.regex',
  functions: [
    fn(
      'find',
      member('string_find_string', [STRING, STRING], STRING, {
        ...costs,
        run: ([text, pattern]) => {
          const found = matchesOf(text, pattern, 1)
          return found instanceof CelError ? found : (found[0] ?? '')
        },
      }),
    ),
    fn(
      'findAll',
      member('string_find_all_string', [STRING, STRING], listOf(STRING), {
        ...costs,
        run: ([text, pattern]) => asList(matchesOf(text, pattern, -1)),
      }),
      member('string_find_all_string_int', [STRING, STRING, INT], listOf(STRING), {
        ...costs,
        run: ([text, pattern, limit]) => asList(matchesOf(text, pattern, Number(limit as bigint))),
      }),
    ),
  ].map((declaration) => ({ ...declaration, pattern: 1 })),
}
