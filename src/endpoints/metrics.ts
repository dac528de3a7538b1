/**
 * `/metrics` and `/metrics/slis` in the text format of Prometheus, under the reference's names. What is counted is what
 * this isolate did since it began; an installation with several isolates sums over them, as over several servers.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { WorkCount } from '../../durable-objects/work-table.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../api/own.ts'
import { auditCounts } from '../audit/metrics.ts'
import type { Env } from '../env.ts'
import type { FlowCount } from '../flowcontrol/admit-request.ts'
import { flowState } from '../flowcontrol/admit-request.ts'
import type { LevelLimits } from '../flowcontrol/level-limits.ts'
import type { PriorityLevel } from '../flowcontrol/seats.ts'
import type { Tenant } from '../storage/tenant.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { isControlResource } from '../storage/collections.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { builtInServed } from '../registry/served.ts'
import { controlSnapshot } from '../tenancy/control-snapshot.ts'
import type { HealthEndpoint } from './health.ts'
import { failureOf, healthChecks } from './health.ts'
import { NO_CACHE } from './text-response.ts'
import { RELEASE, versionInfo } from './version.ts'

type Labels = Readonly<Record<string, string>>

interface Sample {
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

const secondBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10]
const byteBuckets = [1e3, 1e4, 1e5, 1e6, 1e7]

/** Of a metric whose labels are the server's own names. */
const MAX_SERIES = 500

class Counters {
  private readonly values = new BoundedMap<string, { labels: Labels; value: number }>({ entries: MAX_SERIES })

  add(labels: Labels): void {
    const key = Object.values(labels).join('\0')
    const known = this.values.get(key)
    if (known === undefined) this.values.set(key, { labels, value: 1 })
    else known.value++
  }

  samples(): Sample[] {
    return this.values.values()
  }
}

/** One distribution. */
class Histogram {
  private readonly counts: number[]
  private sum = 0
  private count = 0

  /** @param buckets upper bounds, ascending */
  constructor(private readonly buckets: readonly number[]) {
    this.counts = buckets.map(() => 0)
  }

  observe(value: number): void {
    this.sum += value
    this.count++
    for (let at = this.buckets.length - 1; at >= 0 && value <= this.buckets[at]!; at--) this.counts[at]!++
  }

  /** None where nothing was observed. */
  samples(labels: Labels): Sample[] {
    if (this.count === 0) return []
    return [
      ...this.buckets.map((bound, at) => ({
        suffix: '_bucket',
        labels: { ...labels, le: String(bound) },
        value: this.counts[at]!,
      })),
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: this.count },
      { suffix: '_sum', labels, value: this.sum },
      { suffix: '_count', labels, value: this.count },
    ]
  }
}

class Histograms {
  private readonly values = new BoundedMap<string, { labels: Labels; histogram: Histogram }>({ entries: MAX_SERIES })

  /** @param key tells the labels apart */
  observe(key: string, value: number, labels: () => Labels): void {
    let known = this.values.get(key)
    if (known === undefined)
      this.values.set(key, (known = { labels: labels(), histogram: new Histogram(secondBuckets) }))
    known.histogram.observe(value)
  }

  samples(): Sample[] {
    return this.values.values().flatMap(({ labels, histogram }) => histogram.samples(labels))
  }
}

/** Requests with the same labels. */
class RequestKind {
  readonly ofServer: Labels
  /** Bound: the codes that this server answers with. */
  readonly codes = new Map<number, number>()
  readonly durations = new Histogram(secondBuckets)
  readonly sizes = new Histogram(byteBuckets)
  readonly bodySizes = new Histogram(byteBuckets)

  constructor(readonly labels: Labels) {
    this.ofServer = { component: 'apiserver', ...labels }
  }
}

