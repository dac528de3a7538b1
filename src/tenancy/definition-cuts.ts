/** Finds schemas and managedFields in the text of a stored definition, because they are nearly all of it. */

/** Facts about a schema that are known before its text is parsed. */
export interface SchemaFacts {
  /** UTF-16 units. */
  readonly length: number
  /** UTF-16 units of the rules in it. */
  readonly rules: number
  /** Whether it may have defaults. */
  readonly hasDefaults: boolean
  /** Whether it may have embedded objects. */
  readonly hasEmbedded: boolean
}

/** A part of a text, by its position. */
export interface Cut extends SchemaFacts {
  readonly begin: number
}

export interface DefinitionCuts {
  /** The text with null in place of each part. */
  readonly rest: string
  readonly managedFields?: Cut
  /** The schemas of versions, by the version's index. */
  readonly schemas: ReadonlyMap<number, Cut>
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_MAP = 123
const CLOSE_MAP = 125

/** @param text JSON as this server writes it, without blanks */
export function cutDefinition(text: string): DefinitionCuts {
  const schemas = new Map<number, Cut>()
  let managedFields: Cut | undefined
  const pieces: string[] = []
  let from = 0
  const cut = (begin: number, end: number): Cut => {
    pieces.push(text.slice(from, begin), 'null')
    from = end
    return { begin, ...factsOfSchema(text.slice(begin, end)) }
  }
  eachMember(text, 0, (name, begin) => {
    if (name === 'metadata')
      return eachMember(text, begin, (inMetadata, at) => {
        const end = endOf(text, at)
        if (inMetadata === 'managedFields') managedFields = cut(at, end)
        return end
      })
    if (name !== 'spec') return endOf(text, begin)
    return eachMember(text, begin, (inSpec, versions) => {
      if (inSpec !== 'versions') return endOf(text, versions)
      return eachItem(text, versions, (index, version) =>
        eachMember(text, version, (inVersion, at) => {
          const end = endOf(text, at)
          if (inVersion === 'schema') schemas.set(index, cut(at, end))
          return end
        }),
      )
    })
  })
  pieces.push(text.slice(from))
  return { rest: pieces.join(''), ...(managedFields === undefined ? {} : { managedFields }), schemas }
}

/**
 * @param visit returns the end of the value that begins there
 * @returns the end of the map
 */
function eachMember(text: string, begin: number, visit: (name: string, value: number) => number): number {
  if (text.charCodeAt(begin) !== OPEN_MAP) return endOf(text, begin)
  let at = begin + 1
  while (text.charCodeAt(at) === QUOTE) {
    const end = endOfText(text, at)
    at = visit(text.slice(at + 1, end - 1), end + 1)
    if (text.charCodeAt(at) === COMMA) at++
  }
  return at + 1
}

function eachItem(text: string, begin: number, visit: (index: number, item: number) => number): number {
  if (text.charCodeAt(begin) !== OPEN_LIST) return endOf(text, begin)
  let at = begin + 1
  for (let index = 0; text.charCodeAt(at) !== CLOSE_LIST; index++) {
    at = visit(index, at)
    if (text.charCodeAt(at) === COMMA) at++
  }
  return at + 1
}

/** The position behind a value. */
function endOf(text: string, begin: number): number {
  let depth = 0
  for (let at = begin; ;) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = endOfText(text, at)
      if (depth === 0) return at
      continue
    }
    const closes = unit === CLOSE_MAP || unit === CLOSE_LIST
    // a number or literal ends at a comma or at the end of its container
    if (depth === 0 && (closes || unit === COMMA)) return at
    at++
    if (unit === OPEN_MAP || unit === OPEN_LIST) depth++
    else if (closes && --depth === 0) return at
    if (at > text.length) throw new Error('assertion failed: a stored definition ends too early')
  }
}

function endOfText(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return at + 1
    if (unit === BACKSLASH) at++
  }
  throw new Error('assertion failed: a text of a stored definition does not end')
}

/** A quotation mark within a string has a backslash before it, so a match is always a member. */
const RULES = '"x-kubernetes-validations":'

const DEFAULT = '"default":'
const EMBEDDED = '"x-kubernetes-embedded-resource":'

/** A search goes to the end of its text, so each schema is searched by itself. */
export const factsOfSchema = (text: string): SchemaFacts => ({
  length: text.length,
  rules: lengthOfRules(text),
  hasDefaults: text.includes(DEFAULT),
  hasEmbedded: text.includes(EMBEDDED),
})

function lengthOfRules(text: string): number {
  let sum = 0
  for (let at = text.indexOf(RULES); at >= 0; at = text.indexOf(RULES, at)) {
    const list = at + RULES.length
    at = endOf(text, list)
    sum += at - list
  }
  return sum
}
