import { nextInt64 } from '../../go/int.ts'
import { without } from '../../patch/reset-fields.ts'
import type { Deployment, DeploymentSpec, DeploymentStatus } from '../../api/apps/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import {
  amountOf,
  atMost100Percent,
  immutable,
  nonNegative,
  validateIntOrPercent,
} from '../../validation/field-rules.ts'
import { internalJson, selectorJson } from '../../validation/pod/internal-json.ts'
import { hostnameWarnings, templateWarnings } from '../../validation/pod/pod-warnings.ts'
import { templateRules } from '../../validation/pod/pod-template.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { sameSelector, sameTexts } from '../../validation/same-value.ts'
import { deploymentPrinter } from '../../codec/table/apps.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { notMoreThan, validateCollisionCount, validateSelectorAndTemplate } from './workload.ts'
import { scalableWork } from '../autoscaling/autoscaled-work.ts'
import { itself } from '../work/work.ts'

const spec = path('spec')
const status = path('status')

export const deployments: BuiltInDefinition<Deployment> = {
  defaults: { v1: defaultRule<Deployment>(applyDefaults) },
  internalAnnotation: 'deprecated.deployment.rollback.to',
  zero: { members: { spec: { replicas: 0 } } },
  podTemplate: ({ spec }) => spec?.template,
  printer: deploymentPrinter,
  workloadWork: [itself('deployment'), scalableWork],
  hasGeneration: true,
  resetFields: { status: without(['spec'], ['metadata', 'labels']) },
  prepareForCreate(deployment, { enabled }) {
    dropDisabledPodFields(deployment.spec?.template?.spec, undefined, enabled)
  },
  prepareForUpdate(deployment, old, { enabled }) {
    dropDisabledPodFields(deployment.spec?.template?.spec, old.spec?.template?.spec, enabled)
    // the controller copies annotations to ReplicaSets, so changed annotations count too
    if (!sameTexts(deployment.metadata.annotations, old.metadata.annotations))
      deployment.metadata.generation = nextInt64(old.metadata.generation ?? 0)
  },
  validate: (deployment, context) => validateSpec(deployment.spec ?? {}, templateRules(context)),
  validateUpdate: (deployment, old, context) => [
    ...validateSpec(deployment.spec ?? {}, templateRules(context, old.spec?.template)),
    ...immutable(
      spec.child('selector'),
      () => (deployment.spec?.selector ? selectorJson(deployment.spec.selector) : null),
      sameSelector(deployment.spec?.selector, old.spec?.selector),
    ),
  ],
  warningsOnCreate: (deployment) => [
    ...hostnameWarnings(deployment.metadata.name ?? '', 'Pod names and hostnames'),
    ...templateWarnings(spec.child('template'), deployment.spec?.template ?? {}),
  ],
  warningsOnUpdate: (deployment, old) =>
    deployment.metadata.generation === old.metadata.generation
      ? []
      : templateWarnings(spec.child('template'), deployment.spec?.template ?? {}),
  subresources: {
    status: {
      prepareForUpdate(deployment, old, { enabled }) {
        if (old.metadata.labels === undefined) delete deployment.metadata.labels
        else deployment.metadata.labels = old.metadata.labels
        const gate = 'DeploymentReplicaSetTerminatingReplicas'
        if (!enabled(gate) && old.status?.terminatingReplicas === undefined)
          delete deployment.status?.terminatingReplicas
      },
      validateUpdate: (deployment, old) => [
        ...validateStatus(deployment.status ?? {}),
        ...validateCollisionCount(status, deployment.status, old.status),
      ],
    },
  },
}

function validateSpec(deployment: DeploymentSpec, rules: PodRules): FieldError[] {
  const { replicas, strategy = {}, minReadySeconds = 0, revisionHistoryLimit, progressDeadlineSeconds } = deployment
  return [
    ...nonNegative(spec.child('replicas'), replicas),
    ...validateSelectorAndTemplate(spec, deployment, rules),
    ...validateStrategy(spec.child('strategy'), strategy),
    ...nonNegative(spec.child('minReadySeconds'), minReadySeconds),
    ...nonNegative(spec.child('revisionHistoryLimit'), revisionHistoryLimit),
    ...nonNegative(spec.child('progressDeadlineSeconds'), progressDeadlineSeconds),
    ...(progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds
      ? [
          invalidValue(
            spec.child('progressDeadlineSeconds'),
            progressDeadlineSeconds,
            'must be greater than minReadySeconds',
          ),
        ]
      : []),
  ]
}

function validateStrategy(at: FieldPath, strategy: NonNullable<DeploymentSpec['strategy']>): FieldError[] {
  const { type, rollingUpdate } = strategy
  const rolling = at.child('rollingUpdate')
  if (type === 'Recreate')
    return rollingUpdate === undefined
      ? []
      : [forbiddenField(rolling, "may not be specified when strategy `type` is 'Recreate'")]
  if (type !== 'RollingUpdate') {
    const shown = internalJson('io.k8s.api.apps.v1.DeploymentStrategy', strategy)
    return [notSupported(at, shown, ['Recreate', 'RollingUpdate'])]
  }
  if (rollingUpdate === undefined) return [required(rolling, 'this should be defaulted and never be nil')]
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate
  return [
    ...validateIntOrPercent(rolling.child('maxUnavailable'), maxUnavailable),
    ...validateIntOrPercent(rolling.child('maxSurge'), maxSurge),
    ...(amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0
      ? [invalidValue(rolling.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...atMost100Percent(rolling.child('maxUnavailable'), maxUnavailable),
  ]
}

const counts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
] as const

const validateStatus = (found: DeploymentStatus): FieldError[] => [
  ...counts.flatMap((field) => nonNegative(status.child(field), found[field])),
  ...notMoreThan(
    status,
    found,
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
    'replicas',
    'status.replicas',
  ),
  ...notMoreThan(status, found, ['availableReplicas'], 'readyReplicas', 'readyReplicas'),
]

function applyDefaults({ spec }: Deployment): void {
  const deployment = spec!
  deployment.replicas ??= 1
  const strategy = deployment.strategy!
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= '25%'
    strategy.rollingUpdate.maxSurge ??= '25%'
  }
  deployment.revisionHistoryLimit ??= 10
  deployment.progressDeadlineSeconds ??= 600
}
