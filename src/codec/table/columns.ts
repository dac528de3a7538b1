/** The columns of built-in resources, from a generated table that has each description once. */
import { ownValue } from '../../base/own.ts'

import table from './columns-table.json' with { type: 'json' }

/** The members are in the order of their JSON. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

type Row = readonly [name: string, type: string, format: string, description: number, priority: number]

// TypeScript types a JSON module by its literals, but callers look up names that are known only at run time
const rows = () => table.columns as unknown as Readonly<Record<string, readonly Row[]>>

/** @param apiVersion the version of the request: `v1`, `apps/v1` */
export function columnsOf(apiVersion: string, resource: string): readonly Column[] | undefined {
  return ownValue(rows(), `${apiVersion}/${resource}`)?.map(([name, type, format, description, priority]) => ({
    name,
    type,
    format,
    description: table.descriptions[description] ?? '',
    priority,
  }))
}

/** Name and Created At, the columns of resources without a printer. */
const defaults = (): readonly Column[] => columnsOf('v1', 'limitranges')!

export const nameColumn = (): Column => defaults()[0]!

export function defaultColumns(): readonly Column[] {
  return defaults()
}

/** The columns of the subresource scale. Its column Name has no format. */
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
