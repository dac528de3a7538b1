const none: readonly string[] = []

/**
 * The parameters of a query, with the methods of URLSearchParams. That is an object of the engine's, whose every call
 * leaves the compiled code; a request looks at a dozen parameters and seldom has one.
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

  /** The first of its values; null where there is none. */
  get(name: string): string | null {
    return this.values.get(name)?.[0] ?? null
  }

  getAll(name: string): readonly string[] {
    return this.values.get(name) ?? none
  }
}

/**
 * A query string as Go's url.ParseQuery reads it: `+` is a space, pairs with a semicolon or a bad escape are dropped.
 * @param search with its question mark, or empty
 */
export function parseQuery(search: string): QueryParameters {
  const query = new QueryParameters()
  if (search === '') return query
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '' || pair.includes(';')) continue
    const equals = pair.indexOf('=')
    try {
      const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      query.append(unescapeQuery(name), unescapeQuery(value))
    } catch {
      continue // as Go does: the error is dropped with the pair
    }
  }
  return query
}

const unescapeQuery = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
