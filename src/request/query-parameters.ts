const none: readonly string[] = []

/**
 * The parameters of a query, with the methods of URLSearchParams. Each call of URLSearchParams leaves compiled code
 * for the engine, and a request asks for a dozen parameters of which it seldom has one.
 */
export class QueryParameters {
  private readonly values = new Map<string, string[]>()

  append(name: string, value: string): void {
    const values = this.values.get(name)
    if (values === undefined) this.values.set(name, [value])
    else values.push(value)
  }

  has(name: string): boolean {
    return this.values.has(name)
  }

  /** The first value; null where there is none. */
  get(name: string): string | null {
    return this.values.get(name)?.[0] ?? null
  }

  getAll(name: string): readonly string[] {
    return this.values.get(name) ?? none
  }
}

/**
 * Parses a query like Go's url.ParseQuery: `+` is a space, and pairs with a semicolon or a bad escape are dropped.
 * Octets that are not UTF-8 become replacement characters, which the readers of the value refuse. Dropping such a
 * pair would be dangerous: without its selector a request selects everything, without dryRun it writes.
 * @param search with its question mark, or empty
 */
export function parseQuery(search: string): QueryParameters {
  const query = new QueryParameters()
  if (search === '') return query
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
    if (!BAD_ESCAPE.test(pair)) query.append(unescapeQuery(name), unescapeQuery(value))
  }
  return query
}

const lossy = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/

function unescapeQuery(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return lossy.decode(octetsOf(spaced))
  }
}

/** @param escaped text without bad escapes */
function octetsOf(escaped: string): Uint8Array {
  const octets: number[] = []
  for (const part of escaped.split(/(%[0-9A-Fa-f]{2})/)) {
    if (part.startsWith('%')) octets.push(parseInt(part.slice(1), 16))
    else for (const octet of new TextEncoder().encode(part)) octets.push(octet)
  }
  return Uint8Array.from(octets)
}
