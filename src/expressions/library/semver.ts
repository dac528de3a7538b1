/**
 * kube-apiserver's `semver` library, version 1: versions as in semver.org. With `normalize` it accepts looser
 * spellings.
 */
import { digitsOf, MAX_DIGITS } from '../../go/int.ts'
import { goQuote } from '../../go/quote.ts'
import { parsing } from '../../cel/evaluation/work.ts'
import type { Library } from '../../cel/declarations.ts'
import { fixed, readingOf } from '../../cel/library/costs.ts'
import { fn, member, overload } from '../../cel/library/declare.ts'
import { BOOL, INT, STRING, structNamed } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'

const SEMVER = structNamed('kubernetes.Semver')

class SemverValue extends OpaqueValue {
  readonly type = SEMVER
  constructor(
    readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint],
    readonly prerelease: readonly (bigint | string)[],
    private readonly characters: number,
  ) {
    super()
  }

  override get length(): number {
    return this.characters
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compare(this, other) === 0n
  }
}

function compare(a: SemverValue, b: SemverValue): bigint {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index]!
    if (number !== other) return number > other ? 1n : -1n
  }
  return comparePrereleases(a.prerelease, b.prerelease)
}

/** Compares prereleases. A version without a prerelease is above one with it, and numbers are below words. */
function comparePrereleases(a: readonly (bigint | string)[], b: readonly (bigint | string)[]): bigint {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0n : a.length === 0 ? 1n : -1n
  for (const [index, part] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1n
    if (part === other) continue
    if (typeof part !== typeof other) return typeof part === 'bigint' ? -1n : 1n
    return part > other ? 1n : -1n
  }
  return a.length === b.length ? 0n : -1n
}

class VersionError extends Error {}

export function semverOf(text: string): Value {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof VersionError) return new CelError(error.message)
    throw error
  }
}

function parse(text: string): SemverValue {
  if (text === '') throw new VersionError('Version string empty')
  const [majorText, minorText, ...others] = text.split('.')
  if (minorText === undefined || others.length === 0) throw new VersionError('No Major.Minor.Patch elements found')
  const [beforeBuild = '', ...buildParts] = others.join('.').split('+')
  const [patchText = '', ...prereleaseParts] = beforeBuild.split('-')
  const [major, minor, patch] = [
    numberOf('Major', majorText!),
    numberOf('Minor', minorText),
    numberOf('Patch', patchText),
  ]
  const prerelease = prereleaseParts.length === 0 ? [] : prereleaseParts.join('-').split('.').map(prereleasePart)
  if (buildParts.length > 0) buildParts.join('+').split('.').forEach(checkBuildPart)
  return new SemverValue([major, minor, patch], prerelease, text.length)
}

function numberOf(what: string, text: string): bigint {
  if (/[^0-9]/.test(text))
    throw new VersionError(`Invalid character(s) found in ${what.toLowerCase()} number ${goQuote(text)}`)
  if (/^0./.test(text)) throw new VersionError(`${what} number must not contain leading zeroes ${goQuote(text)}`)
  return parsedNumber(text)
}

function parsedNumber(text: string): bigint {
  const parsing = `strconv.ParseUint: parsing ${goQuote(text)}: `
  if (text === '') throw new VersionError(`${parsing}invalid syntax`)
  const value = digitsOf(text) > MAX_DIGITS ? undefined : BigInt(text)
  if (value === undefined || value >= 2n ** 64n) throw new VersionError(`${parsing}value out of range`)
  return value
}

function prereleasePart(text: string): bigint | string {
  if (text === '') throw new VersionError('Prerelease is empty')
  if (/^[0-9]+$/.test(text)) {
    if (/^0./.test(text))
      throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`)
    return parsedNumber(text)
  }
  if (!/^[0-9A-Za-z-]+$/.test(text)) throw new VersionError(`Invalid character(s) found in prerelease ${goQuote(text)}`)
  return text
}

function checkBuildPart(text: string): void {
  if (text === '') throw new VersionError('Build meta data is empty')
  if (!/^[0-9A-Za-z-]+$/.test(text))
    throw new VersionError(`Invalid character(s) found in build meta data ${goQuote(text)}`)
}

/** Parses a version after it removes a leading v and leading zeros and adds missing numbers. */
function normalizedSemver(text: string): Value {
  const parts = (text.startsWith('v') ? text.slice(1) : text).split('.')
  const three = [...parts.slice(0, 2), ...(parts.length > 2 ? [parts.slice(2).join('.')] : [])].map((part) => {
    if (part.length < 2) return part
    const rest = part.replace(/^0+/, '')
    return /^\d/.test(rest) ? rest : `0${rest}`
  })
  if (three.length < 3 && /[+-]/.test(three.at(-1)!))
    return new CelError('short version cannot contain PreRelease/Build meta data')
  while (three.length < 3) three.push('0')
  return semverOf(three.join('.'))
}

// the types of arguments are checked before an overload runs
const read = (text: Value | undefined, normalize?: Value): Value =>
  normalize === true ? normalizedSemver(parsing(text as string)) : semverOf(parsing(text as string))
const isRead = (value: Value): boolean => !(value instanceof CelError)
const versions = ([a, b]: readonly Value[]): bigint => compare(a as SemverValue, b as SemverValue)

const part = (name: string, index: 0 | 1 | 2) =>
  fn(
    name,
    member(`semver_${name}`, [SEMVER], INT, {
      ...fixed(1),
      run: ([version]) => BigInt.asIntN(64, (version as SemverValue).numbers[index]),
    }),
  )

export const semver: Library = {
  name: 'kubernetes.Semver',
  functions: [
    fn(
      'semver',
      overload('string_to_semver', [STRING], SEMVER, { ...readingOf(0), run: ([text]) => read(text) }),
      overload('string_bool_to_semver', [STRING, BOOL], SEMVER, {
        ...readingOf(0),
        run: ([text, normalize]) => read(text, normalize),
      }),
    ),
    fn(
      'isSemver',
      overload('is_semver_string', [STRING], BOOL, { ...readingOf(0), run: ([text]) => isRead(read(text)) }),
      overload('is_semver_string_bool', [STRING, BOOL], BOOL, {
        ...readingOf(0),
        run: ([text, normalize]) => isRead(read(text, normalize)),
      }),
    ),
    fn(
      'isGreaterThan',
      member('semver_is_greater_than', [SEMVER, SEMVER], BOOL, { ...fixed(1), run: (args) => versions(args) > 0n }),
    ),
    fn(
      'isLessThan',
      member('semver_is_less_than', [SEMVER, SEMVER], BOOL, { ...fixed(1), run: (args) => versions(args) < 0n }),
    ),
    fn('compareTo', member('semver_compare_to', [SEMVER, SEMVER], INT, { ...fixed(1), run: versions })),
    part('major', 0),
    part('minor', 1),
    part('patch', 2),
  ],
}
