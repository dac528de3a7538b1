/** This isolate's metrics of admission: endpoints/metrics/metrics.ts exposes them under kube-apiserver's names. */
import type { ApiCall } from '../request/context.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { Labels, Sample } from './series.ts'
import { Counters, Histogram, Histograms } from './series.ts'

const PLUGIN_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
const WEBHOOK_BUCKETS = [...PLUGIN_BUCKETS, 10, 25]

/** Bound: the series that Counters and Histograms keep. */
const measured = perTenant('counts', () => ({
  steps: new Steps(),
  webhooks: new Histograms(WEBHOOK_BUCKETS),
  webhookRequests: new Counters(),
  webhookRejections: new Counters(),
  webhookFailOpens: new Counters(),
  conditions: {
    errors: new Counters(),
    exclusions: new Counters(),
    durations: new Histograms([0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]),
  },
  podSecurity: { evaluations: new Counters(), exemptions: new Counters(), errors: new Counters() },
}))

type Plane = Pick<ApiCall, 'tenant'>

export const admissionMeasurements = ({ tenant }: Plane): ReturnType<typeof measured> => measured(tenant)

type Step = 'admit' | 'validate'

/** The durations of an admission step and of each plug-in in it, for requests with one operation and one outcome. */
export class StepDurations {
  private readonly whole = new Histogram(PLUGIN_BUCKETS)
  /** By plug-in name. Bound: the plug-ins. */
  private readonly plugins = new Map<string, Histogram>()

  constructor(private readonly labels: Labels) {}

  /** @param plugin the plug-in; undefined: the whole step */
  observe(seconds: number, plugin?: string): void {
    if (plugin === undefined) return this.whole.observe(seconds)
    let one = this.plugins.get(plugin)
    if (one === undefined) this.plugins.set(plugin, (one = new Histogram(PLUGIN_BUCKETS)))
    one.observe(seconds)
  }

  samples(): Sample[] {
    return this.whole.samples(this.labels)
  }

  pluginSamples(): Sample[] {
    return [...this.plugins].flatMap(([name, one]) => one.samples({ name, ...this.labels }))
  }
}

/** Finds the durations once for each step, because a step has many plug-ins that take little time. */
class Steps {
  /** Bound: operations, steps and outcomes. */
  private readonly durations = new Map<string, StepDurations>()

  of(operation: string, step: Step, rejected: boolean): StepDurations {
    const key = `${operation} ${step} ${rejected}`
    let known = this.durations.get(key)
    if (known === undefined)
      this.durations.set(key, (known = new StepDurations({ operation, rejected: String(rejected), type: step })))
    return known
  }

  samples(): Sample[] {
    return [...this.durations.values()].flatMap((one) => one.samples())
  }

  pluginSamples(): Sample[] {
    return [...this.durations.values()].flatMap((one) => one.pluginSamples())
  }
}

export const stepDurations = ({ tenant }: Plane, operation: string, step: Step, rejected: boolean): StepDurations =>
  measured(tenant).steps.of(operation, step, rejected)

export interface WebhookCall {
  readonly name: string
  readonly type: 'admit' | 'validating'
  readonly operation: string
}

export interface WebhookOutcome {
  /** The status code of the response to the client. */
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

/** Counts a webhook whose call failed and whose failurePolicy Ignore let the request pass. */
export function measureFailOpen({ tenant }: Plane, { name, type }: Pick<WebhookCall, 'name' | 'type'>): void {
  measured(tenant).webhookFailOpens.add({ name, type })
}

/** The owner of match conditions. The type of a webhook is `admit` or `validating`, that of a policy is `validate`. */
export interface ConditionsOwner {
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'admit' | 'validating' | 'validate'
  readonly operation: string
}

export interface ConditionsOutcome {
  /** Conditions that could not be evaluated. */
  readonly errors: number
  /** Undefined: not reported. */
  readonly seconds: number | undefined
  readonly isExcluded: boolean
}

export function measureConditions(
  { tenant }: Plane,
  { kind, name, operation, type }: ConditionsOwner,
  { errors, seconds, isExcluded }: ConditionsOutcome,
): void {
  const { conditions } = measured(tenant)
  const labels = { kind, name, operation, type }
  for (let count = 0; count < errors; count++) conditions.errors.add(labels)
  if (seconds !== undefined) conditions.durations.observe(Object.values(labels).join(' '), seconds, () => labels)
  // kube-apiserver counts only exclusions by webhooks, and names the type `validate` here
  if (isExcluded && kind === 'webhook')
    conditions.exclusions.add({ ...labels, type: type === 'validating' ? 'validate' : type })
}

export function measurePodSecurity(
  { tenant }: Plane,
  kind: 'evaluations' | 'exemptions' | 'errors',
  labels: Labels,
): void {
  measured(tenant).podSecurity[kind].add(labels)
}
