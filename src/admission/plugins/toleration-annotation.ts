/** Reads tolerations from JSON in an annotation, as Go's encoding/json does. */
import type { Toleration } from '../../api/core/v1.ts'
import { plainJson } from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { plainError } from '../../api/status.ts'

const fields: Readonly<Record<keyof Toleration, 'string' | 'int64'>> = {
  key: 'string',
  operator: 'string',
  value: 'string',
  effect: 'string',
  tolerationSeconds: 'int64',
}

// the keys of the table are the fields
const fieldNames = Object.keys(fields) as (keyof Toleration)[]

/** @throws StatusError 500, as kube-apiserver answers */
export function readTolerations(text: string): readonly Toleration[] {
  if (text === '') return []
  const list = parsed(text)
  if (list === null) return []
  if (!Array.isArray(list)) throw mismatch(list, 'Go value', '[]v1.Toleration')
  return list.map((one) => {
    if (one === null) return {}
    if (typeof one !== 'object' || Array.isArray(one)) throw mismatch(one, 'Go value', 'v1.Toleration')
    return tolerationOf(one)
  })
}

function parsed(text: string): Json {
  try {
    return plainJson(parseJson(text))
  } catch (error) {
    throw error instanceof JsonSyntaxError ? plainError(error.message) : error
  }
}

function tolerationOf(object: JsonObject): Toleration {
  const pairs = Object.entries(object).flatMap(([key, value]): [string, Json][] => {
    // Go accepts names in any case
    const name = fieldNames.find((one) => one.toLowerCase() === key.toLowerCase())
    if (name === undefined || value === undefined || value === null) return []
    const isRight = fields[name] === 'string' ? typeof value === 'string' : Number.isSafeInteger(value)
    if (!isRight) throw mismatch(value, `Go struct field Toleration.${name}`, fields[name])
    return [[name, value]]
  })
  // each field has been checked
  return Object.fromEntries(pairs) as Toleration
}

function mismatch(value: Json, where: string, type: string) {
  const what =
    typeof value === 'number'
      ? `number${Number.isInteger(value) ? '' : ` ${value}`}`
      : Array.isArray(value)
        ? 'array'
        : typeof value === 'boolean'
          ? 'bool'
          : typeof value

  return plainError(`json: cannot unmarshal ${what} into ${where} of type ${type}`)
}
