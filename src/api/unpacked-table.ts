/**
 * A table that few requests need. It is imported dynamically, and where the Worker is built it is a module of data:
 * gzip, which costs nothing until it is asked for (cli/lazy-tables.ts). Elsewhere, as in tests, it is the JSON itself.
 * @param table the default export of the table's module
 */
export async function unpackedTable<T>(table: T): Promise<T> {
  if (!(table instanceof ArrayBuffer)) return table
  const text = new Blob([table]).stream().pipeThrough(new DecompressionStream('gzip'))
  return (await new Response(text).json()) as T // packed by our own build
}
