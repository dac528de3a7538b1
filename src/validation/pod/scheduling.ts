/** Validates scheduling constraints: node affinity, pod affinity, topology spread, tolerations. */
import { kept } from '../../base/parts.ts'
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, named, notSupported, required } from '../../api/field.ts'
import type { LabelSelector } from '../../api/meta/v1.ts'
import { parseInt64 } from '../../go/int.ts'
import { goQuote } from '../../go/quote.ts'
import { positive, problems, validateQualifiedName } from '../field-rules.ts'
import { validateLabelSelector } from '../label-selectors.ts'
import { dns1123Label, dns1123Subdomain, labelValueProblems } from '../names.ts'
import { oneOf } from './security-context.ts'
import type { PodRules } from './rules.ts'
import { errorsOf } from '../errors-of.ts'

export function validateAffinity(at: FieldPath, affinity: CoreV1.Affinity | undefined, rules: PodRules): FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {}
  return [
    ...(nodeAffinity ? validateNodeAffinity(at.child('nodeAffinity'), nodeAffinity, rules) : []),
    ...(podAffinity ? validatePodAffinity(at.child('podAffinity'), podAffinity, rules) : []),
    ...(podAntiAffinity ? validatePodAffinity(at.child('podAntiAffinity'), podAntiAffinity, rules) : []),
  ]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

function validateNodeAffinity(at: FieldPath, affinity: CoreV1.NodeAffinity, rules: PodRules): FieldError[] {
  const needed = affinity[REQUIRED]
  return [
    ...(needed ? validateNodeSelector(at.child(REQUIRED), needed, rules.allows.nodeAffinityValues) : []),
    ...errorsOf(affinity[PREFERRED] ?? [], ({ weight = 0, preference = {} }, index) => {
      const here = at.child(PREFERRED).index(index)
      return [
        ...validateWeight(here.child('weight'), weight),
        ...validateNodeSelectorTerm(here.child('preference'), preference, true),
      ]
    }),
  ]
}

const validateWeight = (at: FieldPath, weight: number): FieldError[] =>
  weight <= 0 || weight > 100 ? [invalidValue(at, weight, 'must be in the range 1-100')] : []

export function validateNodeSelector(
  at: FieldPath,
  { nodeSelectorTerms = [] }: CoreV1.NodeSelector,
  allowInvalidValues = false,
): FieldError[] {
  const terms = at.child('nodeSelectorTerms')
  if (nodeSelectorTerms.length === 0) return [required(terms, 'must have at least one node selector term')]
  return errorsOf(nodeSelectorTerms, (term, index) =>
    validateNodeSelectorTerm(terms.index(index), term, allowInvalidValues),
  )
}

const validateNodeSelectorTerm = (
  at: FieldPath,
  { matchExpressions = [], matchFields = [] }: CoreV1.NodeSelectorTerm,
  allowInvalidValues: boolean,
): FieldError[] => [
  ...errorsOf(matchExpressions, (requirement, index) =>
    validateRequirement(at.child('matchExpressions').index(index), requirement, allowInvalidValues),
  ),
  ...errorsOf(matchFields, (requirement, index) =>
    validateFieldRequirement(at.child('matchFields').index(index), requirement),
  ),
]

