import type { Toleration } from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, path, required } from '../../api/field.ts'
import type { RuntimeClass } from '../../api/node/v1.ts'
import { ownValue } from '../../base/own.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { immutable, validateLabelText } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateAnyMeta, validateLabels, validateObjectMetaUpdate } from '../../validation/object-meta.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { deprecatedNodeLabels } from '../../validation/pod/pod-warnings.ts'
import { validateResources } from '../../validation/pod/resources.ts'
import { podRules } from '../../validation/pod/rules.ts'
import { validateTolerations } from '../../validation/pod/scheduling.ts'
import { runtimeClassPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const handlerAt = path('handler')
const scheduling = path('scheduling')

export const runtimeClasses: BuiltInDefinition<RuntimeClass> = {
  printer: runtimeClassPrinter,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  hasGenericMetadata: true,
  validate: classErrors,
  metadataOnUpdate: 'by strategy',
  validateUpdate: (one, old, context) => [
    ...validateAnyMeta(one.metadata, false, subdomainName),
    ...classErrors(one, context),
    ...validateObjectMetaUpdate(one.metadata, old.metadata),
    ...immutable(handlerAt, one.handler ?? '', one.handler === old.handler),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}

function classErrors(one: RuntimeClass, { enabled }: StrategyContext): FieldError[] {
  const { handler = '', overhead, scheduling: where } = one
  return [
    ...(handler === '' ? [required(handlerAt)] : validateLabelText(handlerAt, handler)),
    ...(overhead === undefined
      ? []
      : validateResources(path('overhead'), { limits: overhead.podFixed }, new Set(), podRules(enabled, false))),
    ...validateLabels(where?.nodeSelector ?? {}, scheduling.child('nodeSelector')),
    ...tolerationErrors(scheduling.child('tolerations'), where?.tolerations ?? []),
  ]
}

/** kube-apiserver checks the tolerations of a class as if no feature gate of tolerations was on. */
function tolerationErrors(at: FieldPath, tolerations: readonly Toleration[]): FieldError[] {
  const keyOf = ({ key, operator, value, effect }: Toleration) => JSON.stringify([key, operator, value, effect])
  const repeats = repeatsIn(tolerations.map(keyOf))
  return [
    ...validateTolerations(at, tolerations, { enabled: () => false }),
    ...errorsOf(tolerations, (one, index) =>
      repeats.has(index) ? [duplicate(at.index(index), internalJson('io.k8s.api.core.v1.Toleration', one))] : [],
    ),
  ]
}

function warnings({ scheduling: where }: RuntimeClass): string[] {
  return Object.keys(where?.nodeSelector ?? {})
    .sort()
    .filter((key) => Object.hasOwn(deprecatedNodeLabels, key))
    .map((key) => `${scheduling.child('nodeSelector')}: ${ownValue(deprecatedNodeLabels, key)}`)
}
