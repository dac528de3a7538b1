// Every collection that outlives a request is accounted for: a test fills it, or it says why no request does.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** In filled.test.ts. */
const FILLED = 'test/bounds/filled.test.ts'
const BY_TABLES = 'its keys are of tables that are compiled in'
const BY_SETTINGS = 'its keys are of the settings, which one isolate has once'
const OF_A_CALL = 'it goes with the request, or the call, that made it'
const BY_OBJECTS = 'it holds what a list that is stored holds, and goes with it'
const OF_TESTS = 'storage of tests'
/** A BoundedMap without texts of clients: uids, hashes and names of objects, so that its entries are its bound. */
const SHORT_KEYS = 'keys are uids and names of objects'

/** By file: the test that fills it (`FILE: TITLE`, a part of it), or the reason. */
const accounts: Readonly<Record<string, string>> = {
  'durable-objects/dependent-table.ts': 'test/durable-objects/dependent-table.test.ts: MAX_KINDS',
  'durable-objects/outbox.ts': FILLED,
  'durable-objects/past-state.ts':
    'test/durable-objects/past-state.test.ts: of more than it keeps, the rest is looked for again',
  'durable-objects/pending-work.ts': FILLED,
  'durable-objects/shard-usage.ts': BY_TABLES,
  'durable-objects/statements.ts': 'test/api/bounded-map.test.ts: both key and value count',
  'durable-objects/watch-hub.ts': 'groups of the open sockets, of which the platform admits 32,768',
  'durable-objects/watched-kinds.ts': 'definitions there are',
  'durable-objects/write-queue.ts': 'test/durable-objects/write-queue.test.ts: refuses what is too much',
  'src/admission/chain.ts': BY_SETTINGS,
  'src/admission/event-rate-limit.ts': 'test/admission/event-rate-limit.test.ts: what is forgotten starts anew',
  'src/admission/image-policy-webhook.ts': 'test/api/bounded-map.test.ts: both key and value count',
  'src/admission/policies/compiled-policy.ts': FILLED,
  'src/admission/quota/quotas.ts': FILLED,
  'src/admission/read-once.ts': OF_A_CALL,
  'src/admission/webhooks/candidates.ts': FILLED,
  'src/admission/webhooks/known-replies.ts': FILLED,
  'src/api/waiting-places.ts': 'test/api/waiting-places.test.ts: so many wait at once',
  'src/authentication/attested-requests.ts':
    'test/authentication/attested-requests.test.ts: connections beyond those that one period may have are refused',
  'src/authentication/authentication-counts.ts': BY_TABLES,
  'src/authentication/client-authority.ts': BY_SETTINGS,
  'src/authentication/issuers/issuer-keys.ts': BY_SETTINGS,
  'src/authentication/issuers/validate.ts': BY_SETTINGS,
  'src/authentication/key-questions.ts': FILLED,
  'src/authentication/refused-tokens.ts': FILLED,
  'src/authentication/token-authenticator.ts': FILLED,
  'src/authentication/token-webhook.ts': FILLED,
  'src/authorization/authorization-counts.ts': BY_SETTINGS,
  'src/authorization/authorize.ts': OF_A_CALL,
  'src/authorization/impersonation.ts': FILLED,
  'src/authorization/subject-index.ts': BY_OBJECTS,
  'src/authorization/webhook-authorizer.ts': 'test/api/bounded-map.test.ts: both key and value count',
  'src/cel/patterns.ts': FILLED,
  'src/cli/arriving.ts': 'test/cli/arriving.test.ts: up to 32 of them',
  'src/cli/connection-limits.ts': 'test/cli/connection-limits.test.ts: an address without connections is forgotten',
  'src/cli/http-framing.ts': 'test/cli/http-framing.test.ts: are not kept where they are long',
  'src/cli/kept-connections.ts': 'test/cli/kept-connections.test.ts: so many wait for their turn',
  'src/cli/outgoing-answer.ts': OF_A_CALL,
  'src/cli/outgoing-calls.ts': 'connections of the engine; lines of calls, 200 of 32 KiB',
  'src/cli/outgoing-exchanges.ts': 'hosts with an exchange under way',
  'src/cli/tunnels.ts': FILLED,
  'src/cli/websocket-streams.ts': OF_A_CALL,
  'src/codec/table.ts': BY_TABLES,
  'src/codec/yaml-scalar.ts': BY_TABLES,
  'src/controllers/look-pace.ts': FILLED,
  'src/controllers/nodes/tainted-nodes.ts':
    'test/controllers/nodes/tainted-nodes.test.ts: where more are tainted than are remembered',
  'src/controllers/once-each.ts': 'what one batch of work reads',
  'src/controllers/parsed-once.ts': FILLED,
  'src/controllers/scheduling/cluster-state.ts': 'nodes there are, and pods up to MOST_KEPT',
  'src/controllers/scheduling/devices/capacity.ts': 'devices that claims share',
  'src/controllers/scheduling/devices/constraints.ts': OF_A_CALL,
  'src/controllers/scheduling/devices/pools.ts': OF_A_CALL,
  'src/controllers/scheduling/devices/selectors.ts': OF_A_CALL,
  'src/controllers/scheduling/node-state.ts': FILLED,
  'src/controllers/scheduling/scheduler.ts': 'see cluster-state.ts',
  'src/controllers/simulation/kubelet-state.ts': 'nodes there are, and pods up to MOST_KEPT',
  'src/controllers/simulation/simulated-pods.ts': 'see kubelet-state.ts',
  'src/controllers/in-turns.ts': OF_A_CALL,
  'src/controllers/turns.ts': 'test/controllers/turns.test.ts: nothing is kept of what is done',
  'src/controllers/simulation/stage-player.ts': 'pods up to MOST_WAITING',
  'src/controllers/simulation/stages.ts': FILLED,
  'src/controllers/workloads/change-time.ts': FILLED,
  'src/controllers/workloads/daemon-set.ts': SHORT_KEYS,
  'src/controllers/workloads/event-correlator.ts': FILLED,
  'src/controllers/workloads/horizontal-pod-autoscaler-history.ts':
    'test/controllers/workloads/horizontal-pod-autoscaler-behavior.test.ts: is bounded by the longest window',
  'src/controllers/workloads/slice-topology.ts': SHORT_KEYS,
  'src/controllers/workloads/events.ts': FILLED,
  'src/endpoints/aggregation/remote-documents.ts': FILLED,
  'src/endpoints/discovery/serve.ts': BY_TABLES,
  'src/endpoints/nodes/simulated/port-forward.ts': OF_A_CALL,
  'src/endpoints/packed-bodies.ts': 'test/endpoints/packed-bodies.test.ts: what is too large is made each time',
  'src/endpoints/restore-plan.ts': OF_A_CALL,
  'src/endpoints/restore.ts': OF_A_CALL,
  'src/endpoints/watch-stream.ts': 'users who watch, by the length of their names',
  'src/flowcontrol/admit-request.ts': FILLED,
  'src/flowcontrol/seats.ts': 'test/flowcontrol/seats.test.ts: those that nobody left are forgotten a minute later',
  'src/flowcontrol/waiting-line.ts': FILLED,
  'src/go/template/execute.ts': 'test/go/template/template.test.ts: more than 20000 steps',
  'src/metrics/admission.ts': 'test/bounds/filled.test.ts: labels',
  'src/metrics/measurements.ts': FILLED,
  'src/metrics/series.ts': FILLED,
  'src/openapi/documents.ts': 'versions of definitions, by the size of their documents',
  'src/openapi/render-v2.ts': BY_TABLES,
  'src/openapi/rendered-paths.ts': FILLED,
  'src/registry/admissionregistration/webhook-configurations.ts': BY_TABLES,
  'src/registry/built-in-resource.ts': BY_TABLES,
  'src/registry/built-in-served.ts': BY_SETTINGS,
  'src/registry/custom-resources/compiled-versions.ts': FILLED,
  'src/registry/custom-resources/conversion-counts.ts': 'test/bounds/filled.test.ts: labels',
  'src/registry/custom-resources/conversion-webhook.ts': FILLED,
  'src/registry/custom-resources/custom-resource.ts': BY_OBJECTS,
  'src/registry/custom-resources/entries.ts': BY_OBJECTS,
  'src/registry/custom-resources/watched-kinds.ts': FILLED,
  'src/registry/definitions.ts': BY_OBJECTS,
  'src/registry/owner-kinds.ts': 'test/registry/owner-kinds.test.ts: twenty thousand made-up kinds are told',
  'src/request/fault.ts': BY_TABLES,
  'src/schema/built-in-members.ts': BY_TABLES,
  'src/schema/built-in.ts': BY_TABLES,
  'src/schema/path-element.ts': FILLED,
  'src/spdy/frames.ts': OF_A_CALL,
  'src/spdy/server-connection.ts': OF_A_CALL,
  'src/storage/memory.ts': OF_TESTS,
  'src/storage/pieces.ts': OF_A_CALL,
  'src/storage/sealing.ts': BY_SETTINGS,
  'src/storage/shard-client.ts': FILLED,
  'src/storage/shards-here.ts': SHORT_KEYS,
  'src/storage/shard-watch.ts': 'test/storage/watch-buffer.test.ts: a hundred watches that nobody reads',
  'src/storage/watch-buffer.ts': 'test/storage/watch-buffer.test.ts: a hundred watches that nobody reads',
  'src/storage/write-pause.ts': FILLED,
  'src/storage/writes-together.ts': 'what a Durable Object writes in one turn',
  'src/tenancy/lazy-definition.ts':
    'test/tenancy/lazy-definition.test.ts: of many the schemas that were used last are kept',
  'src/tenancy/packing.ts': 'test/tenancy/packing.test.ts: all but the last are packed',
  'src/tenancy/recent-objects.ts': FILLED,
  'src/tenancy/snapshot-data.ts': BY_OBJECTS,
  'src/tenancy/tenant-state.ts': 'test/tenancy/tenant-state.test.ts: control planes that were not used for long',
  'src/validation/go-pattern.ts': FILLED,
}

const files = globSync(['src/**/*.ts', 'durable-objects/**/*.ts'], { cwd: ROOT })
  .filter((file) => file !== 'src/api/bounded-map.ts' && /Bound: |new BoundedMap/.test(source(file)))
  .sort()

test('every file with a collection that lasts is accounted for, and no other', () => {
  expect(Object.keys(accounts).sort(), 'a file wants a line in `accounts`').toEqual(files)
})

test.each(Object.entries(accounts).filter(([, account]) => account.startsWith('test/')))('%s: %s', (file, account) => {
  const [path = '', title = ''] = account.split(': ')
  expect(existsSync(join(ROOT, path))).toBe(true)
  const text = source(path)
  // filled.test.ts names the file, or imports what it fills
  expect(text).toContain(title === '' ? file.replace(/^src\//, '') : title)
})
