// Every collection that outlives a request is accounted for: a test fills it with what requests can send, or no request
// does, for one of a few reasons.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The file of a test, and what it is called there, or a part of it. */
type TestOf = `test/${string}.test.ts: ${string}`

/** Tables of collections by file, each of which names the file it fills. */
const FILLED = 'test/bounds/filled.test.ts'
const BY_CLUSTERS = 'test/bounds/filled-by-clusters.test.ts'

/** What requests fill. */
const filled: Readonly<Record<string, TestOf | typeof FILLED | typeof BY_CLUSTERS>> = {
  'durable-objects/controller-queues.ts':
    'test/durable-objects/controller-queues.test.ts: eight works of a queue are done at a time',
  'durable-objects/dependent-table.ts': 'test/durable-objects/dependent-table.test.ts: MAX_KINDS',
  'durable-objects/kept-texts.ts': 'test/base/bounded-map.test.ts: both key and value count',
  'durable-objects/outbox.ts': FILLED,
  'durable-objects/past-state.ts': 'test/durable-objects/past-state.test.ts: more keys were deleted since than remain',
  'durable-objects/pending-work.ts': FILLED,
  'src/base/fair-places.ts': 'test/base/fair-places.test.ts: go from the user who has the most to others',
  'durable-objects/watch-hub.ts':
    'test/durable-objects/watch.test.ts: is refused when the selections of all watches are too long together',
  'durable-objects/watched-kinds.ts':
    'test/durable-objects/watched-kinds.test.ts: takes every definition for watched once there are more than it keeps',
  'durable-objects/work-table.ts': 'test/base/bounded-map.test.ts: both key and value count',
  'durable-objects/write-queue.ts': 'test/durable-objects/write-queue.test.ts: refuses writes beyond its bound',
  'src/admission/plugins/event-rate-limit.ts':
    'test/admission/plugins/event-rate-limit.test.ts: a bucket that was dropped starts full',
  'src/admission/plugins/image-policy-webhook.ts': 'test/base/bounded-map.test.ts: both key and value count',
  'src/admission/policies/compiled-policy.ts': FILLED,
  'src/admission/plugins/quota/quotas.ts': FILLED,
  'src/admission/webhooks/candidates.ts': FILLED,
  'src/admission/webhooks/known-replies.ts': FILLED,
  'src/base/heavy-line.ts': 'test/base/heavy-line.test.ts: who does not look any more holds up nobody',
  'src/base/few-at-once.ts': 'test/base/few-at-once.test.ts: an item that the engine gave up makes room after a while',
  'src/base/waiting-places.ts': 'test/base/waiting-places.test.ts: so many wait at once',
  'src/authentication/attested-requests.ts':
    'test/authentication/attested-requests.test.ts: connections beyond those that one period may have are refused',
  'src/authentication/key-questions.ts': FILLED,
  'src/authentication/refused-tokens.ts': FILLED,
  'src/authentication/token-authenticator.ts': FILLED,
  'src/authentication/token-webhook.ts': FILLED,
  'src/authorization/impersonation.ts': FILLED,
  'src/authorization/subject-index.ts': 'test/bounds/goes-with-its-object.test.ts: the index of a list of bindings',
  'src/authorization/webhook-authorizer.ts': 'test/base/bounded-map.test.ts: both key and value count',
  'src/cel/values/patterns.ts': FILLED,
  'src/cli/engine/audit-log.ts':
    'test/cli/engine/audit-log.test.ts: a disk that takes nothing holds nothing of senders who have gone',
  'src/cli/front/arriving.ts': 'test/cli/front/arriving.test.ts: up to 32 blocks are reused',
  'src/cli/front/frame-follower.ts':
    'test/cli/front/client-messages.test.ts: messages that are too long together end the client with the longest',
  'src/cli/front/connection-limits.ts':
    'test/cli/front/connection-limits.test.ts: an address without connections is forgotten',
  'src/cli/front/engine-room.ts':
    'test/cli/front/engine-room.test.ts: who waits too long is told, and who gives up is not',
  'src/cli/front/http2/connection.ts':
    'test/cli/front/http2/connection.test.ts: of many at once each has its answer, over connections that are used again',
  'src/cli/front/http-framing.ts': 'test/cli/front/http-framing.test.ts: are not kept where they are long',
  'src/cli/outgoing/kept-connections.ts':
    'test/cli/outgoing/kept-connections.test.ts: a limited number of calls wait for a connection',
  'src/cli/outgoing/calls.ts': 'test/cli/outgoing/calls.test.ts: no more calls are under way than may be',
  'src/cli/outgoing/exchange-places.ts':
    'test/cli/outgoing/exchanges.test.ts: to all hosts together no more are under way than may be',
  'src/cli/held-together.ts': 'test/cli/held-together.test.ts: what is too long together ends the longest',
  'src/cli/outgoing/joined-pieces.ts':
    'test/cli/outgoing/joined-pieces.test.ts: one gets a turn after the other, and one that has ended waits no longer',
  'src/cli/front/http2/stream-line.ts': 'test/cli/front/http2/stream-line.test.ts: a connection that has ended leaves',
  'src/cli/front/tunnels.ts': FILLED,
  'src/codec/protobuf/kept-items.ts':
    'test/codec/protobuf/kept-items.test.ts: a list that the engine dropped counts no longer after two minutes',
  'src/controllers/work/list-room.ts': 'test/controllers/work/list-room.test.ts: give it back at their end',
  'src/controllers/work/look-pace.ts': FILLED,
  'src/controllers/work/once-each.ts': BY_CLUSTERS,
  'src/controllers/work/parsed-once.ts': FILLED,
  'src/controllers/scheduling/cluster-state.ts':
    'test/controllers/scheduling/cluster-state.test.ts: the scheduler keeps nothing of',
  'src/controllers/scheduling/node-state.ts': FILLED,
  'src/controllers/scheduling/late-bindings.ts':
    'test/controllers/scheduling/late-bindings.test.ts: there are many of them at 64 writes',
  'src/controllers/scheduling/run.ts':
    'test/controllers/scheduling/writes-under-way.test.ts: so many go on side by side',
  'src/controllers/scheduling/running-terms.ts':
    'test/controllers/scheduling/running-terms.test.ts: pods that come and go leave nothing behind',
  'src/controllers/scheduling/taints.ts':
    'test/controllers/scheduling/cluster-state.test.ts: the scheduler keeps nothing of',
  'src/controllers/simulation/kubelet-state.ts':
    'test/controllers/scheduling/cluster-state.test.ts: the kubelets keep nothing of',
  'src/controllers/simulation/pods-under-way.ts':
    'test/controllers/simulation/late-pods.test.ts: further pods of the namespace wait, and the run begins no more',
  'src/controllers/simulation/stage-player.ts':
    'test/controllers/simulation/stages.test.ts: pods that are more than are known one by one',
  'src/controllers/nodes/tainted-places.ts':
    'test/controllers/nodes/tainted-places.test.ts: where more are tainted than are remembered',
  'src/controllers/simulation/stages.ts': FILLED,
  'src/controllers/work/turns.ts': 'test/controllers/work/turns.test.ts: nothing is kept of what is done',
  'src/controllers/workloads/endpoints/change-time.ts': FILLED,
  'src/controllers/workloads/daemon-set/back-off.ts': BY_CLUSTERS,
  'src/controllers/workloads/events/event-correlator.ts': FILLED,
  'src/controllers/workloads/events/events.ts': FILLED,
  'src/controllers/workloads/horizontal-pod-autoscaler/history.ts':
    'test/controllers/workloads/horizontal-pod-autoscaler/behavior.test.ts: is bounded by the longest window',
  'src/controllers/workloads/endpoints/slice-topology.ts': BY_CLUSTERS,
  'src/endpoints/aggregation/remote-documents.ts': FILLED,
  'src/endpoints/documents/packed-bodies.ts':
    'test/endpoints/documents/packed-bodies.test.ts: what is too large is made each time',
  'src/flowcontrol/admit-request.ts': FILLED,
  'src/flowcontrol/arrivals.ts':
    'test/flowcontrol/arrivals.test.ts: those that are complete, and small ones, do not count',
  'src/flowcontrol/room.ts':
    'test/flowcontrol/room.test.ts: a share of a request that the engine dropped counts as left after two minutes',
  'src/flowcontrol/socket-pace.ts': BY_CLUSTERS,
  'src/flowcontrol/seats.ts': 'test/flowcontrol/seats.test.ts: those that nobody left are forgotten a minute later',
  'src/flowcontrol/waiting-line.ts': FILLED,
  'src/go/pattern-automaton.ts': 'test/go/pattern-search.test.ts: no more than each instruction at each character',
  'src/go/template/execute.ts': 'test/go/template/template.test.ts: more than 20000 steps',
  'src/metrics/admission.ts': 'test/bounds/filled.test.ts: labels',
  'src/metrics/measurements.ts': FILLED,
  'src/metrics/series.ts': FILLED,
  'src/openapi/documents.ts': BY_CLUSTERS,
  'src/openapi/rendered-paths.ts': FILLED,
  'src/registry/write/until-written.ts': 'test/base/bounded-map.test.ts: both key and value count',
  'src/registry/custom-resources/compiled-versions.ts': FILLED,
  'src/registry/custom-resources/conversion-counts.ts': 'test/bounds/filled.test.ts: labels',
  'src/registry/custom-resources/conversion-webhook.ts': FILLED,
  'src/registry/custom-resources/entries.ts':
    'test/bounds/goes-with-its-object.test.ts: what is served of a definition',
  'src/registry/custom-resources/watched-kinds.ts': FILLED,
  'src/registry/work/owner-kinds.ts': 'test/registry/work/owner-kinds.test.ts: twenty thousand made-up kinds are told',
  'src/registry/served/served-groups.ts': 'test/bounds/goes-with-its-object.test.ts: what is served of a definition',
  'src/schema/path-element.ts': FILLED,
  'src/storage/shards/shard-client.ts': FILLED,
  'src/storage/watch/shard-watch.ts':
    'test/storage/watch/shard-watch.test.ts: a watch that is too slow keeps four megabytes',
  'src/storage/shards/shards-here.ts': BY_CLUSTERS,
  'src/storage/shards/turn-budget.ts':
    'test/storage/shards/turn-budget.test.ts: thousands of callers leave nothing behind',
  'src/storage/watch/watch-room.ts':
    'test/storage/watch/watch-room.test.ts: a hundred watches that nobody reads hold no more',
  'src/storage/shards/write-pause.ts': FILLED,
  'src/storage/shards/writes-together.ts':
    'test/storage/shards/writes-together.test.ts: what thousands of writers began in one turn',
  'src/tenancy/lazy-definition.ts':
    'test/tenancy/lazy-definition.test.ts: of many the schemas that were used last are kept',
  'src/tenancy/packing.ts': 'test/tenancy/packing.test.ts: all but the last are packed',
  'src/tenancy/recent-objects.ts': FILLED,
  'src/tenancy/snapshot-data.ts': 'test/bounds/goes-with-its-object.test.ts: a snapshot has what is stored',
  'src/tenancy/tenant-state.ts': 'test/tenancy/tenant-state.test.ts: control planes that were not used for long',
  'src/validation/go-pattern.ts': FILLED,
}