/** What was counted for one tenant: names of its resources are nobody else's business. */
class Measurements {
  /** Bound: MAX_KINDS. */
  readonly requests = new Map<string, RequestKind>()
  readonly others = new RequestKind({ group: '', resource: '', scope: '', subresource: '', verb: '', version: '' })
  readonly authentications = { success: 0, failure: 0 }
  readonly authorizations = { allowed: 0, denied: 0 }
  readonly deprecated = new Counters()
  readonly admissions = new Histograms()
  readonly admissionSteps = new Histograms()
  readonly healthRuns = new Counters()
  inFlight = 0
  longRunning = 0

  /** When the isolate served its first request for the tenant, in seconds. */
  startedAt: number | undefined
}

const measurementsFor = perTenant(() => new Measurements())

const measurementsOf = ({ tenant }: Pick<ApiRequest, 'tenant'>): Measurements => measurementsFor(tenant)

const isLongRunning = (verb: string) => verb === 'watch' || verb === 'proxy' || verb === 'connect'

/** By the labels that tell requests apart, as kube-apiserver names them. */
function kindOf(all: Measurements, { info, method, env }: ApiRequest, status: number): RequestKind {
  const verb =
    (info.isResourceRequest ? verbLabels.get(info.verb) : undefined) ?? (methods.has(method) ? method : 'OTHER')
  const scope = !info.isResourceRequest
    ? ''
    : info.name !== ''
      ? 'resource'
      : info.namespace !== ''
        ? 'namespace'
        : 'cluster'
  const { apiGroup: group, apiVersion: version, resource } = info
  const subresource = info.isResourceRequest ? info.subresource : info.path
  const key = `${verb} ${scope} ${group} ${version} ${resource} ${subresource}`
  const known = all.requests.get(key)
  if (known !== undefined) return known
  if (all.requests.size >= MAX_KINDS || !(status < 400 || isBuiltIn(info, env))) return all.others
  const kind = new RequestKind({ group, resource, scope, subresource, verb, version })
  all.requests.set(key, kind)
  return kind
}

/**
 * Anybody may make up paths, groups and resources: their names become labels once a request for them succeeded, which
 * proves that they are served. Beyond so many kinds, too, requests are counted without saying what they were.
 */
const MAX_KINDS = 1_024

function isBuiltIn({ isResourceRequest, apiGroup, apiVersion, resource, subresource }: RequestInfo, env: Env): boolean {
  if (!isResourceRequest) return false
  const entry = builtInServed(env).resources.find(apiGroup, apiVersion, resource)
  if (entry === undefined || subresource === '') return entry !== undefined
  return entry.subresources.some(({ name }) => name === subresource)
}

/** Others have the label OTHER. */
const methods: ReadonlySet<string> = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])

const verbLabels: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
])

/** Told when a request begins; what it returns, when the head of its answer is there. */
export function measureRequest(request: ApiRequest): (response: Response) => void {
  const all = measurementsOf(request)
  const began = request.now.getTime()
  all.startedAt ??= began / 1000
  const long = isLongRunning(request.info.verb)
  if (long) all.longRunning++
  all.inFlight++
  return (response) => {
    all.inFlight--
    if (long) all.longRunning--
    count(all, request, response, long ? undefined : (request.clock() - began) / 1000)
  }
}

function count(all: Measurements, request: ApiRequest, response: Response, seconds: number | undefined): void {
  const { status } = response
  const kind = kindOf(all, request, status)
  kind.codes.set(status, (kind.codes.get(status) ?? 0) + 1)
  if (seconds !== undefined) kind.durations.observe(seconds)
  observeLength(kind.sizes, response.headers)
  if (request.info.isResourceRequest && request.method !== 'GET') observeLength(kind.bodySizes, request.headers)
  all.authentications[status === 401 ? 'failure' : 'success']++
  if (status !== 401) all.authorizations[status === 403 ? 'denied' : 'allowed']++
  if (request.warnings.some((warning) => warning.includes(' is deprecated in v'))) {
    const { group = '', version = '', resource = '', subresource = '' } = kind.labels
    all.deprecated.add({ group, removed_release: '', resource, subresource, version })
  }
}

