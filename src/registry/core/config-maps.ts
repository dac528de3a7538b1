import { append } from '../../base/append.ts'
import { errorsByName } from '../../validation/errors-of.ts'
import { configKeyProblems } from '../../validation/config-keys.ts'
import type { ConfigMap } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { forbiddenField, invalidValue, path, FieldPath, tooLong } from '../../api/field.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { sameSentTexts } from '../../validation/same-value.ts'
import { subdomainName } from '../../validation/names.ts'
import { configMapPrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { keyOf, work } from '../work/work.ts'
import { countEvaluator } from '../quota/count-evaluator.ts'

export const ROOT_CA = 'kube-root-ca.crt'
const CLUSTER_INFO = 'kube-public/cluster-info'
const MAX_BYTES = 1024 * 1024
export const IMMUTABLE_WHEN_SET = 'field is immutable when `immutable` is set'

export const configMaps: BuiltInDefinition<ConfigMap> = {
  printer: configMapPrinter,
  quota: countEvaluator('count/configmaps', 'configmaps'),
  serverObjects: [
    'kube-system/extension-apiserver-authentication',
    'kube-system/kube-apiserver-legacy-service-account-token-tracking',
  ],
  work: ({ object, old }) => [
    ...(old?.metadata.name === ROOT_CA && (object === undefined || object.metadata.deletionTimestamp === undefined)
      ? work('root-ca-publisher', old.metadata.namespace)
      : []),
    // the server writes a new CA into this ConfigMap, and the controller copies it to all namespaces
    ...(old !== undefined && keyOf(old) === `kube-system/${ROOT_CA}` ? work('root-ca-publisher', '') : []),
    ...[object ?? old].flatMap((map) => (map && keyOf(map) === CLUSTER_INFO ? work('bootstrap-signer', '') : [])),
  ],
  validate: validateConfigMap,
  validateUpdate(object, old) {
    const errors: FieldError[] = []
    if (old.immutable === true) {
      if (object.immutable !== true) errors.push(forbiddenField(path('immutable'), IMMUTABLE_WHEN_SET))
      for (const field of ['data', 'binaryData'] as const)
        if (!sameSentTexts(object, old, field)) errors.push(forbiddenField(path(field), IMMUTABLE_WHEN_SET))
    }
    return [...errors, ...validateObjectMeta(object.metadata, true, subdomainName), ...validateConfigMap(object)]
  },
}

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = []
  let total = 0
  append(
    errors,
    errorsByName(data, (key) => {
      const at = path('data').key(key)
      const wrong = configKeyProblems(key).map((problem) => invalidValue(at, key, problem))
      if (Object.hasOwn(binaryData, key)) wrong.push(invalidValue(at, key, 'duplicate of key present in binaryData'))
      return wrong
    }),
  )
  append(
    errors,
    errorsByName(binaryData, (key) =>
      configKeyProblems(key).map((problem) => invalidValue(path('binaryData').key(key), key, problem)),
    ),
  )
  for (const value of Object.values(data)) total += byteLength(value)
  for (const value of Object.values(binaryData)) total += base64Length(value)
  // kube-apiserver reports this error at an empty path, which prints as []
  if (total > MAX_BYTES) errors.push(tooLong(FieldPath.root.key(''), MAX_BYTES))
  return errors
}

/** The number of bytes that a padded base64 text encodes. */
export const base64Length = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
