/** Printers make the cells of a kind's Table rows. */
import type { Json, KubeObject } from '../../api/object.ts'
import type { TableRowCondition } from '../../api/meta/v1.ts'
import { since } from './age.ts'

export interface Printer {
  /** Makes one cell for each column, in their order. @param object in the storage version */
  readonly cells: (object: KubeObject, now: Date) => Json[]
  readonly conditions?: (object: KubeObject) => readonly TableRowCondition[] | undefined
  /** Estimates the time of a row, as the length in UTF-16 units of a plain object; default: the object's length. */
  readonly weight?: (length: number) => number
  /** Needs exact integers of 64 bits. */
  readonly exact?: boolean
  /** The order of a Table's rows in place of the order of keys. */
  readonly order?: (a: KubeObject, b: KubeObject) => number
}

export function printer<T extends KubeObject>(
  cells: (object: T, now: Date) => Json[],
  more: {
    readonly conditions?: (object: T) => readonly TableRowCondition[] | undefined
    readonly exact?: boolean
    readonly order?: (a: T, b: T) => number
  } = {},
): Printer {
  // the definition of a kind names the printer, so all objects have its type
  return { cells, ...more } as unknown as Printer
}

export const age = ({ metadata }: KubeObject, now: Date): string => since(metadata.creationTimestamp, now)

/** The printer of kinds that have only the columns Name and Age. */
export const nameAndAge = printer((object, now) => [nameOf(object), age(object, now)])

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

/** A cell with the names of containers, and one with their images. */
export const containerCells = (
  containers: readonly { readonly name?: string; readonly image?: string }[] | null | undefined,
): [names: string, images: string] => [
  (containers ?? []).map(({ name = '' }) => name).join(','),
  (containers ?? []).map(({ image = '' }) => image).join(','),
]

/** Labels as `a=b,c=d`, sorted. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const text = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',')
  return text === '' ? '<none>' : text
}

/** The given items, and the number of further ones. */
export const listWithMore = (list: readonly string[], count: number, most: number): string =>
  count > most ? `${list.join(',')} + ${count - most} more...` : list.join(',')

export const sortedUnique = (list: readonly string[]): string[] => [...new Set(list)].sort()
