/** kube-apiserver's `includes` of device selectors: a value is, or is in the list of, the values of an attribute. */
import type { Library } from '../../cel/declarations.ts'
import { BOOL, DYN } from '../../cel/checker/type.ts'
import { fixed } from '../../cel/library/costs.ts'
import { fn, member } from '../../cel/library/declare.ts'
import { equal, isIn } from '../../cel/values/collections.ts'
import { ListValue } from '../../cel/values/value.ts'

export const includes: Library = {
  name: 'kubernetes.includes',
  functions: [
    fn(
      'includes',
      member('includes', [DYN, DYN], BOOL, {
        ...fixed(1),
        // parameters of the type dyn take every value
        run: ([value, wanted]) => (value instanceof ListValue ? isIn(wanted!, value) : equal(value!, wanted!)),
      }),
    ),
  ],
}
