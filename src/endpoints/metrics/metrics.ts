/**
 * `/metrics` and `/metrics/slis` in the text format of Prometheus, with kube-apiserver's names. They count the work
 * of this isolate since its start. A sum over isolates is like a sum over several servers.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { WorkCount } from '../../storage/shards/object-calls.ts'
import { groupResourceText } from '../../api/group-version.ts'
import { ownValue } from '../../base/own.ts'
import { expressionTimes } from '../../expressions/expression-times.ts'
import { auditCounts } from '../../audit/metrics.ts'
import { flowState } from '../../flowcontrol/admit-request.ts'
import { openWatches } from '../../flowcontrol/open-watches.ts'
import { isControlResource } from '../../storage/collections.ts'
import type { ApiRequest } from '../../request/context.ts'
import { faultCounts } from '../../request/fault.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { admissionRows } from './admission.ts'
import { flowControlRows, waitingIn } from './flowcontrol.ts'
import type { HealthEndpoint } from '../health/health.ts'
import { failureOf, healthChecks } from '../health/health.ts'
import type { Row } from './identity.ts'
import { identityRows } from './identity.ts'
import { NO_CACHE } from '../documents/text-response.ts'
import { RELEASE, versionInfo } from '../documents/version.ts'
import { measurementsOf } from '../../metrics/measurements.ts'
import { conversionCounts } from '../../registry/custom-resources/conversion-counts.ts'
import type { RequestKind } from '../../metrics/measurements.ts'
import type { Counters, Labels, Sample } from '../../metrics/series.ts'

interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

const one = (value: number, labels: Labels = {}): Sample[] => [{ labels, value }]

const countsBy = (counts: ReadonlyMap<string, number>, label: string): Sample[] =>
  [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }))

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0)

/** Sorted by name. */
async function metrics(request: ApiRequest): Promise<Metric[]> {
  const all = measurementsOf(request)
  const inFlight = flowState(request.tenant).seats.count
  const conversions = conversionCounts(request.tenant)
  const levels = flowState(request.tenant).seats.all
  const gates = builtInServed(request.env).gates.all
  const kinds = [...all.requests.values(), all.others]
  const durations = kinds.flatMap((kind) => kind.durations.samples(kind.ofServerAndDryRun))
  const real = kinds.filter(({ dryRun }) => dryRun === '')
  const busy = durations.reduce((sum, { suffix, value }) => sum + (suffix === '_sum' ? value : 0), 0)
  const work = await controllersWork(request)
  const rows: Row[] = [
    ...(await identityRows(request)),
    ...admissionRows(request),
    [
      'apiserver_audit_error_total',
      'counter',
      'Audit events that were lost, by whose fault it was.',
      countsBy(auditCounts.errors, 'plugin'),
    ],
    ['apiserver_audit_event_total', 'counter', 'Audit events made.', one(auditCounts.events)],
    ['apiserver_audit_level_total', 'counter', 'Requests by audit level.', countsBy(auditCounts.levels, 'level')],
    [
      'apiserver_audit_requests_rejected_total',
      'counter',
      'Requests refused because their audit event could not be written.',
      one(auditCounts.rejected),
    ],
    [
      'apiserver_cel_compilation_duration_seconds',
      'histogram',
      'Time that the rules of a place in a schema took to compile.',
      expressionTimes.compilation.samples({}),
    ],
    [
      'apiserver_cel_evaluation_duration_seconds',
      'histogram',
      'Time that the rules of a place took for a value.',
      expressionTimes.evaluation.samples({}),
    ],
    [
      'apiserver_conversion_webhook_duration_seconds',
      'histogram',
      'Time that each review of a conversion webhook took.',
      conversions.durations.samples(),
    ],
    [
      'apiserver_conversion_webhook_request_total',
      'counter',
      'Reviews that conversion webhooks were sent.',
      conversions.requests.samples(),
    ],
    [
      'apiserver_crd_conversion_webhook_duration_seconds',
      'histogram',
      'The same, by definition and versions.',
      conversions.byDefinition.samples(),
    ],
    ['apiserver_current_inflight_requests', 'gauge', 'Requests being served.', one(inFlight, { request_kind: 'all' })],
    [
      'apiserver_current_inqueue_requests',
      'gauge',
      'Requests that wait for a seat.',
      one(sumOf(levels, waitingIn), { request_kind: 'all' }),
    ],
    ...flowControlRows(request.tenant),
    ['apiserver_longrunning_requests', 'gauge', 'Open watches, and logs that are followed.', openWatches(request)],
    ['apiserver_request_body_size_bytes', 'histogram', 'Bytes of bodies of known length.', all.bodySizes.samples()],
    ['apiserver_request_duration_seconds', 'histogram', 'Time until the answer.', durations],
    [
      'apiserver_request_sli_duration_seconds',
      'histogram',
      'The same without dry runs. No other time is left out.',
      real.flatMap((kind) => kind.durations.samples(kind.ofServer)),
    ],
    ['apiserver_request_total', 'counter', 'Requests answered.', requestCounts(kinds)],
    ['apiserver_requested_deprecated_apis', 'gauge', 'Deprecated versions that were asked for.', flags(all.deprecated)],
    [
      'apiserver_resource_objects',
      'gauge',
      'Objects of the resources of the control shard.',
      await objectCounts(request, ({ group, resource }) => ({ group, resource })),
    ],
    [
      'apiserver_response_sizes',
      'histogram',
      'Bytes of answers of known length.',
      real.flatMap(({ sizes, ofServer }) => sizes.samples(ofServer)),
    ],
    [
      'apiserver_storage_objects',
      'gauge',
      'The same, by one name.',
      await objectCounts(request, (resource) => ({ resource: groupResourceText(resource) })),
    ],
    ['go_goroutines', 'gauge', 'Requests at work: there are no goroutines here.', one(inFlight)],
    [
      'go_info',
      'gauge',
      'The Go version that /version tells.',
      one(1, { version: String(versionInfo()['goVersion']) }),
    ],
    [
      'kedge_controllers_parked_work',
      'gauge',
      'Work that controllers gave up: see the log.',
      samplesOf(work, 'parked'),
    ],
    [
      'kedge_controllers_failing_work',
      'gauge',
      'Work that controllers could not do, and will try again: admission refuses it, for one.',
      samplesOf(work, 'failing'),
    ],
    ['kedge_controllers_queued_work', 'gauge', 'Work that controllers have yet to do.', samplesOf(work, 'queued')],
    [
      'kedge_faults_total',
      'counter',
      'Mistakes of this server, by what broke off or was dropped; the log says more.',
      countsBy(faultCounts, 'fault'),
    ],
    ['kubernetes_build_info', 'gauge', 'The version, as labels of a constant 1.', one(1, buildLabels())],
    [
      'kubernetes_feature_enabled',
      'gauge',
      'Feature gates: 1 is on.',
      gates.map(({ name, stage, enabled }) => ({
        labels: { name, stage: stage === 'GA' ? '' : stage },
        value: enabled ? 1 : 0,
      })),
    ],
    ['process_cpu_seconds_total', 'counter', 'Time spent in answering: the engine tells no more.', one(busy)],
    ['process_start_time_seconds', 'gauge', 'When this isolate served its first request.', one(all.startedAt ?? 0)],
  ]
  rows.sort(([a], [b]) => (a < b ? -1 : 1))
  return rows.map(([name, type, help, samples]) => ({ name, type, help, samples }))
}

