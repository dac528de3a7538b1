/** This isolate's metrics of authorization. endpoints/metrics/identity.ts shows them under kube-apiserver's names. */
import { ATTEMPT_BUCKETS } from '../authentication/authentication-counts.ts'
import { Counters, Histograms } from '../metrics/series.ts'
import { perTenant } from '../tenancy/tenant-state.ts'

/** Seconds: the default buckets of Prometheus' clients. */
const WEBHOOK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const CONDITION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]

/** Bound: the series that Counters and Histograms keep. */
export const authorizationCounts = perTenant('counts', () => ({
  attempts: new Counters(),
  durations: new Histograms([...ATTEMPT_BUCKETS]),
  decisions: new Counters(),
  webhooks: new Counters(),
  webhookTimes: new Histograms(WEBHOOK_BUCKETS),
  webhookFailOpens: new Counters(),
  conditionErrors: new Counters(),
  conditionExclusions: new Counters(),
  conditionTimes: new Histograms(CONDITION_BUCKETS),
}))