function observeLength(histogram: Histogram, headers: Pick<Headers, 'get'>): void {
  const length = headers.get('Content-Length')
  if (length !== null) histogram.observe(Number(length))
}

/** Told by the chain of admission: how long a plugin, or (without a name) a whole step took, in seconds. */
export function measureAdmission(
  request: Pick<ApiRequest, 'tenant' | 'now'>,
  plugin: string | undefined,
  { operation, step, rejected }: { operation: string; step: 'admit' | 'validate'; rejected: boolean },
  seconds: number,
): void {
  const { admissions, admissionSteps } = measurementsOf(request)
  const labels = () => ({ operation, rejected: String(rejected), type: step })
  const key = `${operation} ${step} ${rejected}`
  if (plugin === undefined) admissionSteps.observe(key, seconds, labels)
  else admissions.observe(`${plugin} ${key}`, seconds, () => ({ name: plugin, ...labels() }))
}

const one = (value: number, labels: Labels = {}): Sample[] => [{ labels, value }]

const countsBy = (counts: ReadonlyMap<string, number>, label: string): Sample[] =>
  [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }))

type Row = readonly [name: string, type: Metric['type'], help: string, samples: readonly Sample[]]

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0)

const waitingIn = ({ waiting }: PriorityLevel): number => waiting.length

/** Of priority levels and, where requests are counted, of the schemas that led to them. */
function flowControlRows(tenant: Tenant): Row[] {
  const { seats, counts } = flowState(tenant)
  const ofLevels = (value: (level: PriorityLevel) => number): Sample[] =>
    seats.all.map((level) => ({ labels: { priority_level: level.name }, value: value(level) }))
  const ofLimits = (value: (limits: Extract<LevelLimits, { kind: 'limited' }>) => number): Sample[] =>
    ofLevels(({ limits }) => (limits.kind === 'limited' ? value(limits) : 0))
  const taken = ofLevels(({ taken }) => taken)
  const flows = counts.values()
  const labelsOf = ({ schema, level }: FlowCount): Labels => ({ flow_schema: schema, priority_level: level })
  return [
    ['apiserver_flowcontrol_current_executing_requests', 'gauge', 'Requests being served.', taken],
    ['apiserver_flowcontrol_current_executing_seats', 'gauge', 'The same: a request has one seat.', taken],
    ['apiserver_flowcontrol_current_inqueue_requests', 'gauge', 'Requests that wait.', ofLevels(waitingIn)],
    [
      'apiserver_flowcontrol_dispatched_requests_total',
      'counter',
      'Requests that got a seat.',
      flows.map((flow) => ({ labels: labelsOf(flow), value: flow.dispatched })),
    ],
    ['apiserver_flowcontrol_lower_limit_seats', 'gauge', 'Seats that are never lent.', ofLimits(({ lower }) => lower)],
    ['apiserver_flowcontrol_nominal_limit_seats', 'gauge', 'Seats of its own.', ofLimits(({ nominal }) => nominal)],
    [
      'apiserver_flowcontrol_rejected_requests_total',
      'counter',
      'Requests refused.',
      flows.flatMap((flow) =>
        Object.entries(flow.rejected).map(([reason, value]) => ({ labels: { ...labelsOf(flow), reason }, value })),
      ),
    ],
    ['apiserver_flowcontrol_upper_limit_seats', 'gauge', 'With borrowed ones.', ofLimits(({ upper }) => upper)],
  ]
}

