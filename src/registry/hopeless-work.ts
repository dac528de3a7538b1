/** Work that cannot succeed however often it is tried. */
export class HopelessWork extends Error {
  override readonly name = 'HopelessWork'
}