function validateRequirement(
  at: FieldPath,
  { key = '', operator = '', values = [] }: CoreV1.NodeSelectorRequirement,
  allowInvalidValues: boolean,
): FieldError[] {
  const errors: FieldError[] = []
  const list = at.child('values')
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(list, "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(forbiddenField(list, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1)
      errors.push(required(list, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
  } else errors.push(invalidValue(at.child('operator'), named(operator), 'not a valid selector operator'))
  append(errors, validateQualifiedName(at.child('key'), key))
  if (!allowInvalidValues)
    append(
      errors,
      errorsOf(values, (value, index) => problems(list.index(index), value, labelValueProblems(value))),
    )
  return errors
}

function validateFieldRequirement(
  at: FieldPath,
  { key = '', operator = '', values = [] }: CoreV1.NodeSelectorRequirement,
): FieldError[] {
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalidValue(at.child('operator'), named(operator), 'not a valid selector operator'))
  else if (values.length !== 1)
    errors.push(
      required(at.child('values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
    )
  if (key !== 'metadata.name') errors.push(invalidValue(at.child('key'), key, 'not a valid field selector key'))
  else
    append(
      errors,
      errorsOf(values, (value, index) => problems(at.child('values').index(index), value, dns1123Subdomain(value))),
    )
  return errors
}

function validatePodAffinity(at: FieldPath, affinity: CoreV1.PodAffinity, rules: PodRules): FieldError[] {
  return [
    ...errorsOf(affinity[REQUIRED] ?? [], (term, index) => validateTerm(at.child(REQUIRED).index(index), term, rules)),
    ...errorsOf(affinity[PREFERRED] ?? [], ({ weight = 0, podAffinityTerm = {} }, index) => {
      const here = at.child(PREFERRED).index(index)
      return [
        ...validateWeight(here.child('weight'), weight),
        ...validateTerm(here.child('podAffinityTerm'), podAffinityTerm, rules),
      ]
    }),
  ]
}

function validateTerm(at: FieldPath, term: CoreV1.PodAffinityTerm, rules: PodRules): FieldError[] {
  const {
    labelSelector,
    namespaceSelector,
    namespaces = [],
    matchLabelKeys,
    mismatchLabelKeys,
    topologyKey = '',
  } = term
  const selectors = { allowInvalidValues: rules.allows.selectorValues }
  return [
    ...validateLabelSelector(at.child('labelSelector'), labelSelector, selectors),
    ...validateLabelSelector(at.child('namespaceSelector'), namespaceSelector, selectors),
    ...errorsOf(namespaces, (name) => problems(at.child('namespace'), name, dns1123Label(name))),
    ...validateKeys(at, matchLabelKeys, mismatchLabelKeys, labelSelector),
    ...(topologyKey === '' ? [required(at.child('topologyKey'), 'can not be empty')] : []),
    ...validateQualifiedName(at.child('topologyKey'), topologyKey),
  ]
}

/** Validates label keys whose values the server takes from the pod when a client creates it. */
function validateKeys(
  at: FieldPath,
  matching: readonly string[] = [],
  mismatching: readonly string[] = [],
  selector: LabelSelector | undefined,
): FieldError[] {
  const keysAt = (here: FieldPath, keys: readonly string[]): FieldError[] =>
    keys.length === 0
      ? []
      : selector === undefined
        ? [forbiddenField(here, 'must not be specified when labelSelector is not set')]
        : errorsOf(keys, (key, index) => validateQualifiedName(here.index(index), key))
  const errors = [
    ...keysAt(at.child('matchLabelKeys'), matching),
    ...keysAt(at.child('mismatchLabelKeys'), mismatching),
  ]
  const expressions = selector?.matchExpressions ?? []
  const seen = kept(expressions, () => new Set(Object.keys(selector?.matchLabels ?? {})))
  const lastOf = kept(matching, () => new Map(matching.map((key, index) => [key, index])))
  append(
    errors,
    errorsOf(expressions, ({ key = '' }) => {
      const index = lastOf.get(key)
      const isRepeated = seen.has(key)
      seen.add(key)
      return index !== undefined && isRepeated
        ? [invalidValue(at.index(index), key, 'exists in both matchLabelKeys and labelSelector')]
        : []
    }),
  )
  const isMismatching = kept(mismatching, () => new Set(mismatching))
  append(
    errors,
    errorsOf(matching, (key, index) =>
      isMismatching.has(key)
        ? [
            invalidValue(
              at.child('matchLabelKeys').index(index),
              key,
              'exists in both matchLabelKeys and mismatchLabelKeys',
            ),
          ]
        : [],
    ),
  )
  return errors
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway']
const INCLUSION = ['Honor', 'Ignore']

export function validateSpread(
  at: FieldPath,
  constraints: readonly CoreV1.TopologySpreadConstraint[],
  rules: PodRules,
): FieldError[] {
  const pairOf = ({ topologyKey = '', whenUnsatisfiable = '' }: CoreV1.TopologySpreadConstraint): string =>
    JSON.stringify([topologyKey, whenUnsatisfiable])
  const lastOf = kept(constraints, () => new Map(constraints.map((constraint, index) => [pairOf(constraint), index])))
  return errorsOf(constraints, (constraint, index) => {
    const here = at.index(index)
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', minDomains, labelSelector } = constraint
    const errors = positive(here.child('maxSkew'), maxSkew)
    if (topologyKey === '') errors.push(required(here.child('topologyKey'), 'can not be empty'))
    append(errors, oneOf(here.child('whenUnsatisfiable'), whenUnsatisfiable, ACTIONS))
    const isRepeated = lastOf.get(pairOf(constraint))! > index
    if (isRepeated)
      errors.push(duplicate(here.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`))
    if (minDomains !== undefined) {
      append(errors, positive(here.child('minDomains'), minDomains))
      if (whenUnsatisfiable !== 'DoNotSchedule')
        errors.push(
          invalidValue(
            here.child('minDomains'),
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        )
    }
    append(errors, [
      ...oneOf(here.child('nodeAffinityPolicy'), constraint.nodeAffinityPolicy, INCLUSION),
      ...oneOf(here.child('nodeTaintsPolicy'), constraint.nodeTaintsPolicy, INCLUSION),
      ...validateKeys(here, constraint.matchLabelKeys, [], labelSelector),
    ])
    if (!rules.allows.spreadSelectors) append(errors, validateLabelSelector(here.child('labelSelector'), labelSelector))
    return errors
  })
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export const validateTolerations = (
  at: FieldPath,
  tolerations: readonly CoreV1.Toleration[],
  rules: Pick<PodRules, 'enabled'>,
): FieldError[] => errorsOf(tolerations, (toleration, index) => validateToleration(at.index(index), toleration, rules))

function validateToleration(
  at: FieldPath,
  toleration: CoreV1.Toleration,
  rules: Pick<PodRules, 'enabled'>,
): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
  const errors = key === '' ? [] : validateQualifiedName(at.child('key'), key)
  if (key === '' && operator !== 'Exists')
    errors.push(
      invalidValue(
        at.child('operator'),
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    )
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    errors.push(invalidValue(at.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
  append(errors, validateTolerationValue(at, operator, value, rules))
  if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(at.child('effect'), effect, EFFECTS))
  return errors
}

function validateTolerationValue(
  at: FieldPath,
  operator: string,
  value: string,
  rules: Pick<PodRules, 'enabled'>,
): FieldError[] {
  const operatorAt = at.child('operator')
  switch (operator) {
    case '':
    case 'Equal': {
      const texts = labelValueProblems(value)
      return texts.length === 0 ? [] : [invalidValue(operatorAt, value, texts.join(';'))]
    }
    case 'Exists':
      return value === '' ? [] : [invalidValue(operatorAt, value, "value must be empty when `operator` is 'Exists'")]
    case 'Lt':
    case 'Gt':
      if (!rules.enabled('TaintTolerationComparisonOperators'))
        return [notSupported(operatorAt, operator, ['Equal', 'Exists', 'Lt', 'Gt'])]
      return problems(at.child('value'), value, decimalProblems(value))
    default:
      return [notSupported(operatorAt, operator, ['Equal', 'Exists'])]
  }
}

/** kube-apiserver asks for the canonical form, and parses the text besides. */
function decimalProblems(value: string): string[] {
  const found: string[] = []
  if (value === '') found.push('must be non-empty')
  else if (!/^(0|-?[1-9][0-9]*)$/.test(value)) found.push('must be a valid decimal integer in canonical form')
  if (parseInt64(value) === undefined) {
    const why = /^[+-]?[0-9]+$/.test(value) ? 'value out of range' : 'invalid syntax'
    found.push(`strconv.ParseInt: parsing ${goQuote(value)}: ${why}`)
  }
  return found
}
