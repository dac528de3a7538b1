/** HorizontalPodAutoscalers, in the form of autoscaling/v2. */
import { append } from '../../base/append.ts'
import type {
  ContainerResourceMetricSource,
  CrossVersionObjectReference,
  ExternalMetricSource,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
  ObjectMetricSource,
  PodsMetricSource,
  ResourceMetricSource,
} from '../../api/autoscaling/v2.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, named, notSupported, path, required } from '../../api/field.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { builtInType } from '../../schema/built-in.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import { defaultAutoscalerV1, defaultAutoscalerV2 } from './defaults.ts'
import { Quantity } from '../../schema/quantity.ts'
import { nonNegative, NOT_NEGATIVE, problems, requiredText, validateLabelText } from '../../validation/field-rules.ts'
import { pathSegmentName } from '../../validation/names.ts'
import { validateContainerResourceName } from '../../validation/pod/resources.ts'
import { horizontalPodAutoscalerPrinter } from '../../codec/table/autoscaling.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import type { StrategyContext } from '../strategy.ts'
import { conversion } from '../conversion.ts'
import { autoscalerWork } from './autoscaled-work.ts'
import { fromV1, toV1, withoutV1Annotations } from './conversion.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_PERIOD_SECONDS = 1800
const MAX_WINDOW_SECONDS = 3600

type Autoscaler = HorizontalPodAutoscaler & KubeObject
type ApiVersionRule = (apiVersion: string) => string | undefined

export const horizontalPodAutoscalers: BuiltInDefinition<Autoscaler> = {
  defaults: { v1: defaultRule(defaultAutoscalerV1), v2: defaultRule(defaultAutoscalerV2) },
  printer: horizontalPodAutoscalerPrinter,
  workloadWork: [autoscalerWork],
  conversions: {
    'autoscaling/v1': conversion(fromV1, toV1),
    'autoscaling/v2': conversion(withoutV1Annotations),
  },
  validate: ({ spec = {} }, { enabled }) =>
    specErrors(spec, path('spec'), {
      lowestMinimum: enabled('HPAScaleToZero') ? 0 : 1,
      targetVersion: targetVersionRule(spec),
      metricVersion: versionProblem,
    }),
  validateUpdate: ({ spec = {} }, { spec: old = {} }, { enabled }) =>
    specErrors(spec, path('spec'), {
      lowestMinimum: old.minReplicas === 0 || enabled('HPAScaleToZero') ? 0 : 1,
      targetVersion: isSameKind(spec.scaleTargetRef, old.scaleTargetRef) ? anyVersion : targetVersionRule(spec),
      metricVersion: old.metrics?.some(hasWrongVersion) ? anyVersion : versionProblem,
    }),
  completeOnCreate: complete,
  completeOnUpdate: complete,
  subresources: {
    status: {
      validateUpdate: ({ status = {} }) => [
        ...nonNegative(path('status', 'currentReplicas'), status.currentReplicas),
        ...nonNegative(path('status', 'desiredReplicas'), status.desiredReplicas),
      ],
    },
  },
}

/** Sets the defaults of v2. Validation runs before, on the behavior as the annotation of a v1 object has it. */
function complete(autoscaler: Autoscaler, { now, enabled }: StrategyContext): void {
  const type = builtInType('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler')
  const ofKind = { type: type.name, apply: defaultRule(defaultAutoscalerV2) }
  // an object of a built-in type is JSON
  applyDefaults(type, autoscaler as unknown as JsonObject, { now, enabled, ofKind })
}

/** The limits that validation applies. An update may keep stored values beyond them. */
interface Rules {
  readonly lowestMinimum: number
  readonly targetVersion: ApiVersionRule
  readonly metricVersion: ApiVersionRule
}

const anyVersion: ApiVersionRule = () => undefined
const versionProblem: ApiVersionRule = (apiVersion) =>
  apiVersion !== '/' && apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined
