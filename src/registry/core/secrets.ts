import type { Secret } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, path, required, tooLong } from '../../api/field.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { subdomainName } from '../../validation/names.ts'
import type { Strategy } from '../strategy.ts'
import { base64Length, configKeyProblems, IMMUTABLE_WHEN_SET, sameMap, sorted } from './config-maps.ts'

const MAX_BYTES = 1024 * 1024
const data = path('data')

export const secrets: Strategy<Secret> = {
  prepareForUpdate(object, old) {
    // the type cannot change; leaving it out is not a change
    if (!object.type) object.type = old.type
  },
  validate: validateSecret,
  validateUpdate(object, old) {
    const errors: FieldError[] = []
    if (object.type !== old.type) errors.push(invalidValue(path('type'), object.type ?? '', FIELD_IS_IMMUTABLE))
    if (old.immutable === true) {
      if (object.immutable !== true) errors.push(forbiddenField(path('immutable'), IMMUTABLE_WHEN_SET))
      if (!sameMap(object.data, old.data)) errors.push(forbiddenField(data, IMMUTABLE_WHEN_SET))
    }
    return [...errors, ...validateObjectMeta(object.metadata, true, subdomainName), ...validateSecret(object)]
  },
  selectableFields: ({ type = '' }) => ({ type }),
}

function validateSecret(secret: Secret): FieldError[] {
  const errors: FieldError[] = []
  const values = secret.data ?? {}
  let total = 0
  for (const [key, value] of sorted(values)) {
    for (const problem of configKeyProblems(key)) errors.push(invalidValue(data.key(key), key, problem))
    total += base64Length(value)
  }
  if (total > MAX_BYTES) errors.push(tooLong(data, MAX_BYTES))
  return [...errors, ...(typeRules[secret.type ?? '']?.(secret) ?? [])]
}

/** What a Secret of a well-known type must hold. */
const typeRules: Readonly<Record<string, (secret: Secret) => FieldError[]>> = {
  'kubernetes.io/service-account-token': ({ metadata }) => {
    const annotation = 'kubernetes.io/service-account.name'
    return metadata.annotations?.[annotation] ? [] : [required(path('metadata', 'annotations').key(annotation))]
  },
  'kubernetes.io/dockercfg': (secret) => jsonAt(secret, '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (secret) => jsonAt(secret, '.dockerconfigjson'),
  'kubernetes.io/basic-auth': ({ data: values = {} }) =>
    'username' in values || 'password' in values
      ? []
      : [required(data.key('username')), required(data.key('password'))],
  'kubernetes.io/ssh-auth': ({ data: values = {} }) =>
    values['ssh-privatekey'] ? [] : [required(data.key('ssh-privatekey'))],
  'kubernetes.io/tls': ({ data: values = {} }) =>
    ['tls.crt', 'tls.key'].filter((key) => !(key in values)).map((key) => required(data.key(key))),
}

function jsonAt({ data: values = {} }: Secret, key: string): FieldError[] {
  const value = values[key]
  if (value === undefined) return [required(data.key(key))]
  try {
    JSON.parse(atob(value))
    return []
  } catch {
    return [invalidValue(data.key(key), '<secret contents redacted>', 'invalid JSON')]
  }
}
