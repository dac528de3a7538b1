/**
 * Reads an autoscaler's metrics: the usage of simulated pods, or metrics of the APIServices of metrics.k8s.io,
 * custom.metrics.k8s.io and external.metrics.k8s.io. Failures have kube-controller-manager's texts.
 */
import * as z from 'zod/mini'
import type { CrossVersionObjectReference, MetricIdentifier } from '../../../api/autoscaling/v2.ts'
import type { APIService } from '../../../api/apiregistration/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import type { GroupVersion } from '../../../api/group-version.ts'
import { groupKindText, groupResourceText, parseApiVersion } from '../../../api/group-version.ts'
import { ownValue } from '../../../base/own.ts'
import { goQuote } from '../../../go/quote.ts'
import { askApiService, isAvailable, placeOfApiService } from '../../../outgoing/api-service.ts'
import { wholeAnswer } from '../../../outgoing/bounded-answer.ts'
import type { WholeAnswer } from '../../../outgoing/bounded-answer.ts'
import type { HeaderPairs } from '../../../outgoing/proxied-headers.ts'
import { METRICS } from '../../../registry/metrics/usage-resources.ts'
import { API_SERVICES } from '../../../registry/served/remote-groups.ts'
import { Quantity, QuantityError } from '../../../schema/quantity.ts'
import { labelSelectorText } from '../../../storage/selectors/label-selector-text.ts'
import { CallFailed } from '../../../webhooks/outgoing-call.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { ControllerContext } from '../../controller.ts'
import { duration } from '../../../validation/pod/simulation-annotations.ts'
import { podMetrics } from '../../simulation/usage.ts'
import type { PodMetric, PodMetrics } from './replicas.ts'
import { MetricFailure } from './replicas.ts'

const CUSTOM = 'custom.metrics.k8s.io'
const CUSTOM_VERSIONS = ['v1beta2', 'v1beta1']
const EXTERNAL: GroupVersion = { group: 'external.metrics.k8s.io', version: 'v1beta1' }
const NAMESPACE = { group: '', kind: 'Namespace' }

/** Milliseconds for all requests of one reconciliation, and the bytes of the largest response. */
const LOOK_MS = 10_000
const LONGEST_ANSWER = 8 << 20
const DEFAULT_WINDOW_MS = 60_000

const amount = z.string()
const podMetricsList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      timestamp: z.string(),
      window: z.string(),
      containers: z.array(z.object({ name: z.string(), usage: z.record(z.string(), amount) })),
    }),
  ),
})
const seconds = z.optional(z.nullable(z.number()))
const metricValueList = z.object({
  items: z.array(
    z.object({
      describedObject: z.object({ name: z.optional(z.string()) }),
      timestamp: z.string(),
      /** v1beta2 has `windowSeconds`, v1beta1 has `window`. */
      windowSeconds: seconds,
      window: seconds,
      value: amount,
    }),
  ),
})
const externalValueList = z.object({ items: z.array(z.object({ value: amount })) })

type UsageOfPods = z.infer<typeof podMetricsList>['items']

interface Question {
  readonly version: GroupVersion
  /** The path after the group and version. */
  readonly path: readonly string[]
  readonly query?: Readonly<Record<string, string>>
  /** The name of the resource in client-go's errors. */
  readonly resource: string
  readonly name?: string
}

/** The requests of one reconciliation of an autoscaler. */
export class MetricsClient {
  /** Whether it asked an extension server, whose metrics may change at any time. */
  askedOthers = false
  private readonly deadline: number

  /** @param pods the pods that the target's selector selects */
  constructor(
    private readonly context: ControllerContext,
    private readonly namespace: string,
    private readonly selector: string,
    private readonly pods: readonly Pod[],
  ) {
    this.deadline = context.now().getTime() + LOOK_MS
  }

