/**
 * A value that is made when it is first asked for. What a module makes at its top level is paid at every cold start,
 * needed or not.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
