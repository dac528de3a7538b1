/** Adds all at the end. Arguments that are spread go over the stack, which holds some ten thousand of them. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}
