/** How many of an area's recordings were answered exactly. */
export interface Row {
  readonly exact: number
}

/**
 * The areas that reached less than the baseline says. One that did not run at all reached nothing.
 * @param wanted areas of this run
 * @param skipped areas whose toolchain is missing, which the last line of the run says
 */
export function fallenAreas(
  baseline: Readonly<Record<string, number>>,
  rows: Readonly<Record<string, Row>>,
  wanted: (area: string) => boolean,
  skipped: ReadonlySet<string>,
): string[] {
  return Object.keys(baseline).filter(
    (area) => wanted(area) && !skipped.has(area) && (rows[area]?.exact ?? 0) < baseline[area]!,
  )
}

/** `31 passed, 0 failed`, and what was skipped with the reason. */
export const lastLine = (passed: number, failed: number, skips: ReadonlyMap<string, string>): string =>
  `${passed} passed, ${failed} failed` +
  (skips.size === 0 ? '' : `, ${skips.size} skipped (${[...skips].map(([area, why]) => `${area}: ${why}`).join('; ')})`)
