/** Default values of a custom resource's schema (apiextensions' schema/defaulting). Changes the object in place. */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { eachName, eachPart } from '../api/parts.ts'
import { defaultOf, isNullable } from './from-openapi.ts'
import { elementType, memberType } from './prune.ts'
import type { Structural, StructType } from './structural.ts'

export function applyStructuralDefaults(type: StructType, object: JsonObject): void {
  fill(type, object)
}

function fill(type: Structural | undefined, value: Json | undefined): void {
  if (type === undefined || !mayFill(type)) return
  if (Array.isArray(value)) {
    const element = elementType(type)
    if (element === undefined) return
    eachPart(value, (item, index) => {
      if (item === null && !isNullable(element)) value[index] = copyOf(defaultOf(element) ?? null)
      fill(element, value[index])
    })
  } else if (isJsonObject(value)) {
    if (type.shape === 'struct')
      eachPart(type.defaulted ?? [], ({ name, default: declared, nullable }) => {
        if (declared === undefined || declared === null) return
        const before = ownValue(value, name)
        if (before === undefined || (before === null && nullable !== true)) setOwn(value, name, copyOf(declared))
      })
    eachName(value, Object.keys, (name) => {
      const below = memberType(type, name)
      if (below === undefined) return
      if (type.shape === 'map' && value[name] === null && !isNullable(below))
        setOwn(value, name, copyOf(defaultOf(below) ?? null))
      fill(below, value[name])
    })
  }
}

/** Whether a type has a default anywhere in it. Most have none, and their values are skipped. */
function mayFill(type: Structural): boolean {
  switch (type.shape) {
    case 'struct':
      return type.hasDefaultsBelow === true
    case 'map':
      return defaultOf(type.value) !== undefined || mayFill(type.value)
    case 'list':
      return defaultOf(type.element) !== undefined || mayFill(type.element)
    default:
      return false
  }
}

const copyOf = (value: Json): Json => (typeof value === 'object' ? structuredClone(value) : value)
