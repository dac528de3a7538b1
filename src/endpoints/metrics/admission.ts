import { admissionMeasurements } from '../../metrics/admission.ts'
import { measurementsOf } from '../../metrics/measurements.ts'
import type { ApiRequest } from '../../request/context.ts'
import type { Row } from './identity.ts'

/** Metrics of plugins, policies and webhooks. */
export function admissionRows(request: ApiRequest): Row[] {
  const admission = admissionMeasurements(request)
  const { policyChecks, policyTimes } = measurementsOf(request)
  return [
    [
      'apiserver_admission_controller_admission_duration_seconds',
      'histogram',
      'Time that each plugin of admission took.',
      admission.steps.pluginSamples(),
    ],
    [
      'apiserver_admission_match_condition_evaluation_errors_total',
      'counter',
      'Match conditions of which it could not be told whether they hold.',
      admission.conditions.errors.samples(),
    ],
    [
      'apiserver_admission_match_condition_evaluation_seconds',
      'histogram',
      'Time that match conditions took which did not all hold.',
      admission.conditions.durations.samples(),
    ],
    [
      'apiserver_admission_match_condition_exclusions_total',
      'counter',
      'Requests that webhooks were not asked about because of their match conditions.',
      admission.conditions.exclusions.samples(),
    ],
    [
      'apiserver_admission_step_admission_duration_seconds',
      'histogram',
      'Time that each step of admission took.',
      admission.steps.samples(),
    ],
    [
      'apiserver_admission_webhook_admission_duration_seconds',
      'histogram',
      'Time that each admission webhook took.',
      admission.webhooks.samples(),
    ],
    [
      'apiserver_admission_webhook_fail_open_count',
      'counter',
      'Calls of admission webhooks that failed and were passed over.',
      admission.webhookFailOpens.samples(),
    ],
    [
      'apiserver_admission_webhook_rejection_count',
      'counter',
      'Requests that admission webhooks rejected.',
      admission.webhookRejections.samples(),
    ],
    [
      'apiserver_admission_webhook_request_total',
      'counter',
      'Calls of admission webhooks.',
      admission.webhookRequests.samples(),
    ],
    [
      'apiserver_mutating_admission_policy_check_duration_seconds',
      'histogram',
      'Time that they took.',
      policyTimes.mutating.samples(),
    ],
    [
      'apiserver_mutating_admission_policy_check_total',
      'counter',
      'Mutations of admission policies that were made, or failed.',
      policyChecks.mutating.samples(),
    ],
    [
      'apiserver_validating_admission_policy_check_duration_seconds',
      'histogram',
      'Time that the expressions of their policies took for a request.',
      policyTimes.validating.samples(),
    ],
    [
      'apiserver_validating_admission_policy_check_total',
      'counter',
      'Validations of admission policies that denied, warned, were noted, or failed and were ignored.',
      policyChecks.validating.samples(),
    ],
    [
      'pod_security_errors_total',
      'counter',
      'Pods that could not be judged, or by the strictest standard only.',
      admission.podSecurity.errors.samples(),
    ],
    ['pod_security_evaluations_total', 'counter', 'Pods judged.', admission.podSecurity.evaluations.samples()],
    ['pod_security_exemptions_total', 'counter', 'Requests exempt.', admission.podSecurity.exemptions.samples()],
  ]
}
