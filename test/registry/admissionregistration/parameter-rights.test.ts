/** Who may name the parameters of policies: expressions and messages show what they hold. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const RBAC = 'rbac.authorization.k8s.io'
const GROUP = 'admissionregistration.k8s.io'
const TOKEN = 'an-administrator-whose-token-is-long-enough'

type Kind = 'validating' | 'mutating'
interface Rule {
  readonly apiGroups: string[]
  readonly resources: string[]
  readonly verbs: string[]
  readonly resourceNames?: string[]
}
const may = (verb: string, resource: string, resourceNames?: string[]): Rule => ({
  apiGroups: ['', 'example.com'],
  resources: [resource],
  verbs: [verb],
  ...(resourceNames && { resourceNames }),
})

const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
}
const policyOf = (kind: Kind, paramKind?: JsonObject): JsonObject => ({
  ...(paramKind && { paramKind }),
  failurePolicy: 'Fail',
  matchConstraints,
  ...(kind === 'validating'
    ? {
        validations: [{ expression: 'false', ...(paramKind && { messageExpression: 'string(params.metadata.name)' }) }],
      }
    : {
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } }],
      }),
})
const bindingOf = (kind: Kind, paramRef?: JsonObject, policyName = 'p'): JsonObject => ({
  policyName,
  ...(paramRef && { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } }),
  ...(kind === 'validating' && { validationActions: ['Deny'] }),
})

interface Given {
  readonly kind: Kind
  readonly what: 'policies' | 'policybindings'
  readonly spec: JsonObject
  /** The stored spec, which the request changes. */
  readonly old?: JsonObject
  readonly rules?: readonly Rule[]
  /** The kind of the parameters of the stored policy `p`. */
  readonly paramKind?: JsonObject
  readonly groups?: string
}

const SECRETS = { apiVersion: 'v1', kind: 'Secret' }

async function outcomeOf({ kind, what, spec, old, rules = [], paramKind = SECRETS, groups = 'dev' }: Given) {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const resource = `${kind}admission${what}`
  const metadata = { name: 'x' }
  const writes = { apiGroups: [GROUP], resources: [resource], verbs: ['create', 'update'] }
  await server.put(RBAC, 'clusterroles', { metadata, rules: [writes, ...rules] as JsonObject[] })
  await server.put(RBAC, 'clusterrolebindings', {
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'x' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'eve' }],
  })
  await server.put(GROUP, `${kind}admissionpolicies`, { metadata: { name: 'p' }, spec: policyOf(kind, paramKind) })
  const existing = { name: 'x', generation: 1, resourceVersion: '' }
  if (old !== undefined) await server.put(GROUP, resource, { metadata, spec: old })
  const path = `/apis/${GROUP}/v1/${resource}`
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Impersonate-User': 'eve',
    'Impersonate-Group': groups,
  }
  const send = async (method: string, at: string, body?: JsonObject): Promise<unknown> =>
    answer(server.request(at, { method, headers, ...(body && { body: JSON.stringify(body) }) })).catch(
      (thrown: unknown) => thrown,
    )
  if (old !== undefined) {
    const admin = { Authorization: `Bearer ${TOKEN}` }
    const live = (await (await answer(server.request(`${path}/x`, { headers: admin }))).json()) as {
      metadata: { resourceVersion: string }
    }
    existing.resourceVersion = live.metadata.resourceVersion
  }
  const answered =
    old === undefined
      ? await send('POST', path, { metadata, spec })
      : await send('PUT', `${path}/x`, { metadata: existing, spec })
  if (answered instanceof Response) return answered.status
  if (!(answered instanceof StatusError)) throw answered
  return answered.message.replace(/^.* is invalid: /, '')
}

const EVE = '&{eve  [dev system:authenticated] map[]}'
const KIND = `spec.paramKind: Forbidden: user ${EVE} must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)`
const reference = (who: string, verb: string) =>
  `spec.paramRef: Forbidden: user ${who} does not have "${verb}" permission on the object referenced by paramRef`
