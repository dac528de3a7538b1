// Helpers for the cases of selectors.
import type { Headers, Received, Row } from './row.ts'
import type { World } from './world.ts'

export const METADATA: Headers = { Accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
export const TABLE: Headers = { Accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }

export const fieldsOf = (selector: string): string => `fieldSelector=${encodeURIComponent(selector)}`

/** Makes what several cases need once, in the first of them that runs. */
export function once(make: (world: World) => Promise<unknown>): (world: World) => Promise<void> {
  let made: Promise<unknown> | undefined
  return async (world) => void (await (made ??= make(world)))
}

const namesIn = ({ text }: Received): readonly string[] => {
  const { items, rows } = JSON.parse(text) as {
    items?: null | readonly { metadata: { name: string } }[]
    rows?: null | readonly { object: { metadata: { name: string } } }[]
  }
  return [
    ...(items ?? []).map(({ metadata }) => metadata.name),
    ...(rows ?? []).map(({ object }) => object.metadata.name),
  ]
}
/** The list has these names and no others. */
export const only =
  (...names: readonly string[]): Row['check'] =>
  (received) => {
    const found = namesIn(received).toSorted().join()
    if (found !== names.toSorted().join()) throw new Error(`selected were ${found}`)
  }
