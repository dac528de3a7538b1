/** Names that a plain object seems to have, and names that functions, lists, promises and JSON give a meaning to. */
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
