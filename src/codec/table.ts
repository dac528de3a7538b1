/**
 * Makes Tables (meta.k8s.io), which kubectl prints. The cells of built-in kinds come from the storage version, for
 * requests in any version.
 */
import { apiVersionOf } from '../api/group-version.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import type { EncodedResource } from './encoded-resource.ts'
import type { Steps } from '../base/slices.ts'
import { atOnce, inTurns } from '../base/slices.ts'
import { stringify } from '../json/write-json.ts'
import { metaApiVersion } from './encode/partial-object-metadata.ts'
import type { MetaVersion } from './encode/partial-object-metadata.ts'
import type { Printer } from './table/cells.ts'
import { printer } from './table/cells.ts'
import { scalePrinter } from './table/autoscaling.ts'
import type { Column } from './table/columns.ts'
import { columnsOf, defaultColumns, scaleColumns } from './table/columns.ts'
import { AGE_COLUMN, CUSTOM_SCALE_COLUMNS, customTable } from './table/custom.ts'

/** Go's zero time. The default printer has it for objects without a creationTimestamp. */
const ZERO_TIME = '0001-01-01T00:00:00Z'

const defaultPrinter = printer(({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ZERO_TIME])

/** The columns and cells of a resource's Tables. */
export interface TableLayout {
  readonly printer: Printer
  /** The kind has the default columns. An empty list of such a kind has `rows: null`. */
  readonly isDefault: boolean
  /** JSON text of columnDefinitions. */
  readonly columns: string
}

/** Bound: the built-in resources. */
const builtIn = new Map<string, TableLayout>()

export function builtInLayout({ kind, gvr, view, presentation }: EncodedResource): TableLayout {
  const name = view === undefined ? `${apiVersionOf(kind)}/${gvr.resource}` : 'scale'
  let layout = builtIn.get(name)
  if (layout === undefined) {
    const own = view === undefined ? presentation.printer : scalePrinter
    const columns = view === undefined ? columnsOf(apiVersionOf(kind), gvr.resource) : scaleColumns()
    layout = layoutOf(columns ?? defaultColumns(), own ?? defaultPrinter, own === undefined)
    builtIn.set(name, layout)
  }
  return layout
}

type PrinterColumns = NonNullable<EncodedResource['entry']['printerColumns']>

/** Layouts by the columns of a definition. They are made once for each version of the definition. */
const ofDefinitions = new WeakMap<PrinterColumns, TableLayout>()

/** Bound: it stays empty. */
const noColumns: PrinterColumns = []

export const customLayout = (resource: EncodedResource): TableLayout => layoutBy(columnsDeclared(resource))
export const customScaleLayout = (): TableLayout => layoutBy(CUSTOM_SCALE_COLUMNS)

const columnsDeclared = ({ entry }: EncodedResource): PrinterColumns => entry.printerColumns ?? noColumns

function layoutBy(columns: PrinterColumns): TableLayout {
  return ofDefinitions.get(columns) ?? atOnce(makingLayout(columns))
}

function* makingLayout(columns: PrinterColumns): Steps<TableLayout> {
  const layout = { ...(yield* customTable(columns.length === 0 ? [AGE_COLUMN] : columns)), isDefault: false }
  ofDefinitions.set(columns, layout)
  return layout
}

/** Columns that are made at once: a few milliseconds. */
const MANY_COLUMNS = 2048

/** Makes the layout of a definition with very many columns in steps. Undefined if there is nothing to do. */
export function readCustomLayout(resource: EncodedResource): Promise<unknown> | undefined {
  const columns = columnsDeclared(resource)
  return columns.length < MANY_COLUMNS || ofDefinitions.has(columns) ? undefined : inTurns(makingLayout(columns))
}

const layoutOf = (columns: readonly Column[], printer: Printer, isDefault: boolean): TableLayout => ({
  printer,
  isDefault,
  columns: stringify(columns.map((column) => ({ ...column }))),
})

/** A row as JSON text. @param object JSON text of the row's object, or `null` */
export function rowText({ printer }: TableLayout, printed: KubeObject, now: Date, object: string): string {
  const conditions = printer.conditions?.(printed)
  const said = conditions === undefined ? '' : `,"conditions":${stringify(conditions.map((one) => ({ ...one })))}`
  return `{"cells":${stringify(printer.cells(printed, now))}${said},"object":${object}}`
}

/** The JSON before the rows. @param columns JSON text; `null` in all but the first event of a watch */
export const tableHead = (version: MetaVersion, metadata: JsonObject, columns: string): string =>
  `{"kind":"Table","apiVersion":"${metaApiVersion(version)}","metadata":${stringify(metadata)},"columnDefinitions":${columns},"rows":`
