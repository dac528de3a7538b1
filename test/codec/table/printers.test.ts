// The column definitions are facts of a Kubernetes release, the cells are our code: each kind must print one cell a
// column.
import { expect, test } from 'vitest'
import { columnsOf, defaultColumns } from '../../../src/codec/table/columns.ts'
import { definitionOf } from '../../../src/registry/definitions.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'

const NOW = new Date('2026-01-01T00:00:00Z')
const object = { metadata: { name: 'a', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' } }

/** kube-apiserver prints the age of an IPAddress although no column names it. */
const withoutColumn: Readonly<Record<string, number>> = { ipaddresses: 1 }

const stored = builtInResources({ runtimeConfig: 'api/all=true', featureGates: 'AllAlpha=true,AllBeta=true' })
  .resources.filter(({ persisted }) => persisted)
  .map(({ group, version, resource, storage }) => {
    const apiVersion = group === '' ? version : `${group}/${version}`
    return [apiVersion, resource, storage] as const
  })

test.each(stored)('%s %s', (apiVersion, resource, storage) => {
  const { printer } = definitionOf(storage)
  const columns = columnsOf(apiVersion, resource) ?? defaultColumns()
  if (printer === undefined) expect(columns.map(({ name }) => name)).toEqual(['Name', 'Created At'])
  else expect(printer.cells(object, NOW)).toHaveLength(columns.length + (withoutColumn[resource] ?? 0))
})
