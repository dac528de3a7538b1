/** Paths inside volumes: relative ones that do not lead out. */
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue } from '../api/field.ts'

export const withoutBacksteps = (at: FieldPath, path: string): FieldError[] =>
  path.split('/').includes('..') ? [invalidValue(at, path, "must not contain '..'")] : []

export const descendingPath = (at: FieldPath, path: string): FieldError[] => [
  ...(path.startsWith('/') ? [invalidValue(at, path, 'must be a relative path')] : []),
  ...withoutBacksteps(at, path),
]

/** Names that begin with two dots belong to the kubelet. */
export const nonReservedPath = (at: FieldPath, path: string): FieldError[] => [
  ...descendingPath(at, path),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalidValue(at, path, "must not start with '..'")] : []),
]