/** Counts only resources of the control shard. Counting others would wake every shard. */
async function objectCounts(request: ApiRequest, labels: (resource: GroupResource) => Labels): Promise<Sample[]> {
  const snapshot = await controlSnapshot(request)
  const kept = builtInServed(request.env).resources.resources.map(({ storage }) => storage)
  const control = new Map(kept.filter(isControlResource).map((storage) => [groupResourceText(storage), storage]))
  return [...control.values()].map((storage) => ({ labels: labels(storage), value: snapshot.list(storage).length }))
}

/** Leaves out shards that do not answer. */
async function controllersWork({ env, tenant }: ApiRequest): Promise<readonly WorkCount[]> {
  try {
    return await env.CONTROLLERS.getByName(tenant.uid).counts()
  } catch {
    return []
  }
}

const samplesOf = (work: readonly WorkCount[], state: 'queued' | 'failing' | 'parked'): Sample[] =>
  work.flatMap((count) => (count[state] === 0 ? [] : one(count[state], { controller: count.controller })))

const requestCounts = (kinds: readonly RequestKind[]): Sample[] =>
  kinds.flatMap(({ codes, ofServerAndDryRun }) =>
    [...codes].map(([code, value]) => ({ labels: { code: String(code), ...ofServerAndDryRun }, value })),
  )

/** 1 for each label set that was ever counted. */
const flags = (counters: Counters): Sample[] => counters.samples().map((sample) => ({ ...sample, value: 1 }))

function buildLabels(): Labels {
  const info = versionInfo()
  const text = (name: string) => String(ownValue(info, name))
  return {
    build_date: text('buildDate'),
    compiler: text('compiler'),
    git_commit: text('gitCommit'),
    git_tree_state: text('gitTreeState'),
    git_version: RELEASE.gitVersion,
    go_version: text('goVersion'),
    major: RELEASE.major,
    minor: RELEASE.minor,
    platform: text('platform'),
  }
}

async function healthMetrics(request: ApiRequest): Promise<Metric[]> {
  const samples: Sample[] = []
  for (const [type, names] of Object.entries(healthChecks(builtInServed(request.env).gates)) as [
    HealthEndpoint,
    readonly string[],
  ][]) {
    for (const name of names) {
      const healthy = (await failureOf(name, request)) === undefined
      samples.push({ labels: { name, type }, value: healthy ? 1 : 0 })
      measurementsOf(request).healthRuns.add({ name, status: healthy ? 'success' : 'error', type })
    }
  }
  samples.sort((a, b) =>
    `${a.labels['name']} ${a.labels['type']}` < `${b.labels['name']} ${b.labels['type']}` ? -1 : 1,
  )
  return [
    { name: 'kubernetes_healthcheck', type: 'gauge', help: 'Health checks: 1 is passed.', samples },
    {
      name: 'kubernetes_healthchecks_total',
      type: 'counter',
      help: 'Health checks that were run.',
      samples: measurementsOf(request).healthRuns.samples(),
    },
  ]
}

const escapeLabel = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function textOf(all: readonly Metric[]): string {
  let text = ''
  for (const { name, type, help, samples } of all) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    for (const { suffix = '', labels, value } of samples) {
      const pairs = Object.entries(labels).map(([label, one]) => `${label}="${escapeLabel(one)}"`)
      text += `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
    }
  }
  return text
}

/** @param slis only the health checks */
export async function serveMetrics(request: ApiRequest, { slis }: { readonly slis: boolean }): Promise<Response> {
  const text = textOf(await (slis ? healthMetrics(request) : metrics(request)))
  return new Response(request.method === 'HEAD' ? null : text, {
    headers: {
      'Cache-Control': NO_CACHE,
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    },
  })
}
