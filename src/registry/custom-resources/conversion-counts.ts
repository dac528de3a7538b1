/** The metrics of conversion webhooks in this isolate. */
import { perTenant } from '../../tenancy/tenant-state.ts'
import { Counters, Histograms } from '../../metrics/series.ts'

const REVIEW_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60]
const DEFINITION_BUCKETS = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384,
]

/** Bound: the number of series that Counters and Histograms keep. */
export const conversionCounts = perTenant('counts', () => ({
  requests: new Counters(),
  durations: new Histograms(REVIEW_BUCKETS),
  byDefinition: new Histograms(DEFINITION_BUCKETS),
}))

/** Kinds of failure, under the names of kube-apiserver. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

interface Review {
  readonly definition: string
  readonly from: string
  readonly to: string
}

/** @param failure undefined if the conversion succeeded */
export function countConversion(
  { requests, durations, byDefinition }: ReturnType<typeof conversionCounts>,
  { definition, from, to }: Review,
  failure: ConversionFailure | undefined,
  seconds: number,
): void {
  const labels = { failure_type: failure ?? '', result: failure === undefined ? 'success' : 'failure' }
  requests.add(labels)
  durations.observe(labels.failure_type, seconds, () => labels)
  const succeeded = String(failure === undefined)
  byDefinition.observe(`${definition} ${from} ${to} ${succeeded}`, seconds, () => ({
    crd_name: definition,
    from_version: from,
    succeeded,
    to_version: to,
  }))
}
