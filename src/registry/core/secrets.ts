import { eachName, kept } from '../../base/parts.ts'
import { overlaid } from '../../schema/overlaid.ts'
import { errorsByName } from '../../validation/errors-of.ts'
import type { Secret } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, named, path, required, tooLong } from '../../api/field.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { base64ToBytes, bytesToBase64 } from '../../base/base64.ts'
import { decodeUnstructured } from '../../codec/decode/decode-untyped.ts'
import { DecodeError } from '../../codec/decode/decode-problems.ts'
import { parseJsonBytes } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { keyPairProblem } from '../../x509/tls-key-pair.ts'
import { subdomainName } from '../../validation/names.ts'
import { secretPrinter } from '../../codec/table/core.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { configKeyProblems } from '../../validation/config-keys.ts'
import { sameSentTexts } from '../../validation/same-value.ts'
import { base64Length, IMMUTABLE_WHEN_SET } from './config-maps.ts'
import { keyOf, work } from '../work/work.ts'
import { countEvaluator } from '../quota/count-evaluator.ts'

const MAX_BYTES = 1024 * 1024
const data = path('data')

export const secrets: BuiltInDefinition<Secret> = {
  defaults: { v1: defaultRule<Secret>(applyDefaults) },
  printer: secretPrinter,
  quota: countEvaluator('count/secrets', 'secrets'),
  work({ object, old }) {
    const secret = object ?? old
    switch (secret?.type) {
      case 'kubernetes.io/service-account-token':
        return object === undefined ? [] : work('service-account-secret', keyOf(object))
      case 'bootstrap.kubernetes.io/token':
        if (secret.metadata.namespace !== 'kube-system') return []
        return [...work('token-cleaner', secret.metadata.name), ...work('bootstrap-signer', '')]
      default:
        return []
    }
  },
  prepareForUpdate(object, old) {
    // the type cannot change; an update without a type keeps the stored one
    if (!object.type) object.type = old.type
  },
  validate: validateSecret,
  warningsOnCreate: tlsWarnings,
  warningsOnUpdate: tlsWarnings,
  validateUpdate(object, old) {
    const errors: FieldError[] = []
    if (object.type !== old.type) errors.push(invalidValue(path('type'), named(object.type ?? ''), FIELD_IS_IMMUTABLE))
    if (old.immutable === true) {
      if (object.immutable !== true) errors.push(forbiddenField(path('immutable'), IMMUTABLE_WHEN_SET))
      if (!sameSentTexts(object, old, 'data')) errors.push(forbiddenField(data, IMMUTABLE_WHEN_SET))
    }
    return [...errors, ...validateObjectMeta(object.metadata, true, subdomainName), ...validateSecret(object)]
  },
  selectableFields: ({ type = '' }) => ({ type }),
}

function validateSecret(secret: Secret): FieldError[] {
  const values = secret.data ?? {}
  const bytes = kept(values, () => ({ left: MAX_BYTES }))
  const errors = errorsByName(values, (key) => {
    bytes.left -= base64Length(ownValue(values, key)!)
    return configKeyProblems(key).map((problem) => invalidValue(data.key(key), key, problem))
  })
  if (bytes.left < 0) errors.push(tooLong(data, MAX_BYTES))
  return [...errors, ...(ownValue(typeRules, secret.type ?? '')?.(secret) ?? [])]
}

/** The keys that a Secret of a well-known type must have. */
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
    ['tls.crt', 'tls.key'].filter((key) => !Object.hasOwn(values, key)).map((key) => required(data.key(key))),
}

function jsonAt({ data: values = {} }: Secret, key: string): FieldError[] {
  const value = ownValue(values, key)
  if (value === undefined) return [required(data.key(key))]
  try {
    decodeUnstructured(parseJsonBytes(base64ToBytes(value)))
    return []
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof JsonSyntaxError)) throw error
    return [invalidValue(data.key(key), '<secret contents redacted>', error.message)]
  }
}

function tlsWarnings({ type, data: values = {} }: Secret): string[] {
  if (type !== 'kubernetes.io/tls') return []
  const text = (key: string): string => new TextDecoder('latin1').decode(base64ToBytes(ownValue(values, key) ?? ''))
  const problem = keyPairProblem(text('tls.crt'), text('tls.key'))
  return problem === undefined ? [] : [problem]
}

/** The server stores stringData as bytes in `data`. Reads never return stringData. */
function applyDefaults(object: Secret): void {
  const { stringData } = object
  if (stringData === undefined) return
  const data = overlaid(object, object.data)
  eachName(stringData, Object.keys, (key) =>
    setOwn(data, key, bytesToBase64(new TextEncoder().encode(ownValue(stringData, key)!))),
  )
  object.data = data
  delete object.stringData
}
