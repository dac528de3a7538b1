/** What this isolate counts of admission: endpoints/metrics.ts shows it under kube-apiserver's names. */
import type { ApiCall } from '../request/context.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { Labels } from './series.ts'
import { Counters, Histograms } from './series.ts'

const PLUGIN_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
const WEBHOOK_BUCKETS = [...PLUGIN_BUCKETS, 10, 25]

/** Bound: the series that Counters and Histograms keep. */
const measured = perTenant(() => ({
  controllers: new Histograms(PLUGIN_BUCKETS),
  steps: new Histograms(PLUGIN_BUCKETS),
  webhooks: new Histograms(WEBHOOK_BUCKETS),
  webhookRequests: new Counters(),
  webhookRejections: new Counters(),
  webhookFailOpens: new Counters(),
  podSecurity: { evaluations: new Counters(), exemptions: new Counters(), errors: new Counters() },
}))

type Plane = Pick<ApiCall, 'tenant'>

export const admissionMeasurements = ({ tenant }: Plane): ReturnType<typeof measured> => measured(tenant)

type Step = 'admit' | 'validate'

/** How long a plugin, or (without a name) a whole step took, in seconds. */
export function measureAdmission(
  { tenant }: Plane,
  plugin: string | undefined,
  { operation, step, rejected }: { operation: string; step: Step; rejected: boolean },
  seconds: number,
): void {
  const { controllers, steps } = measured(tenant)
  const labels = () => ({ operation, rejected: String(rejected), type: step })
  const key = `${operation} ${step} ${rejected}`
  if (plugin === undefined) steps.observe(key, seconds, labels)
  else controllers.observe(`${plugin} ${key}`, seconds, () => ({ name: plugin, ...labels() }))
}

export interface WebhookCall {
  readonly name: string
  readonly type: 'admit' | 'validating'
  readonly operation: string
}

export interface WebhookOutcome {
  /** Of the answer to the client. */
  readonly code: number
  /** Undefined: the request was not rejected. */
  readonly rejection?: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error' | undefined
}

const MOST_CODE = 600

export function measureWebhook(
  { tenant }: Plane,
  { name, type, operation }: WebhookCall,
  { code, rejection }: WebhookOutcome,
  seconds: number,
): void {
  const { webhooks, webhookRequests, webhookRejections } = measured(tenant)
  const shown = String(Math.min(code, MOST_CODE))
  const rejected = String(rejection !== undefined)
  webhookRequests.add({ code: shown, name, operation, rejected, type })
  webhooks.observe(`${name} ${type} ${operation} ${rejected}`, seconds, () => ({ name, operation, rejected, type }))
  if (rejection !== undefined)
    webhookRejections.add({ error_type: rejection, name, operation, rejection_code: shown, type })
}

/** A webhook that could not be asked was passed over. */
export function measureFailOpen({ tenant }: Plane, { name, type }: Pick<WebhookCall, 'name' | 'type'>): void {
  measured(tenant).webhookFailOpens.add({ name, type })
}

export function measurePodSecurity(
  { tenant }: Plane,
  kind: 'evaluations' | 'exemptions' | 'errors',
  labels: Labels,
): void {
  measured(tenant).podSecurity[kind].add(labels)
}