  /**
   * @param container the container; '' for the sum of all containers
   * @throws MetricFailure
   */
  async resource(resource: string, container: string): Promise<PodMetrics> {
    const items = await within('unable to fetch metrics from resource metrics API', () => this.usage())
    if (items.length === 0) throw new MetricFailure('no metrics returned from resource metrics API')
    const found = new Map<string, PodMetric>()
    for (const { metadata, timestamp, window, containers } of items) {
      const counted = container === '' ? containers : containers.filter(({ name }) => name === container)
      const values = counted.map(({ usage }) => ownValue(usage, resource))
      if (values.length === 0 || values.includes(undefined)) continue
      const value = values.reduce((sum, text = '0') => sum + milli(text), 0n)
      found.set(metadata.name, { timestamp: Date.parse(timestamp), window: windowOf(window), value })
    }
    return found
  }

  private async usage(): Promise<UsageOfPods> {
    const { served, now } = this.context
    const version = served.version(METRICS.group, METRICS.version)
    if (version !== undefined && version.remote !== true)
      return this.pods.flatMap((pod) => {
        const known = podMetrics(pod, now())
        if (known === undefined) return []
        const containers = known.containers.map(({ name, usage }) => ({ name, usage: { ...usage } }))
        return [{ ...known, metadata: { name: known.metadata.name ?? '' }, containers }]
      })
    const question = {
      version: METRICS,
      path: ['namespaces', this.namespace, 'pods'],
      query: { labelSelector: this.selector },
      resource: 'pods',
    }
    return (await this.ask(question, podMetricsList)).items
  }

  /** A metric of each pod. @throws MetricFailure */
  async ofPods({ name = '', selector = {} }: MetricIdentifier): Promise<PodMetrics> {
    const { items } = await within('unable to fetch metrics from custom metrics API', () =>
      this.ask(
        {
          version: this.customVersion(),
          path: ['namespaces', this.namespace, 'pods', '*', name],
          query: { labelSelector: this.selector, metricLabelSelector: labelSelectorText(selector) },
          resource: 'pods',
          name: '*',
        },
        metricValueList,
      ),
    )
    if (items.length === 0) throw new MetricFailure('no metrics returned from custom metrics API')
    return new Map(
      items.map(({ describedObject, timestamp, windowSeconds, window, value }) => {
        const length = windowSeconds ?? window
        const width = length === undefined || length === null ? DEFAULT_WINDOW_MS : length * 1000
        return [describedObject.name ?? '', { timestamp: Date.parse(timestamp), window: width, value: milli(value) }]
      }),
    )
  }

  /** A metric of one object. @throws MetricFailure */
  ofObject(object: CrossVersionObjectReference, { name = '', selector = {} }: MetricIdentifier): Promise<bigint> {
    return within('unable to fetch metrics from custom metrics API', async () => {
      const version = this.customVersion()
      const { items } = await this.ask(
        {
          version,
          ...this.placeOf(object, name),
          query: { metricLabelSelector: labelSelectorText(selector) },
        },
        metricValueList,
      )
      const [only] = items
      if (only === undefined || items.length > 1)
        throw new MetricFailure(
          `the custom metrics API server returned ${items.length} results when we asked for exactly one`,
        )
      return milli(only.value)
    })
  }

  /** The place of an object's metric, always in the autoscaler's own namespace. */
  private placeOf({ apiVersion = '', kind = '', name: object = '' }: CrossVersionObjectReference, metric: string) {
    const { group = '' } = parseApiVersion(apiVersion) ?? {}
    if (group === NAMESPACE.group && kind === NAMESPACE.kind)
      return { path: ['namespaces', this.namespace, 'metrics', metric], resource: 'metrics', name: metric }
    const entry = this.context.served.inGroup(group).find((known) => known.kind === kind)
    if (entry === undefined)
      throw new MetricFailure(
        `unable to map kind ${groupKindText({ group, kind })} to resource: ` +
          `no matches for kind ${goQuote(kind)} in group ${goQuote(group)}`,
      )
    const resource = groupResourceText(entry)
    return { path: ['namespaces', this.namespace, resource, object, metric], resource, name: object }
  }

