/** Makes the columns that a CustomResourceDefinition declares (apiextensions' tableconvertor). */
import type { CustomResourceColumnDefinition } from '../../api/apiextensions/v1.ts'
import type { Json, JsonObject, KubeObject } from '../../api/object.ts'
import { kept, mapParts, PART } from '../../base/parts.ts'
import { parseTime, TimeError } from '../../schema/time.ts'
import type { Steps } from '../../base/slices.ts'
import { stringify, stringifySorted } from '../../json/write-json.ts'
import { goFloat } from '../../go/float.ts'
import { humanDuration, since } from './age.ts'
import type { Printer } from './cells.ts'
import { nameOf } from './cells.ts'
import type { Column } from './columns.ts'
import { nameColumn } from './columns.ts'
import type { Visits } from './json-path.ts'
import type { JsonPath } from './parse-json-path.ts'
import { firstResults, looksAround } from './json-path.ts'
import { JsonPathError } from './parse-json-path.ts'
import { parseJsonPath } from './parse-json-path.ts'

interface CustomColumn {
  readonly type: string
  readonly path: JsonPath
  /** The path may visit many values. */
  readonly isWide: boolean
}

/** The column of a definition without columns. kube-apiserver adds it by defaulting in memory. */
export const AGE_COLUMN: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: '.metadata.creationTimestamp',
}

/** The columns of a custom resource's scale subresource. */
export const CUSTOM_SCALE_COLUMNS: readonly CustomResourceColumnDefinition[] = [
  { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' },
  { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' },
  AGE_COLUMN,
]

/** Columns that are made in one step. */
const COLUMNS = 2048

/**
 * Makes a Table's columns, as JSON, and its printer. An invalid path ends the columns: kube-apiserver omits it and all
 * after it.
 */
export function* customTable(
  declared: readonly CustomResourceColumnDefinition[],
): Steps<{ readonly columns: string; readonly printer: Printer }> {
  const texts = [membersOf([nameColumn()])]
  const paths: CustomColumn[] = []
  let columns: Column[] = []
  for (const { name = '', type = '', format = '', description, priority = 0, jsonPath = '' } of declared) {
    const path = parsed(jsonPath)
    if (path === undefined) break
    columns.push({
      name,
      type,
      format,
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      priority,
    })
    paths.push({ type, path, isWide: looksAround(path) })
    if (columns.length < COLUMNS) continue
    texts.push(membersOf(columns))
    columns = []
    yield
  }
  if (columns.length > 0) texts.push(membersOf(columns))
  return {
    columns: `[${texts.join(',')}]`,
    printer: {
      exact: true,
      cells(object, now) {
        const visits = kept(object, () => ({ left: MOST_VISITS }))
        return [nameOf(object), ...mapParts(paths, (column) => cell(column, object, now, visits), weightOf)]
      },
      weight: (length) => length * (1 + paths.filter(({ isWide }) => isWide).length) + paths.length * OF_COLUMN,
    },
  }
}

/** The items of a list, as JSON. */
const membersOf = (columns: readonly Column[]): string =>
  stringify(columns.map((column) => ({ ...column }))).slice(1, -1)

/**
 * The most values that the paths of all columns in a row may visit together. Each column may pass through a whole
 * object.
 */
const MOST_VISITS = 2_000_000

/** A cell takes the time of this many UTF-16 units of an object. */
const OF_COLUMN = 64

/** A column whose path may pass through a whole object is a part of its own (base/parts.ts). */
const weightOf = ({ isWide }: CustomColumn): number => (isWide ? PART : 1)

function parsed(jsonPath: string): JsonPath | undefined {
  try {
    return parseJsonPath(`{${jsonPath}}`)
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}

function cell({ type, path }: CustomColumn, object: KubeObject, now: Date, visits: Visits): Json {
  const value = valueAt(path, object as unknown as JsonObject, visits) // any object is JSON
  if (value === undefined) return null
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number' ? int64(value) : typeof value === 'bigint' ? value : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null
    default:
      return null
  }
}

/** Go's conversion of a float64. A number beyond int64 becomes the least of them, as on amd64. */
const int64 = (value: number): number | bigint => (Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2n ** 63n))

/** The first result of a path. A cell has no other results. */
function valueAt(path: JsonPath, object: JsonObject, visits: Visits): Json | undefined {
  try {
    return firstResults(path, object, visits)[0]
  } catch (error) {
    if (error instanceof JsonPathError) return undefined
    throw error
  }
}

function textOf(value: Json): string {
  if (value === null) return '<no value>'
  if (typeof value === 'object') return stringifySorted(value)
  return typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value)
}

function ageOf(text: string, now: Date): string {
  if (text === '' || text === 'null') return since(undefined, now)
  try {
    const { seconds, nanos } = parseTime(text)
    return humanDuration(now.getTime() - seconds * 1000 - Math.trunc(nanos / 1e6))
  } catch (error) {
    if (error instanceof TimeError) return '<invalid>'
    throw error
  }
}
