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

/** Differences of an area below its baseline that are printed, lines of each, and characters of a line. */
const SHOWN = { differences: 40, lines: 12, characters: 240 }

/** The start of each text, so that the log of a run on another machine says what differed. */
export function excerpts(texts: readonly string[]): string[] {
  const shown = texts.slice(0, SHOWN.differences).map((text) => {
    const lines = text.split('\n')
    const begin = lines.slice(0, SHOWN.lines).map((line) => line.slice(0, SHOWN.characters))
    return [...begin, ...(lines.length > SHOWN.lines ? ['…'] : [])].join('\n')
  })
  const left = texts.length - shown.length
  return left > 0 ? [...shown, `and ${left} more`] : shown
}
