// The state that an isolate keeps of a control plane after a restore replaced all its objects. Each module declares
// what happens to its part (perTenant). This file lists each map of the whole isolate.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { credentialEpoch, credentialsReplaced } from '../../src/tenancy/credential-writes.ts'
import { perTenant, tenantReplaced } from '../../src/tenancy/tenant-state.ts'
import type { WhenReplaced } from '../../src/tenancy/tenant-state.ts'

const ROOT = join(import.meta.dirname, '../..')
const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const files = globSync('src/**/*.ts', { cwd: ROOT }).sort()

const parts: Readonly<Record<WhenReplaced, (tenant: { readonly uid: string }) => object>> = {
  forgotten: perTenant('forgotten', () => ({})),
  counts: perTenant('counts', () => ({})),
  'is of requests under way': perTenant('is of requests under way', () => ({})),
  'is renewed': perTenant('is renewed', () => ({})),
}

test('what says something of objects is forgotten, of that control plane alone', () => {
  const [one, other] = [{ uid: 'one' }, { uid: 'other' }]
  const before = Object.entries(parts).map(([kind, part]) => [kind, part(one), part(other)] as const)
  tenantReplaced(one)
  for (const [kind, ofOne, ofOther] of before) {
    expect(parts[kind as WhenReplaced](one) === ofOne, kind).toBe(kind !== 'forgotten')
    expect(parts[kind as WhenReplaced](other), kind).toBe(ofOther)
  }
})

test('an epoch comes once, also where the control plane was forgotten meanwhile', () => {
  const tenant = { uid: 'epochs' }
  const seen = [credentialEpoch(tenant)]
  credentialsReplaced(tenant)
  seen.push(credentialEpoch(tenant))
  for (let n = 0; n < 1_000; n++) credentialEpoch({ uid: `passer-by-${n}` })
  seen.push(credentialEpoch(tenant))
  expect(new Set(seen).size).toBe(3)
})

/** Parts that are not forgotten, and why no object of the control plane is in them. */
const stays: Readonly<Record<string, Exclude<WhenReplaced, 'forgotten'>>> = {
  'src/admission/plugins/event-rate-limit.ts': 'counts',
  'src/authentication/authentication-counts.ts': 'counts',
  'src/authentication/refused-tokens.ts': 'is of requests under way',
  'src/authentication/token-webhook.ts': 'is of requests under way',
  'src/authorization/authorization-counts.ts': 'counts',
  'src/endpoints/aggregation/document-room.ts': 'is of requests under way',
  'src/flowcontrol/admit-request.ts': 'is of requests under way',
  'src/flowcontrol/arrivals.ts': 'is of requests under way',
  'src/flowcontrol/large-values.ts': 'is of requests under way',
  'src/flowcontrol/socket-pace.ts': 'is of requests under way',
  'src/metrics/admission.ts': 'counts',
  'src/metrics/measurements.ts': 'counts',
  'src/registry/custom-resources/conversion-counts.ts': 'counts',
  'src/registry/converted.ts': 'is of requests under way',
  'src/registry/write/until-written.ts': 'is of requests under way',
  'src/tenancy/control-snapshot.ts': 'is renewed',
  'src/tenancy/credential-writes.ts': 'counts',
  'src/webhooks/answer-room.ts': 'is of requests under way',
}

test('a part that stays is named here', () => {
  const said = files.flatMap((file) =>
    [...source(file).matchAll(/= perTenant(?:<.*>)?\(\s*'([^']+)'/g)].map(([, kind]) => [file, kind] as const),
  )
  expect(Object.fromEntries(said.filter(([, kind]) => kind !== 'forgotten'))).toEqual(stays)
})

/** Why what the whole isolate remembers by a text or a number says nothing that a restore makes wrong. */
const reasons = {
  content: 'its keys are the whole of what its values are made of, or objects of memory',
  revision: 'its keys have a resourceVersion, which comes once',
  epoch: 'its keys have the epoch of the credentials',
  others: 'its values are of another server, or of connections, and of no object',
  delays: 'its values are times and delays, which grant nothing',
  'a call': 'it goes with the call or the look that made it',
  'a part': 'it belongs to a part of a control plane, see above',
  tables: 'its keys are of tables, of types or of settings',
} as const

const ofIsolate: Readonly<Record<string, keyof typeof reasons>> = {
  'src/admission/policies/compiled-policy.ts': 'revision',
  'src/admission/webhooks/candidates.ts': 'content',
  'src/admission/webhooks/known-replies.ts': 'content',
  'src/authentication/client-authority.ts': 'tables',
  'src/authentication/key-questions.ts': 'others',
  'src/authentication/token-authenticator.ts': 'epoch',
  'src/authentication/token-webhook.ts': 'others',
  'src/authorization/webhook-authorizer.ts': 'others',
  'src/cel/values/patterns.ts': 'content',
  'src/codec/table.ts': 'tables',
  'src/codec/yaml/scalar.ts': 'tables',
  'src/controllers/work/look-pace.ts': 'delays',
  'src/controllers/work/once-each.ts': 'a call',
  'src/controllers/scheduling/devices/selectors.ts': 'a call',
  'src/controllers/simulation/kubelet-state.ts': 'a part',
  'src/controllers/simulation/stages.ts': 'revision',
  'src/controllers/workloads/daemon-set/back-off.ts': 'delays',
  'src/endpoints/aggregation/remote-documents.ts': 'others',
  'src/endpoints/documents/packed-bodies.ts': 'content',
  'src/flowcontrol/waiting-line.ts': 'a part',
  'src/go/pattern-automaton.ts': 'content',
  'src/metrics/series.ts': 'a part',
  'src/openapi/documents.ts': 'revision',
  'src/openapi/render-v2.ts': 'content',
  'src/openapi/rendered-paths.ts': 'a call',
  'src/registry/served/built-in-served.ts': 'tables',
  'src/registry/custom-resources/compiled-versions.ts': 'revision',
  'src/registry/definitions.ts': 'tables',
  'src/request/fault.ts': 'tables',
  'src/schema/built-in-members.ts': 'tables',
  'src/schema/built-in.ts': 'tables',
  'src/schema/path-element.ts': 'content',
  'src/storage/shards/shard-client.ts': 'others',
  'src/storage/shards/shards-here.ts': 'revision',
  'src/storage/shards/write-pause.ts': 'delays',
  'src/tenancy/lazy-definition.ts': 'content',
  'src/tenancy/tenant-state.ts': 'a part',
  'src/validation/go-pattern.ts': 'content',
}

test('what the whole isolate remembers is named here', () => {
  const remembering = files.filter((file) => {
    const text = source(file)
    const hasMap = /^(?:export )?(?:const|let) \w+(?:: [^=]+)? = new (?:BoundedMap|Map)(?:<.*>)?\((?:\)|\{)/m.test(text)
    return !file.startsWith('src/cli/') && (hasMap || (text.includes('new BoundedMap') && !text.includes('perTenant(')))
  })
  expect(Object.keys(ofIsolate).sort(), 'a file wants a line in `ofIsolate`').toEqual(remembering)
  expect(Object.values(ofIsolate).filter((reason) => !Object.hasOwn(reasons, reason))).toEqual([])
})
