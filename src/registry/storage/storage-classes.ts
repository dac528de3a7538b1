import { eachPart, kept, mapNames, mapParts } from '../../base/parts.ts'
import { MAX_PROBLEMS } from '../../api/status.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import type { TopologySelectorTerm } from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, notSupported, path, required } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import { sentField } from '../../schema/emptied.ts'
import { repeatsInParts } from '../../base/lookup.ts'
import { sortedTexts } from '../../base/name-order.ts'
import { immutable, immutableNamed, validateQualifiedName } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import { deprecatedNodeLabels } from '../../validation/pod/pod-warnings.ts'
import { storageClassPrinter } from '../../codec/table/storage.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { sameTexts } from '../../validation/same-value.ts'
import { sortedMap } from '../../validation/sorted-map.ts'
import { driverErrors, parameterErrors } from './class-rules.ts'
import { classRules } from '../core/volumes/volume-work.ts'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']
const topologies = path('allowedTopologies')

export const storageClasses: BuiltInDefinition<StorageClass> = {
  printer: storageClassPrinter,
  workloadWork: classRules,
  validate: classErrors,
  metadataOnUpdate: 'by strategy',
  validateUpdate: (now, old) => [
    ...validateObjectMeta(now.metadata, false, subdomainName),
    ...classErrors(now),
    ...validateKindMetaUpdate(now.metadata, old.metadata),
    ...immutable(
      path('parameters'),
      () => sentField(now, 'parameters') && sortedMap(now.parameters),
      sameTexts(now.parameters, old.parameters),
    ),
    ...immutable(path('provisioner'), now.provisioner ?? '', now.provisioner === old.provisioner),
    ...immutableNamed(path('reclaimPolicy'), now.reclaimPolicy, old.reclaimPolicy),
    ...immutableNamed(path('volumeBindingMode'), now.volumeBindingMode, old.volumeBindingMode),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}

function classErrors(one: StorageClass): FieldError[] {
  const { reclaimPolicy, volumeBindingMode: mode } = one
  const modeAt = path('volumeBindingMode')
  return [
    ...driverErrors(path('provisioner'), one.provisioner),
    ...parameterErrors(path('parameters'), one.parameters),
    ...(reclaimPolicy && !reclaimPolicies.includes(reclaimPolicy)
      ? [notSupported(path('reclaimPolicy'), reclaimPolicy, reclaimPolicies)]
      : []),
    ...(mode === undefined
      ? [required(modeAt)]
      : bindingModes.includes(mode)
        ? []
        : [notSupported(modeAt, mode, bindingModes)]),
    ...topologyErrors(one.allowedTopologies ?? []),
  ]
}

function topologyErrors(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const keys = mapParts(terms, keyOf)
  const times = kept(terms, () => new Map<string, number>())
  return errorsOf(terms, (term, index) => {
    const at = topologies.index(index).child('matchLabelExpressions')
    const wrong = termErrors(at, term)
    // counts after the loops of the term, because the walk may repeat them
    const before = times.get(keys[index]!) ?? 0
    times.set(keys[index]!, before + 1)
    // kube-apiserver also compares with a number of empty terms equal to the number of terms
    const repeats = keys[index] === EMPTY ? terms.length + before : before
    // kube-apiserver reports a term once for each equal one before it, so the number of errors grows with the square
    const reported = Math.min(repeats, MAX_PROBLEMS)
    return [...wrong, ...Array.from({ length: reported }, () => duplicate(at, ''))]
  })
}

const EMPTY = '[]'

/** Two terms are equal if they name the same values of the same labels. */
function keyOf({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const valuesByKey = kept(matchLabelExpressions, () => new Map<string, string>())
  eachPart(matchLabelExpressions, ({ key = '', values = [] }) => {
    valuesByKey.set(
      key,
      setText(values, (value) => JSON.stringify(value)),
    )
  })
  return setText(
    mapParts(matchLabelExpressions, ({ key = '' }) => key),
    (key) => `${JSON.stringify(key)}:${valuesByKey.get(key)}`,
  )
}

const setText = (texts: readonly string[], written: (text: string) => string): string =>
  `[${mapNames(texts, (all) => sortedTexts([...new Set(all)]), written).join(',')}]`

function termErrors(at: FieldPath, { matchLabelExpressions = [] }: TopologySelectorTerm): FieldError[] {
  const repeatedKeys = repeatsInParts(mapParts(matchLabelExpressions, ({ key = '' }) => key))
  return errorsOf(matchLabelExpressions, ({ key = '', values = [] }, index) => {
    const here = at.index(index)
    const repeats = repeatsInParts(values)
    return [
      ...(values.length === 0 ? [required(here.child('values'))] : []),
      ...errorsOf(values, (value, place) =>
        repeats.has(place) ? [duplicate(here.child('values').index(place), value)] : [],
      ),
      ...validateQualifiedName(here.child('key'), key),
      ...(repeatedKeys.has(index) ? [duplicate(here.child('key'), key)] : []),
    ]
  })
}

function warnings({ allowedTopologies = [] }: StorageClass): string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key = '' }, place) => {
      const text = ownValue(deprecatedNodeLabels, key)
      const at = topologies.index(index).child('matchLabelExpressions').index(place).child('key')
      return text === undefined ? [] : [`${at}: ${text}`]
    }),
  )
}
