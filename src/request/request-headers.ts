/**
 * The headers of a request, all read at once. Each call of the engine's Headers leaves compiled code, and every
 * request asks for half a dozen headers.
 */
export class RequestHeaders {
  /** @param values by lower-case name */
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  static of(headers: Headers): RequestHeaders {
    const values = new Map<string, string>()
    headers.forEach((value, name) => values.set(name, value))
    return new RequestHeaders(values)
  }

  /** A copy with one header set. */
  with(name: string, value: string): RequestHeaders {
    return new RequestHeaders(new Map([...this.values, [name.toLowerCase(), value]]))
  }

  /** Several values of one name are joined with a comma and a blank; null where there is none. */
  get(name: string): string | null {
    return this.values.get(name.toLowerCase()) ?? null
  }

  /** Characters of all names and values. */
  get length(): number {
    let length = 0
    for (const [name, value] of this.values) length += name.length + value.length
    return length
  }

  /** In lower case. */
  names(): Iterable<string> {
    return this.values.keys()
  }
}
