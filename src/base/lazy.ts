/** A value that is made on first use. A value that a module makes at its top level costs time at every cold start. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
