/** How the values of a list are written one after the other, see ListShape. */
import type { ListShape } from '../storage.ts'
import { memberText } from './value-text.ts'

/**
 * Returns a function that writes the next value of a list. It remembers what it has written, so each list needs its
 * own.
 */
export function itemText(shape: ListShape): (text: string) => string {
  if (shape.as === 'lines') return (text) => `${text}\n`
  const element = elementText(shape)
  let comma = ''
  return (text) => {
    const item = comma + element(text)
    comma = ','
    return item
  }
}

function elementText(shape: Exclude<ListShape, { as: 'lines' }>): (text: string) => string {
  if (shape.as === 'members') return (text) => memberText(text, shape)
  const { without = '{' } = shape
  return (text) => (text.startsWith(without) ? `{${text.slice(without.length)}` : text)
}