/** In the order of their names. */
async function metrics(request: ApiRequest): Promise<Metric[]> {
  const all = measurementsOf(request)
  const { inFlight, longRunning } = all
  const levels = flowState(request.tenant).seats.all
  const gates = builtInServed(request.env).gates.all
  const kinds = [...all.requests.values(), all.others]
  const durations = kinds.flatMap((kind) => kind.durations.samples(kind.ofServer))
  const busy = durations.reduce((sum, { suffix, value }) => sum + (suffix === '_sum' ? value : 0), 0)
  const work = await controllersWork(request)
  const rows: Row[] = [
    [
      'apiserver_admission_controller_admission_duration_seconds',
      'histogram',
      'Time that each plugin of admission took.',
      all.admissions.samples(),
    ],
    [
      'apiserver_admission_step_admission_duration_seconds',
      'histogram',
      'Time that each step of admission took.',
      all.admissionSteps.samples(),
    ],
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
    ['apiserver_current_inflight_requests', 'gauge', 'Requests being served.', one(inFlight, { request_kind: 'all' })],
    [
      'apiserver_current_inqueue_requests',
      'gauge',
      'Requests that wait for a seat.',
      one(sumOf(levels, waitingIn), { request_kind: 'all' }),
    ],
    ...flowControlRows(request.tenant),
    ['apiserver_longrunning_requests', 'gauge', 'Watches and other long requests.', one(longRunning)],
    [
      'apiserver_request_body_size_bytes',
      'histogram',
      'Bytes of bodies of known length.',
      kinds.flatMap(({ bodySizes, labels }) => bodySizes.samples(labels)),
    ],
    ['apiserver_request_duration_seconds', 'histogram', 'Time until the answer.', durations],
    ['apiserver_request_sli_duration_seconds', 'histogram', 'The same: nothing is left out.', durations],
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
      kinds.flatMap(({ sizes, ofServer }) => sizes.samples(ofServer)),
    ],
    [
      'apiserver_storage_objects',
      'gauge',
      'The same, by one name.',
      await objectCounts(request, (resource) => ({ resource: groupResourceText(resource) })),
    ],
    [
      'authentication_attempts',
      'counter',
      'Requests by whether they said who sends them.',
      results(all.authentications),
    ],
    ['authorization_attempts_total', 'counter', 'Requests by whether they were allowed.', results(all.authorizations)],
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
    ['kedge_controllers_queued_work', 'gauge', 'Work that controllers have yet to do.', samplesOf(work, 'queued')],
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
  return rows.map(([name, type, help, samples]) => ({ name, type, help, samples }))
}

/** Those of other resources would have to be asked for, shard by shard, and wake them all. */
async function objectCounts(request: ApiRequest, labels: (resource: GroupResource) => Labels): Promise<Sample[]> {
  const snapshot = await controlSnapshot(request)
  const kept = builtInServed(request.env).resources.resources.map(({ storage }) => storage)
  const control = new Map(kept.filter(isControlResource).map((storage) => [groupResourceText(storage), storage]))
  return [...control.values()].map((storage) => ({ labels: labels(storage), value: snapshot.list(storage).length }))
}

/** Where they cannot be asked there is nothing to be said of them. */
async function controllersWork({ env, tenant }: ApiRequest): Promise<readonly WorkCount[]> {
  try {
    return await env.CONTROLLERS.getByName(tenant.uid).counts()
  } catch {
    return []
  }
}

const samplesOf = (work: readonly WorkCount[], state: 'queued' | 'parked'): Sample[] =>
  work.flatMap((count) => (count[state] === 0 ? [] : one(count[state], { controller: count.controller })))

const requestCounts = (kinds: readonly RequestKind[]): Sample[] =>
  kinds.flatMap(({ codes, ofServer }) =>
    [...codes].map(([code, value]) => ({ labels: { code: String(code), ...ofServer }, value })),
  )

const results = (counts: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(counts).flatMap(([result, value]) => (value === 0 ? [] : one(value, { result })))

/** Whether it ever happened. */
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

/** `slis`: only the health checks. */
export async function serveMetrics(request: ApiRequest, { slis }: { readonly slis: boolean }): Promise<Response> {
  const text = textOf(await (slis ? healthMetrics(request) : metrics(request)))
  return new Response(request.method === 'HEAD' ? null : text, {
    headers: {
      'Cache-Control': NO_CACHE,
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    },
  })
}
