/** Appends all items. `push(...items)` would put them on the stack, which holds only some ten thousand. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}
