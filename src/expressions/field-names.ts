/** Escapes field names that are no CEL identifiers: `foo-bar` is `foo__dash__bar`. */

/** CEL's reserved words. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)

export const isReserved = (name: string): boolean => RESERVED.has(name)

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
])
const UNESCAPES: ReadonlyMap<string, string> = new Map([...ESCAPES].map(([plain, escaped]) => [escaped, plain]))

/** @returns undefined if no expression can name the field */
export function escapeField(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[-./]/g, (part) => ESCAPES.get(part)!)
}

/** @returns undefined if the name has an unknown escape */
export function unescapeField(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped
  let known = true
  const plain = escaped.replace(/__[^_]+__/g, (part) => {
    const content = part.slice(2, -2)
    const character = UNESCAPES.get(part)
    if (character !== undefined) return character
    if (!RESERVED.has(content) || part.length !== escaped.length) known = false
    return content
  })
  return known ? plain : undefined
}
