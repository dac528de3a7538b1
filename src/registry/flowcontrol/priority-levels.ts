import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import { append } from '../../base/append.ts'
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../api/flowcontrol/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { priorityLevelConfigurationPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { conditionErrors, conditionsAlone } from './conditions.ts'
import { EXEMPT, mandatoryPriorityLevels } from './mandatory-objects.ts'
import { work } from '../work/work.ts'

const SPEC_TYPE = 'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec'
const NOT_NEGATIVE = 'must be a non-negative integer'

export const priorityLevels: BuiltInDefinition<PriorityLevelConfiguration & KubeObject> = {
  printer: priorityLevelConfigurationPrinter,
  // FlowSchemas have a condition that depends on whether their level exists
  work: ({ object, old }) => [
    ...(object === undefined || old === undefined ? work('flow-schema-status', '') : []),
    ...work('flow-object-written', ''),
  ],
  hasGeneration: true,
  resetFields: { status: withoutSpecAndMetadata },
  validate: priorityLevelErrors,
  validateUpdate: priorityLevelErrors,
  metadataOnUpdate: 'as new',
  subresources: { status: conditionsAlone },
}

/** A beta version kept values in this annotation that its fields could not express. */
const PRESERVED_ZERO = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

function priorityLevelErrors({ metadata, spec = {}, status }: PriorityLevelConfiguration & KubeObject): FieldError[] {
  const { name = '', annotations = {} } = metadata
  const at = path('spec')
  return [
    ...(Object.hasOwn(annotations, PRESERVED_ZERO)
      ? [forbiddenField(path('metadata', 'annotations'), `annotation '${PRESERVED_ZERO}' is forbidden`)]
      : []),
    ...specErrors(name, spec, at),
    ...mandatoryErrors(name, spec, at),
    ...conditionErrors(status?.conditions),
  ]
}

function mandatoryErrors(name: string, spec: PriorityLevelConfigurationSpec, at: FieldPath): FieldError[] {
  const fixed = mandatoryPriorityLevels.get(name)
  if (fixed === undefined) return []
  const compared = name === EXEMPT ? { ...spec } : spec
  if (name === EXEMPT) delete compared.exempt
  if (sameValue(SPEC_TYPE, compared, fixed)) return []
  const free = name === EXEMPT ? " except the 'spec.exempt' field" : ''
  return [invalidValue(at, internalJson(SPEC_TYPE, spec), `spec of '${name}'${free} must equal the fixed value`)]
}

function specErrors(
  name: string,
  { type = '', limited, exempt }: PriorityLevelConfigurationSpec,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if ((name === EXEMPT) !== (type === 'Exempt'))
    errors.push(invalidValue(at.child('type'), type, `must be 'Exempt' if and only if \`name\` is '${EXEMPT}'`))
  switch (type) {
    case 'Exempt':
      if (limited !== undefined)
        errors.push(forbiddenField(at.child('limited'), 'must be nil if the type is not Limited'))
      if (exempt !== undefined) append(errors, exemptErrors(exempt, at.child('exempt')))
      return errors
    case 'Limited':
      if (exempt !== undefined) errors.push(forbiddenField(at.child('exempt'), 'must be nil if the type is Limited'))
      if (limited === undefined) errors.push(required(at.child('limited'), 'must not be empty when type is Limited'))
      else append(errors, limitedErrors(limited, at.child('limited')))
      return errors
    default:
      return [...errors, ...typeErrors(type, ['Exempt', 'Limited'], at.child('type'))]
  }
}

const typeErrors = (type: string, known: readonly string[], at: FieldPath): FieldError[] => [
  type === '' ? required(at) : notSupported(at, type, known),
]

const shareErrors = (shares: number | undefined, at: FieldPath): FieldError[] =>
  shares !== undefined && shares < 0 ? [invalidValue(at.child('nominalConcurrencyShares'), shares, NOT_NEGATIVE)] : []

const lendableErrors = (percent: number | undefined, at: FieldPath): FieldError[] =>
  percent !== undefined && (percent < 0 || percent > 100)
    ? [invalidValue(at.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive')]
    : []

const exemptErrors = (exempt: ExemptPriorityLevelConfiguration, at: FieldPath): FieldError[] => [
  ...shareErrors(exempt.nominalConcurrencyShares, at),
  ...lendableErrors(exempt.lendablePercent, at),
]

function limitedErrors(limited: LimitedPriorityLevelConfiguration, at: FieldPath): FieldError[] {
  const { nominalConcurrencyShares, limitResponse = {}, lendablePercent, borrowingLimitPercent } = limited
  const errors = [
    ...shareErrors(nominalConcurrencyShares, at),
    ...responseErrors(limitResponse, at.child('limitResponse')),
    ...lendableErrors(lendablePercent, at),
  ]
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0)
    errors.push(invalidValue(at.child('borrowingLimitPercent'), borrowingLimitPercent, `if specified, ${NOT_NEGATIVE}`))
  return errors
}

function responseErrors({ type = '', queuing }: LimitResponse, at: FieldPath): FieldError[] {
  const queuingAt = at.child('queuing')
  switch (type) {
    case 'Reject':
      if (queuing === undefined) return []
      return [forbiddenField(queuingAt, 'must be nil if limited.limitResponse.type is not Limited')]
    case 'Queue':
      if (queuing !== undefined) return queuingErrors(queuing, queuingAt)
      return [required(queuingAt, 'must not be empty if limited.limitResponse.type is Limited')]
    default:
      return typeErrors(type, ['Queue', 'Reject'], at.child('type'))
  }
}

const MAX_QUEUES = 10_000_000
/** The number of bits of a flow's hash that shuffle sharding may use up. */
const MAX_HASH_BITS = 60

function queuingErrors(queuing: QueuingConfiguration, at: FieldPath): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing
  const POSITIVE = 'must be positive'
  const errors: FieldError[] = []
  const add = (field: keyof QueuingConfiguration, why: string) =>
    errors.push(invalidValue(at.child(field), queuing[field] ?? 0, why))
  if (queueLengthLimit <= 0) add('queueLengthLimit', POSITIVE)
  if (queues <= 0) add('queues', POSITIVE)
  else if (queues > MAX_QUEUES) add('queues', `must not be greater than ${MAX_QUEUES}`)
  if (handSize <= 0) add('handSize', POSITIVE)
  else if (handSize > queues) add('handSize', `should not be greater than queues (${queues})`)
  else if (Math.ceil(Math.log2(queues) * handSize) > MAX_HASH_BITS)
    add(
      'handSize',
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_HASH_BITS}`,
    )
  return errors
}
