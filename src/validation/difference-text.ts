/**
 * Which parts of a value differ from what was stored, for people who read an error: one line for what was and one for
 * what is wanted, for each place. Its layout is no contract, in the reference neither.
 */
import type { Json } from '../api/object.ts'

export function differenceText(old: object | undefined, wanted: object | undefined): string {
  const lines: string[] = []
  compare('', old as Json | undefined, wanted as Json | undefined, lines)
  return `@@ differences @@\n${lines.join('\n')}\n`
}

function compare(at: string, old: Json | undefined, wanted: Json | undefined, lines: string[]): void {
  if (isParent(old) && isParent(wanted) && Array.isArray(old) === Array.isArray(wanted)) {
    const before = old as Readonly<Record<string, Json>>
    const after = wanted as Readonly<Record<string, Json>>
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(Array.isArray(old) ? `${at}[${key}]` : `${at}.${key}`, before[key], after[key], lines)
    return
  }
  if (JSON.stringify(old) === JSON.stringify(wanted)) return
  if (old !== undefined) lines.push(`- ${at}: ${JSON.stringify(old)}`)
  if (wanted !== undefined) lines.push(`+ ${at}: ${JSON.stringify(wanted)}`)
}

const isParent = (value: Json | undefined): boolean => typeof value === 'object' && value !== null
