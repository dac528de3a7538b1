import type { ReplicationController, ReplicationControllerSpec } from '../../api/core/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { path, required } from '../../api/field.ts'
import { nonNegative } from '../../validation/field-rules.ts'
import { subdomainName } from '../../validation/names.ts'
import { templateRules, validateRunningTemplate } from '../../validation/pod/pod-template.ts'
import { hostnameWarnings, templateWarnings } from '../../validation/pod/pod-warnings.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { validateReplicaCounts } from '../apps/workload.ts'
import { replicationControllerPrinter } from '../../codec/table/core.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { labelsOfTemplate } from '../template-labels.ts'
import { dropDisabledPodFields } from './pods/pod-disabled-fields.ts'
import { scalableWork } from '../autoscaling/autoscaled-work.ts'
import { itself } from '../work/work.ts'
import { countEvaluator } from '../quota/count-evaluator.ts'

const spec = path('spec')
const status = path('status')

export const replicationControllers: BuiltInDefinition<ReplicationController> = {
  defaults: { v1: defaultRule<ReplicationController>(applyDefaults) },
  podTemplate: ({ spec }) => spec?.template,
  printer: replicationControllerPrinter,
  quota: countEvaluator('count/replicationcontrollers', 'replicationcontrollers'),
  workloadWork: [itself('replication-controller'), scalableWork],
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  storagePrefix: 'controllers',
  // kube-apiserver's rule for this name counts bytes, says so in its message, and does not check a generateName
  nameRule: (name, prefix) =>
    prefix
      ? []
      : subdomainName(name, false).map((text) => text.replace('no more than 253 characters', 'no more than 253 bytes')),
  prepareForCreate(controller, { enabled }) {
    dropDisabledPodFields(controller.spec?.template?.spec, undefined, enabled)
  },
  prepareForUpdate(controller, old, { enabled }) {
    dropDisabledPodFields(controller.spec?.template?.spec, old.spec?.template?.spec, enabled)
  },
  validate: (controller, context) => validateSpec(controller.spec ?? {}, templateRules(context)),
  validateUpdate: (controller, old, context) =>
    validateSpec(controller.spec ?? {}, templateRules(context, old.spec?.template)),
  selectableFields: (controller) => ({ 'status.replicas': String(controller.status?.replicas ?? 0) }),
  warningsOnCreate: (controller) => [
    ...hostnameWarnings(controller.metadata.name ?? '', 'Pod names and hostnames'),
    ...(controller.spec?.template ? templateWarnings(spec.child('template'), controller.spec.template) : []),
  ],
  // as in kube-apiserver, the warnings are about the stored template
  warningsOnUpdate: (controller, old) =>
    controller.metadata.generation === old.metadata.generation || old.spec?.template === undefined
      ? []
      : templateWarnings(spec.child('template'), old.spec.template),
  subresources: {
    status: {
      prepareForUpdate: labelsOfTemplate,
      validateUpdate: ({ status: found = {} }) => validateReplicaCounts(status, found),
    },
  },
}

function validateSpec(controller: ReplicationControllerSpec, rules: PodRules): FieldError[] {
  const { selector = {}, template, replicas, minReadySeconds } = controller
  const here = spec.child('template')
  return [
    ...nonNegative(spec.child('minReadySeconds'), minReadySeconds),
    ...(Object.keys(selector).length === 0 ? [required(spec.child('selector'))] : []),
    ...(replicas === undefined ? [required(spec.child('replicas'))] : nonNegative(spec.child('replicas'), replicas)),
    ...(template === undefined
      ? [required(here)]
      : validateRunningTemplate(here, template, { matchLabels: selector }, rules, 'ReplicationController')),
  ]
}

const isEmpty = (map: Record<string, string> | undefined) => map === undefined || Object.keys(map).length === 0

function applyDefaults(controller: ReplicationController): void {
  const { spec } = controller
  const labels = spec!.template?.metadata?.labels
  if (labels !== undefined && isEmpty(spec!.selector)) spec!.selector = { ...labels }
  labelsOfTemplate(controller)
}
