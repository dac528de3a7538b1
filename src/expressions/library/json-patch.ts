/** `jsonpatch.escapeKey` escapes a key for the path of a JSON patch (RFC 6901). */
import type { Library } from '../../cel/declarations.ts'
import { readingOf, sameSize } from '../../cel/library/costs.ts'
import { fn, overload } from '../../cel/library/declare.ts'
import { STRING } from '../../cel/checker/type.ts'

export const jsonPatch: Library = {
  name: 'kubernetes.jsonpatch',
  functions: [
    fn(
      'jsonpatch.escapeKey',
      overload('string_jsonpatch_escapeKey_string', [STRING], STRING, {
        ...readingOf(0, 1, sameSize),
        // the types of arguments are checked before an overload runs
        run: ([key]) => (key as string).replace(/[~/]/g, (character) => (character === '/' ? '~1' : '~0')),
      }),
    ),
  ],
}
