/** The columns of built-in resources, from a generated table in which each description stands once. */
import { ownValue } from '../../api/own.ts'

import table from './columns-table.json' with { type: 'json' }

/** Members in the order in which they are written. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

type Row = readonly [name: string, type: string, format: string, description: number, priority: number]

// JSON modules are typed as the literals they hold; what is looked up here is known only by name
const rows = () => table.columns as unknown as Readonly<Record<string, readonly Row[]>>

/** @param apiVersion of the request: `v1`, `apps/v1` */
export function columnsOf(apiVersion: string, resource: string): readonly Column[] | undefined {
  return ownValue(rows(), `${apiVersion}/${resource}`)?.map(([name, type, format, description, priority]) => ({
    name,
    type,
    format,
    description: table.descriptions[description] ?? '',
    priority,
  }))
}

/** Name and Created At, of what has no columns of its own. */
const defaults = (): readonly Column[] => columnsOf('v1', 'limitranges')!

export const nameColumn = (): Column => defaults()[0]!

export function defaultColumns(): readonly Column[] {
  return defaults()
}

/** Of the subresource scale. The name's column has no format here. */
export function scaleColumns(): readonly Column[] {
  const [name, created] = defaults() as [Column, Column]
  const texts: Readonly<Record<string, string>> = {
    Name: name.description,
    Desired: 'replicas is the desired number of instances for the scaled object.',
    Available: 'replicas is the actual number of observed instances of the scaled object.',
    Age: created.description,
  }
  return table.scale.map((column) => ({
    name: column.name,
    type: column.type,
    format: '',
    description: ownValue(texts, column.name) ?? '',
    priority: column.priority,
  }))
}
