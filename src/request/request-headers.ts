/**
 * The headers of a request, all read at once: each question to the engine's own object leaves the compiled code, and
 * every request is asked for half a dozen.
 */
export class RequestHeaders {
  /** @param values by names in lower case */
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  static of(headers: Headers): RequestHeaders {
    const values = new Map<string, string>()
    headers.forEach((value, name) => values.set(name, value))
    return new RequestHeaders(values)
  }

  /** The same without one. */
  with(name: string, value: string): RequestHeaders {
    return new RequestHeaders(new Map([...this.values, [name.toLowerCase(), value]]))
  }

  /** Several of one name are joined with a comma and a blank; null where there is none. */
  get(name: string): string | null {
    return this.values.get(name.toLowerCase()) ?? null
  }

  /** In lower case. */
  names(): Iterable<string> {
    return this.values.keys()
  }
}
