/** Work that fails at every attempt. */
export class HopelessWork extends Error {
  override readonly name = 'HopelessWork'
}
