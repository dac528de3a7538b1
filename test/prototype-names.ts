/**
 * Names of members that every plain object inherits, and names with a meaning to functions, arrays, promises and JSON.
 */
export const prototypeNames: readonly string[] = [
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
  'then',
  'toJSON',
  'length',
  'name',
  'arguments',
  'caller',
]
