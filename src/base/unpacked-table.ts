/**
 * Unpacks a table that few requests need. Its module is imported dynamically. In a built Worker the module is gzip
 * data, which takes no time at start (cli/build/lazy-tables.ts). In tests it is the JSON itself.
 * @param table the default export of the table's module
 */
export async function unpackedTable<T>(table: T): Promise<T> {
  if (!(table instanceof ArrayBuffer)) return table
  const text = new Blob([table]).stream().pipeThrough(new DecompressionStream('gzip'))
  return (await new Response(text).json()) as T // our own build has packed it
}
