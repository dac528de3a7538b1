/** This isolate's metrics of authentication. endpoints/metrics/identity.ts shows them under kube-apiserver's names. */
import { Counters, Histograms } from '../metrics/series.ts'
import { perTenant } from '../tenancy/tenant-state.ts'

/** Buckets in seconds, for authentication and authorization: from one millisecond on, each twice the one before. */
export const ATTEMPT_BUCKETS: readonly number[] = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at)
const ISSUED_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Bound: the series that Counters and Histograms keep. */
export const authenticationCounts = perTenant('counts', () => ({
  attempts: new Counters(),
  durations: new Histograms([...ATTEMPT_BUCKETS]),
  /** Tokens of other issuers that were not cached. */
  issued: new Histograms(ISSUED_BUCKETS),
}))