const BY_NAME = { name: 'a', namespace: 'blue' }
const BY_LABELS = { selector: {}, namespace: 'blue' }
const UNKNOWN = { apiVersion: 'example.com/v1', kind: 'Thing' }

const ofBoth = (kind: Kind): [string, Given, string | number][] => {
  const policy = (paramKind?: JsonObject): Pick<Given, 'kind' | 'what' | 'spec'> => ({
    kind,
    what: 'policies',
    spec: policyOf(kind, paramKind),
  })
  const binding = (paramRef?: JsonObject, policyName?: string): Pick<Given, 'kind' | 'what' | 'spec'> => ({
    kind,
    what: 'policybindings',
    spec: bindingOf(kind, paramRef, policyName),
  })
  const refusal = (verb: string) => (kind === 'validating' ? reference(EVE, verb) : reference(verb, EVE))
  const least = (what: string, verb: string) =>
    `spec.paramRef: Forbidden: unable to ${what} to determine minimum required permissions and user ${EVE} does not have "${verb}" permission for all groups, versions and resources`
  return [
    ['a policy without parameters', policy(), 201],
    ['a policy of Secrets', policy(SECRETS), KIND],
    ['by who may get one', { ...policy(SECRETS), rules: [may('get', 'secrets', ['a'])] }, KIND],
    ['by who may list them', { ...policy(SECRETS), rules: [may('list', 'secrets')] }, KIND],
    ['by who may get all', { ...policy(SECRETS), rules: [may('get', 'secrets')] }, 201],
    ['by an administrator', { ...policy(SECRETS), groups: 'system:masters' }, 201],
    [
      'a policy of a kind that is not served',
      { ...policy(UNKNOWN), rules: [may('get', 'things')] },
      KIND.replace('kind=Secret, apiVersion=v1', 'kind=Thing, apiVersion=example.com/v1'),
    ],
    ['by who may get all of its group', { ...policy(UNKNOWN), rules: [may('get', '*')] }, 201],
    ['a policy that gets parameters', { ...policy(SECRETS), old: policyOf(kind) }, KIND],
    ['a policy that keeps its parameters', { ...policy(SECRETS), old: policyOf(kind, SECRETS) }, 200],
    ['a policy that loses its parameters', { ...policy(), old: policyOf(kind, SECRETS) }, 200],
    ['a binding without parameters', binding(), 201],
    ['a binding of a Secret', binding(BY_NAME), refusal('get')],
    ['by who may get another', { ...binding(BY_NAME), rules: [may('get', 'secrets', ['b'])] }, refusal('get')],
    ['by who may get it', { ...binding(BY_NAME), rules: [may('get', 'secrets', ['a'])] }, 201],
    ['a binding of some Secrets', { ...binding(BY_LABELS), rules: [may('get', 'secrets')] }, refusal('list')],
    ['by who may list them', { ...binding(BY_LABELS), rules: [may('list', 'secrets')] }, 201],
    [
      'a binding of a policy that is not there',
      { ...binding(BY_NAME, 'q'), rules: [may('get', 'secrets')] },
      least('get policy q', 'get'),
    ],
    [
      'a binding of a kind that is not served',
      { ...binding(BY_NAME), paramKind: UNKNOWN, rules: [may('get', 'secrets')] },
      least('resolve paramKind &{example.com/v1 Thing}', 'get'),
    ],
    ['a binding that gets parameters', { ...binding(BY_NAME), old: bindingOf(kind) }, refusal('get')],
    ['a binding that keeps its parameters', { ...binding(BY_NAME), old: bindingOf(kind, BY_NAME) }, refusal('get')],
    ['a binding that loses its parameters', { ...binding(), old: bindingOf(kind, BY_NAME) }, 200],
  ]
}

test.each([...ofBoth('validating'), ...ofBoth('mutating')])('%s: %#', async (_what, given, outcome) => {
  expect(await outcomeOf(given)).toBe(outcome)
})