  /** All values of an external metric. @throws MetricFailure */
  async external({ name = '', selector = {} }: MetricIdentifier): Promise<readonly bigint[]> {
    const { items } = await within('unable to fetch metrics from external metrics API', () =>
      this.ask(
        {
          version: EXTERNAL,
          path: ['namespaces', this.namespace, name],
          query: { labelSelector: labelSelectorText(selector) },
          resource: name,
        },
        externalValueList,
      ),
    )
    if (items.length === 0) throw new MetricFailure('no metrics returned from external metrics API')
    return items.map(({ value }) => milli(value))
  }

  private customVersion(): GroupVersion {
    const group = this.context.served.group(CUSTOM)
    if (group === undefined) throw new MetricFailure(`no custom metrics API (${CUSTOM}) registered`)
    const known = group.versions.find(({ version }) => CUSTOM_VERSIONS.includes(version))
    if (known === undefined) throw new MetricFailure('no known available metric versions found')
    return { group: CUSTOM, version: known.version }
  }

  private async ask<Answer>(question: Question, form: z.ZodMiniType<Answer>): Promise<Answer> {
    const { status, text } = await this.answerTo(question)
    const value = jsonOf(text)
    if (status !== 200) throw failure(question, status, value, text)
    const read = form.safeParse(value)
    if (!read.success) throw new MetricFailure('the answer is no list of metrics')
    return read.data
  }

  private async answerTo(question: Question): Promise<Pick<WholeAnswer, 'status' | 'text'>> {
    const { context } = this
    const { version, path, query = {} } = question
    const service = await this.serviceOf(version)
    if (service === undefined) return { status: 404, text: '' }
    this.askedOthers = true
    const timeoutMs = this.deadline - context.now().getTime()
    if (!isAvailable(service) || timeoutMs <= 0) return { status: 503, text: '' }
    const given = Object.entries(query).filter(([, text]) => text !== '')
    const behind = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
    const target = `/apis/${[version.group, version.version, ...path].map(encodeURIComponent).join('/')}${behind}`
    try {
      const headers: HeaderPairs = [['Accept', 'application/json']]
      const place = await placeOfApiService(context, service)
      const call = { method: 'GET', target, headers, user: context.user, timeoutMs }
      return await wholeAnswer(await askApiService(context, service, place, call), LONGEST_ANSWER)
    } catch (error) {
      if (error instanceof CallFailed) return { status: 503, text: '' }
      throw error
    }
  }

  private async serviceOf({ group, version }: GroupVersion): Promise<APIService | undefined> {
    if (this.context.served.version(group, version)?.remote !== true) return undefined
    const services = clientsetFor(this.context, 'horizontal-pod-autoscaler').resource(API_SERVICES)
    return (await services.get(`${version}.${group}`)) as APIService | undefined
  }
}

/** Puts the failed step before a failure's message. */
async function within<Found>(where: string, find: () => Promise<Found>): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    throw error instanceof MetricFailure ? new MetricFailure(`${where}: ${error.message}`) : error
  }
}

function milli(text: string): bigint {
  try {
    return Quantity.parse(text).scaledValue(-3)
  } catch (error) {
    throw error instanceof QuantityError ? new MetricFailure(error.message) : error
  }
}

/** The milliseconds of a Go duration, which has up to nine decimals. */
const windowOf = (text: string): number => duration(text.replace(/(\.\d{3})\d+s$/, '$1s')) ?? DEFAULT_WINDOW_MS

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const statusAnswer = z.object({ kind: z.literal('Status'), message: z.string() })

/** client-go's texts for responses that are no Status. */
const generic: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

function failure({ version, resource, name }: Question, status: number, value: unknown, text: string): MetricFailure {
  const known = statusAnswer.safeParse(value)
  if (known.success) return new MetricFailure(known.data.message)
  const unknown =
    status >= 500
      ? `an error on the server (${goQuote(text.slice(0, 1024))}) has prevented the request from succeeding`
      : `the server responded with the status code ${status} but did not return more information`
  const what = groupResourceText({ group: version.group, resource })
  return new MetricFailure(`${generic[status] ?? unknown} (get ${name === undefined ? what : `${what} ${name}`})`)
}
