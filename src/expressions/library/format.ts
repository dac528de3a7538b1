/** kube-apiserver's `format` library: named formats of strings. `validate` returns the errors of a string. */
import { listFrom } from '../../cel/values/collections.ts'
import type { Library } from '../../cel/declarations.ts'
import { reading, scaled } from '../../cel/estimate.ts'
import { costOfMatch, fixed } from '../../cel/library/costs.ts'
import { fn, member, overload } from '../../cel/library/declare.ts'
import { sizeOf } from '../../cel/values/runtime-size.ts'
import { listOf, optionalOf, STRING, structNamed } from '../../cel/checker/type.ts'
import { OpaqueValue, Optional } from '../../cel/values/value.ts'
import {
  label1035Name,
  labelName,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainName,
} from '../../validation/names.ts'
import { hasFormat } from '../../validation/value-formats.ts'
import { requestUriProblem } from '../../go/url.ts'

const FORMAT = structNamed('kubernetes.NamedFormat')

class FormatValue extends OpaqueValue {
  readonly type = FORMAT
  constructor(
    readonly name: string,
    /** The length of an equivalent pattern. It determines the cost of a check. */
    readonly patternSize: number,
    readonly problems: (text: string) => readonly string[],
  ) {
    super()
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && this.name === other.name
  }
}

/** The pattern length that estimates assume. */
const LONGEST_PATTERN = 128

const known =
  (name: string, otherwise: string) =>
  (text: string): readonly string[] =>
    hasFormat(name, text) ? [] : [otherwise]

const UUID_PATTERN_SIZE = 70
const DATE_TIME_PATTERN_SIZE = 72

const formats: Readonly<Record<string, FormatValue>> = {
  dns1123Label: new FormatValue('DNS1123Label', 30, (text) => labelName(text, false)),
  dns1123Subdomain: new FormatValue('DNS1123Subdomain', 60, (text) => subdomainName(text, false)),
  dns1035Label: new FormatValue('DNS1035Label', 30, (text) => label1035Name(text, false)),
  qualifiedName: new FormatValue('QualifiedName', 60, (text) => qualifiedNameProblems(text)),
  dns1123LabelPrefix: new FormatValue('DNS1123LabelPrefix', 30, (text) => labelName(text, true)),
  dns1123SubdomainPrefix: new FormatValue('DNS1123SubdomainPrefix', 60, (text) => subdomainName(text, true)),
  dns1035LabelPrefix: new FormatValue('DNS1035LabelPrefix', 30, (text) => label1035Name(text, true)),
  labelValue: new FormatValue('LabelValue', 40, (text) => labelValueProblems(text)),
  uri: new FormatValue('URI', 1103, (text) => {
    const problem = requestUriProblem(text)
    return problem === undefined ? [] : [problem]
  }),
  uuid: new FormatValue('uuid', UUID_PATTERN_SIZE, known('uuid', 'does not match the UUID format')),
  byte: new FormatValue('byte', 84, known('byte', 'invalid base64')),
  date: new FormatValue('date', DATE_TIME_PATTERN_SIZE, known('date', 'invalid date')),
  datetime: new FormatValue('datetime', DATE_TIME_PATTERN_SIZE, known('datetime', 'invalid datetime')),
}

export const format: Library = {
  name: 'kubernetes.format',
  functions: [
    fn(
      'validate',
      member('format-validate', [FORMAT, STRING], optionalOf(listOf(STRING)), {
        // the types of arguments are checked before an overload runs
        cost: ([form, text]) => costOfMatch(sizeOf(text!), (form as FormatValue).patternSize),
        estimate: ([, text], sizes) => ({ cost: scaled(reading(sizes.sizeOf(text!)), LONGEST_PATTERN * 0.25) }),
        run: ([form, text]) => {
          const problems = (form as FormatValue).problems(text as string)
          return problems.length === 0 ? Optional.none : new Optional(listFrom([...problems]))
        },
      }),
    ),
    fn(
      'format.named',
      overload('format-named', [STRING], optionalOf(FORMAT), {
        ...fixed(1),
        run: ([name]) => {
          const found = Object.hasOwn(formats, name as string) ? formats[name as string] : undefined // own key: asked
          return found === undefined ? Optional.none : new Optional(found)
        },
      }),
    ),
    ...Object.entries(formats).map(([name, form]) =>
      fn(`format.${name}`, overload(`format.${name}`, [], FORMAT, { run: () => form })),
    ),
  ],
}
