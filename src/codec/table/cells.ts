/** Makes the cells of one kind of object. */
import type { Json, KubeObject } from '../../api/object.ts'
import type { TableRowCondition } from '../../api/meta/v1.ts'
import { since } from './age.ts'

export interface Printer {
  /** Of an object in the storage version; one cell for each column, in their order. */
  readonly cells: (object: KubeObject, now: Date) => Json[]
  readonly conditions?: (object: KubeObject) => readonly TableRowCondition[] | undefined
  /** UTF-16 units of an object that take as long as a row of one that is so long; default: its own. */
  readonly weight?: (length: number) => number
  /** Shows whole numbers of 64 bits. */
  readonly exact?: boolean
  /** Lists are in this order instead of that of their keys. */
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
  // a definition names its printer, so objects are of the type that the printer is for
  return { cells, ...more } as unknown as Printer
}

export const age = ({ metadata }: KubeObject, now: Date): string => since(metadata.creationTimestamp, now)

/** Name and age, for kinds that show nothing else. */
export const nameAndAge = printer((object, now) => [nameOf(object), age(object, now)])

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''

/** Names and images of containers, each as one cell. */
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

/** The first few of a list, and how many more there are. */
export const listWithMore = (list: readonly string[], count: number, most: number): string =>
  count > most ? `${list.join(',')} + ${count - most} more...` : list.join(',')

export const sortedUnique = (list: readonly string[]): string[] => [...new Set(list)].sort()
