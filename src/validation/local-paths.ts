/** Validates paths inside volumes: they are relative and do not lead out of the volume. */
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue } from '../api/field.ts'

export const withoutBacksteps = (at: FieldPath, path: string): FieldError[] =>
  path.split('/').includes('..') ? [invalidValue(at, path, "must not contain '..'")] : []

export const descendingPath = (at: FieldPath, path: string): FieldError[] => [
  ...(path.startsWith('/') ? [invalidValue(at, path, 'must be a relative path')] : []),
  ...withoutBacksteps(at, path),
]

/** Refuses names that begin with two dots, because the kubelet uses them. */
export const nonReservedPath = (at: FieldPath, path: string): FieldError[] => [
  ...descendingPath(at, path),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalidValue(at, path, "must not start with '..'")] : []),
]