/** Why no request fills it. */
const reasons = {
  tables: 'its keys are of tables that are compiled in',
  settings: 'its keys are of the settings, which one isolate has once',
  'a call': 'it goes with the request, the call, the look or the connection that made it',
  tests: 'storage of tests',
} as const

const notFilledByRequests: Readonly<Record<string, keyof typeof reasons>> = {
  'durable-objects/shard-usage.ts': 'tables',
  'src/admission/chain.ts': 'settings',
  'src/admission/read-once.ts': 'a call',
  'src/authentication/authentication-counts.ts': 'tables',
  'src/authentication/client-authority.ts': 'settings',
  'src/authentication/issuers/issuer-keys.ts': 'settings',
  'src/authentication/issuers/validate.ts': 'settings',
  'src/authorization/authorization-counts.ts': 'settings',
  'src/authorization/authorize.ts': 'a call',
  'src/authorization/rbac.ts': 'a call',
  'src/cel/syntax/parsed-parts.ts': 'a call',
  'src/cli/outgoing/answer.ts': 'a call',
  'src/cli/front/websocket-streams.ts': 'a call',
  'src/endpoints/watch/watch-stream.ts': 'a call',
  'src/codec/table.ts': 'tables',
  'src/codec/yaml/scalar.ts': 'tables',
  'src/controllers/garbage/owners.ts': 'a call',
  'src/controllers/work/in-turns.ts': 'a call',
  'src/controllers/scheduling/devices/capacity.ts': 'a call',
  'src/controllers/scheduling/disruption-budgets.ts': 'a call',
  'src/controllers/scheduling/devices/constraints.ts': 'a call',
  'src/controllers/scheduling/devices/pools.ts': 'a call',
  'src/controllers/scheduling/devices/selectors.ts': 'a call',
  'src/controllers/workloads/service-cidr.ts': 'a call',
  'src/endpoints/discovery/serve.ts': 'tables',
  'src/endpoints/nodes/simulated/port-forward.ts': 'a call',
  'src/endpoints/backup/restore-plan.ts': 'a call',
  'src/endpoints/backup/restore.ts': 'a call',
  'src/openapi/render-v2.ts': 'tables',
  'src/registry/admissionregistration/webhook-configurations.ts': 'tables',
  'src/registry/built-in-resource.ts': 'tables',
  'src/registry/served/built-in-served.ts': 'settings',
  'src/registry/custom-resources/between-versions.ts': 'a call',
  'src/registry/core/services/node-ports.ts': 'a call',
  'src/registry/definitions.ts': 'tables',
  'src/request/fault.ts': 'tables',
  'src/schema/built-in-members.ts': 'tables',
  'src/schema/built-in.ts': 'tables',
  'src/spdy/frames.ts': 'a call',
  'src/spdy/server-connection.ts': 'a call',
  'src/storage/memory.ts': 'tests',
  'src/storage/streams/pieces.ts': 'a call',
  'src/storage/encryption/sealing.ts': 'settings',
}

const files = globSync(['src/**/*.ts', 'durable-objects/**/*.ts'], { cwd: ROOT })
  .filter((file) => file !== 'src/base/bounded-map.ts' && /Bound: |new BoundedMap/.test(source(file)))
  .sort()

test('every file with a collection that lasts is accounted for once, and no other', () => {
  const accounts = [...Object.keys(filled), ...Object.keys(notFilledByRequests)].sort()
  expect(accounts, 'a file wants a line in `filled` or in `notFilledByRequests`').toEqual(files)
})

test.each(Object.entries(filled))('%s: %s', (file, account) => {
  const [path = '', title = ''] = account.split(': ')
  expect(existsSync(join(ROOT, path))).toBe(true)
  const text = source(path)
  // a table names the file, or its test imports what it fills
  expect(text).toContain(title === '' ? file.replace(/^src\//, '') : title)
})
