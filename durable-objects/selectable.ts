/** Encodes the values that selectors use, which are stored beside each key: short JSON without empty values. */
import type { Selectable } from '../src/storage/storage.ts'

interface Stored {
  readonly l?: Readonly<Record<string, string>>
  readonly f?: Readonly<Record<string, string>>
  readonly o?: readonly string[]
}

export function encodeSelectable({ labels, fields, owners }: Selectable): string {
  const stored: Stored = {
    ...(labels === undefined || isEmpty(labels) ? {} : { l: labels }),
    ...(fields === undefined || isEmpty(fields) ? {} : { f: fields }),
    ...(owners === undefined || owners.length === 0 ? {} : { o: owners }),
  }
  return JSON.stringify(stored)
}

export function decodeSelectable(text: string): Selectable {
  if (text === '{}') return {}
  // encodeSelectable wrote it
  const { l, f, o } = JSON.parse(text) as Stored
  return { labels: l, fields: f, owners: o }
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false
  return true
}