const versionOfGroupProblem: ApiVersionRule = (apiVersion) =>
  versionProblem(apiVersion) ?? (/^[^/]+\//.test(apiVersion) ? undefined : 'apiVersion must specify API group')

/** In the core group only ReplicationControllers have a scale. */
const targetVersionRule = ({ scaleTargetRef }: HorizontalPodAutoscalerSpec): ApiVersionRule =>
  scaleTargetRef?.kind === 'ReplicationController' ? versionProblem : versionOfGroupProblem

const isSameKind = (a: CrossVersionObjectReference = {}, b: CrossVersionObjectReference = {}): boolean =>
  (a.apiVersion ?? '') === (b.apiVersion ?? '') && (a.kind ?? '') === (b.kind ?? '')

const hasWrongVersion = ({ type, object }: MetricSpec): boolean =>
  type === 'Object' && object !== undefined && versionProblem(object.describedObject?.apiVersion ?? '') !== undefined

function specErrors(spec: HorizontalPodAutoscalerSpec, at: FieldPath, rules: Rules): FieldError[] {
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {}, metrics = [], behavior = {} } = spec
  const errors: FieldError[] = []
  if (minReplicas !== undefined && minReplicas < rules.lowestMinimum)
    errors.push(atLeast(at.child('minReplicas'), minReplicas, rules.lowestMinimum))
  const maxAt = at.child('maxReplicas')
  if (maxReplicas === 0) errors.push(required(maxAt, 'must be set and greater than 0'))
  else if (maxReplicas < 0) errors.push(atLeast(maxAt, maxReplicas, 1))
  if (minReplicas !== undefined && maxReplicas < minReplicas) errors.push(atLeast(maxAt, maxReplicas, '`minReplicas`'))
  return [
    ...errors,
    ...referenceErrors(scaleTargetRef, at.child('scaleTargetRef'), rules.targetVersion),
    ...errorsOf(metrics, (metric, index) => metricErrors(metric, at.child('metrics').index(index), rules)),
    ...(minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')
      ? [
          forbiddenField(
            at.child('metrics'),
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
    ...scalingErrors(behavior.scaleUp, at.child('behavior', 'scaleUp')),
    ...scalingErrors(behavior.scaleDown, at.child('behavior', 'scaleDown')),
  ]
}

const atLeast = (at: FieldPath, value: number, lowest: number | string): FieldError =>
  invalidValue(at, value, `must be greater than or equal to ${lowest}`)

function referenceErrors(
  { kind, name, apiVersion = '' }: CrossVersionObjectReference,
  at: FieldPath,
  versionRule: ApiVersionRule,
): FieldError[] {
  const versionText = versionRule(apiVersion)
  return [
    ...segmentErrors(at.child('kind'), kind),
    ...segmentErrors(at.child('name'), name),
    ...(versionText === undefined ? [] : [invalidValue(at.child('apiVersion'), apiVersion, versionText)]),
  ]
}

/** The name is part of a URL path. */
const segmentErrors = (at: FieldPath, value: string | undefined, detail = ''): FieldError[] =>
  value ? problems(at, value, pathSegmentName(value, false)) : [required(at, detail)]

type SourceField = 'object' | 'external' | 'pods' | 'resource' | 'containerResource'
/** The source of each type of metric. Messages list the types in this order. */
const fieldOfType: Readonly<Record<string, SourceField>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}
const sourceFields: readonly SourceField[] = ['object', 'external', 'pods', 'resource', 'containerResource']

function metricErrors(metric: MetricSpec, at: FieldPath, rules: Rules): FieldError[] {
  const { type = '' } = metric
  const errors: FieldError[] = []
  const expected = ownValue(fieldOfType, type)
  const unknown = notSupported(at.child('type'), type, Object.keys(fieldOfType))
  if (type === '') errors.push(required(at.child('type'), 'must specify a metric source type'))
  if (expected === undefined) errors.push(unknown)
  const present = sourceFields.filter((field) => metric[field] !== undefined)
  append(errors, sourceErrors(metric, present[0], at, rules))
  if (expected === undefined) errors.push(unknown)
  else if (metric[expected] === undefined)
    errors.push(required(at.child(expected), 'must populate information for the given metric source'))
  if (present.length > 1)
    for (const field of present)
      if (field !== expected) errors.push(forbiddenField(at.child(field), 'must populate the given metric source only'))
  return errors
}

/** Validates only the first source, because a metric may have no other. */
function sourceErrors(metric: MetricSpec, field: SourceField | undefined, at: FieldPath, rules: Rules): FieldError[] {
  switch (field) {
    case 'object':
      return objectErrors(metric.object!, at.child(field), rules.metricVersion)
    case 'external':
      return externalErrors(metric.external!, at.child(field))
    case 'pods':
      return podsErrors(metric.pods!, at.child(field))
    case 'resource':
      return resourceErrors(metric.resource!, at.child(field))
    case 'containerResource':
      return containerResourceErrors(metric.containerResource!, at.child(field))
    case undefined:
      return []
  }
}

function objectErrors(
  { describedObject = {}, metric = {}, target = {} }: ObjectMetricSource,
  at: FieldPath,
  versionRule: ApiVersionRule,
): FieldError[] {
  const errors = [
    ...referenceErrors(describedObject, at.child('describedObject'), versionRule),
    ...identifierErrors(metric, at.child('metric')),
    ...targetErrors(target, at.child('target')),
  ]
  if (target.value === undefined && target.averageValue === undefined)
    errors.push(required(at.child('target', 'averageValue'), 'must set either a target value or averageValue'))
  return errors
}

function externalErrors({ metric = {}, target = {} }: ExternalMetricSource, at: FieldPath): FieldError[] {
  const errors = [...identifierErrors(metric, at.child('metric')), ...targetErrors(target, at.child('target'))]
  const hasValue = target.value !== undefined
  if (hasValue !== (target.averageValue !== undefined)) return errors
  return [
    ...errors,
    hasValue
      ? forbiddenField(at.child('target', 'value'), 'may not set both a target value for metric and a per-pod target')
      : required(at.child('target', 'averageValue'), 'must set either a target value for metric or a per-pod target'),
  ]
}

function podsErrors({ metric = {}, target = {} }: PodsMetricSource, at: FieldPath): FieldError[] {
  const errors = [...identifierErrors(metric, at.child('metric')), ...targetErrors(target, at.child('target'))]
  if (target.averageValue === undefined)
    errors.push(required(at.child('target', 'averageValue'), 'must specify a positive target averageValue'))
  return errors
}

const resourceErrors = ({ name, target = {} }: ResourceMetricSource, at: FieldPath): FieldError[] => [
  ...requiredText(at.child('name'), name, 'must specify a resource name'),
  ...usageErrors(target, at.child('target')),
]

const containerResourceErrors = (
  { name, container, target = {} }: ContainerResourceMetricSource,
  at: FieldPath,
): FieldError[] => [
  ...(name
    ? validateContainerResourceName(at.child('name'), name)
    : [required(at.child('name'), 'must specify a resource name')]),
  ...(container
    ? validateLabelText(at.child('container'), container)
    : [required(at.child('container'), 'must specify a container')]),
  ...usageErrors(target, at.child('target')),
]

/** A target is either a share of the request or an amount. */
function usageErrors(target: MetricTarget, at: FieldPath): FieldError[] {
  const errors = targetErrors(target, at)
  const hasUtilization = target.averageUtilization !== undefined
  if (hasUtilization !== (target.averageValue !== undefined)) return errors
  return [
    ...errors,
    hasUtilization
      ? forbiddenField(at.child('averageValue'), 'may not set both a target raw value and a target utilization')
      : required(at.child('averageUtilization'), 'must set either a target raw value or a target utilization'),
  ]
}

function targetErrors(target: MetricTarget, at: FieldPath): FieldError[] {
  const { type = '', averageUtilization } = target
  const errors = [...requiredText(at.child('type'), type, 'must specify a metric target type')]
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalidValue(at.child('type'), named(type), 'must be either Utilization, Value, or AverageValue'))
  for (const field of ['value', 'averageValue'] as const) {
    const text = target[field]
    if (text !== undefined && Quantity.parse(text).sign <= 0)
      errors.push(invalidValue(at.child(field), text, 'must be positive'))
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalidValue(at.child('averageUtilization'), averageUtilization, 'must be greater than 0'))
  return errors
}

const identifierErrors = ({ name }: MetricIdentifier, at: FieldPath): FieldError[] =>
  segmentErrors(at.child('name'), name, 'must specify a metric name')

function scalingErrors(rules: HPAScalingRules | undefined, at: FieldPath): FieldError[] {
  if (rules === undefined) return []
  const { stabilizationWindowSeconds: seconds, selectPolicy, policies = [], tolerance } = rules
  const errors: FieldError[] = []
  if (seconds !== undefined && seconds < 0)
    errors.push(atLeast(at.child('stabilizationWindowSeconds'), seconds, 'zero'))
  if (seconds !== undefined && seconds > MAX_WINDOW_SECONDS)
    errors.push(
      invalidValue(
        at.child('stabilizationWindowSeconds'),
        seconds,
        `must be less than or equal to ${MAX_WINDOW_SECONDS}`,
      ),
    )
  const choices = ['Disabled', 'Max', 'Min']
  if (selectPolicy !== undefined && !choices.includes(selectPolicy))
    errors.push(notSupported(at.child('selectPolicy'), selectPolicy, choices))
  if (policies.length === 0) errors.push(required(at.child('policies'), 'must specify at least one Policy'))
  append(
    errors,
    errorsOf(policies, (policy, index) => policyErrors(policy, at.child('policies').index(index))),
  )
  if (tolerance !== undefined && Quantity.parse(tolerance).sign < 0)
    errors.push(invalidValue(at.child('tolerance'), tolerance, NOT_NEGATIVE))
  return errors
}

function policyErrors({ type = '', value = 0, periodSeconds = 0 }: HPAScalingPolicy, at: FieldPath): FieldError[] {
  const TOO_SMALL = 'must be greater than zero'
  const types = ['Percent', 'Pods']
  const errors: FieldError[] = []
  if (!types.includes(type)) errors.push(notSupported(at.child('type'), type, types))
  if (value <= 0) errors.push(invalidValue(at.child('value'), value, TOO_SMALL))
  if (periodSeconds <= 0) errors.push(invalidValue(at.child('periodSeconds'), periodSeconds, TOO_SMALL))
  if (periodSeconds > MAX_PERIOD_SECONDS)
    errors.push(
      invalidValue(at.child('periodSeconds'), periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`),
    )
  return errors
}
