/** Semantic versions (semver.org 2.0.0). */
export interface SemanticVersion {
  readonly numbers: readonly bigint[]
  /** Identifiers of the pre-release. A release has none. */
  readonly before: readonly string[]
}

const NUMBER = '0|[1-9]\\d*'
const IDENTIFIER = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`
const pattern = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`,
)

export function parseVersion(text: string): SemanticVersion | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  return { numbers: match.slice(1, 4).map(BigInt), before: match[4]?.split('.') ?? [] }
}

const ZERO: SemanticVersion = { numbers: [0n, 0n, 0n], before: [] }

/** Negative if `a` is lower than `b`, zero if they are equal, positive if `a` is higher. An absent version is 0.0.0. */
export function compareVersions(a: SemanticVersion = ZERO, b: SemanticVersion = ZERO): number {
  for (const [index, number] of a.numbers.entries())
    if (number !== b.numbers[index]) return number < b.numbers[index]! ? -1 : 1
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length
  for (const [index, identifier] of a.before.entries()) {
    const other = b.before[index]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return a.before.length - b.before.length
}

/** Numeric identifiers are lower than alphanumeric ones. */
function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  if (a === b) return 0
  return (aIsNumber ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1
}
