// What admission refuses to kube-apiserver's own requests (its loopback client) holds them back, and is done when it is allowed.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Topic } from '../../src/registry/work/topic.ts'
import type { GroupResource } from '../../src/api/group-version.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import { controllers } from '../../src/controllers/controllers.ts'
import type { ControlPlaneInMemory } from './control-plane.ts'
import { definition } from './definition.ts'
import { newPlane, of } from './reconcile.ts'

const ADMISSION = 'admissionregistration.k8s.io'
const BINDINGS = { group: ADMISSION, resource: 'validatingadmissionpolicybindings' }
const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
const SCHEMAS = { group: 'flowcontrol.apiserver.k8s.io', resource: 'flowschemas' }
const SERVICES = { group: '', resource: 'services' }
const WIDGETS = { group: 'example.com', resource: 'widgets' }
const WIDGET_DEFINITION = 'widgets.example.com'

let plane: ControlPlaneInMemory
beforeEach(async () => {
  plane = await newPlane()
})

/** A policy denies the server itself these requests. */
async function deny(operation: string, group: string, resource: string): Promise<void> {
  const rule = { apiGroups: [group], apiVersions: ['*'], operations: [operation], resources: [resource] }
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [rule],
    },
    validations: [{ expression: "request.userInfo.username != 'system:apiserver'", message: 'not you' }],
  }
  const policies = { group: ADMISSION, resource: 'validatingadmissionpolicies' }
  const metadata = { name: 'deny' }
  await plane.create(policies, of(`${ADMISSION}/v1`, 'ValidatingAdmissionPolicy', { metadata, spec }))
  const binding = { metadata, spec: { policyName: 'deny', validationActions: ['Deny'] } }
  await plane.create(BINDINGS, of(`${ADMISSION}/v1`, 'ValidatingAdmissionPolicyBinding', binding))
  await attempted()
}

async function allow(): Promise<void> {
  await plane.delete(BINDINGS, '', 'deny')
  await attempted()
}

/** Does what is due within two minutes, and tries again what fails. @returns why it failed, each reason once */
async function attempted(): Promise<string[]> {
  const reasons = new Set<string>()
  for (let tries = 0; tries < 20; tries++)
    try {
      await plane.pass(6_000)
    } catch (error) {
      reasons.add((error as Error).message)
    }
  return [...reasons]
}

const refused = [
  expect.stringContaining("ValidatingAdmissionPolicy 'deny' with binding 'deny' denied request: not you"),
]

async function conditions(resource: GroupResource, name: string): Promise<Record<string, string> | undefined> {
  const found: (KubeObject & { status?: { conditions?: { type: string; status: string }[] } }) | undefined =
    await plane.get(resource, '', name)
  return found && Object.fromEntries((found.status?.conditions ?? []).map(({ type, status }) => [type, status]))
}

const newDefinition = (metadata: object = {}): JsonObject => {
  const { status: _, ...rest } = definition('widgets', 'example.com', metadata, false)
  return rest as JsonObject
}

describe('definitions', () => {
  test('are not established while their status is refused', async () => {
    await deny('UPDATE', DEFINITIONS.group, 'customresourcedefinitions/status')
    await plane.create(DEFINITIONS, newDefinition())
    expect(await attempted()).toEqual(refused)
    expect(await conditions(DEFINITIONS, WIDGET_DEFINITION)).not.toHaveProperty('Established', 'True')
    await allow()
    expect(await conditions(DEFINITIONS, WIDGET_DEFINITION)).toMatchObject({
      NamesAccepted: 'True',
      Established: 'True',
    })
  })

  test('do not say whether they are approved while their status is refused', async () => {
    await deny('UPDATE', DEFINITIONS.group, 'customresourcedefinitions/status')
    const { metadata, ...rest } = definition('widgets', 'storage.k8s.io', {}, false)
    await plane.create(DEFINITIONS, {
      ...rest,
      metadata: {
        ...metadata,
        annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/x/pull/1' },
      },
    } as unknown as JsonObject)
    expect(await attempted()).toEqual(refused)
    await allow()
    expect(await conditions(DEFINITIONS, 'widgets.storage.k8s.io')).toMatchObject({
      KubernetesAPIApprovalPolicyConformant: 'True',
    })
  })

  test('stay while their end is refused', async () => {
    await plane.create(DEFINITIONS, newDefinition())
    await attempted()
    await deny('UPDATE', DEFINITIONS.group, 'customresourcedefinitions/status')
    await plane.delete(DEFINITIONS, '', WIDGET_DEFINITION)
    expect(await attempted()).toEqual(refused)
    expect(await plane.names(DEFINITIONS)).toEqual([WIDGET_DEFINITION])
    await allow()
    expect(await plane.names(DEFINITIONS)).toEqual([])
  })

  test('that go take their objects with them below admission', async () => {
    await plane.create(DEFINITIONS, newDefinition())
    await attempted()
    await plane.create(WIDGETS, of('example.com/v1', 'Widget', { metadata: { name: 'a', namespace: 'default' } }))
    await deny('DELETE', 'example.com', 'widgets')
    await plane.delete(DEFINITIONS, '', WIDGET_DEFINITION)
    expect(await attempted()).toEqual([])
    expect(await plane.names(DEFINITIONS)).toEqual([])
  })

  test('have no APIService while it is refused', async () => {
    await deny('CREATE', API_SERVICES.group, 'apiservices')
    await plane.create(DEFINITIONS, newDefinition())
    expect(await attempted()).toEqual(refused)
    expect(await conditions(API_SERVICES, 'v1.example.com')).toBeUndefined()
    await allow()
    expect(await conditions(API_SERVICES, 'v1.example.com')).toEqual({ Available: 'True' })
  })
})

test('an APIService does not say whether it is available while its status is refused', async () => {
  await deny('UPDATE', API_SERVICES.group, 'apiservices/status')
  const spec = {
    group: 'example.com',
    version: 'v1',
    groupPriorityMinimum: 1,
    versionPriority: 1,
    service: { namespace: 'default', name: 'absent', port: 443 },
    insecureSkipTLSVerify: true,
  }
  await plane.create(
    API_SERVICES,
    of('apiregistration.k8s.io/v1', 'APIService', { metadata: { name: 'v1.example.com' }, spec }),
  )
  expect(await attempted()).toEqual(refused)
  expect(await conditions(API_SERVICES, 'v1.example.com')).toEqual({})
  await allow()
  expect(await conditions(API_SERVICES, 'v1.example.com')).toEqual({ Available: 'False' })
})

describe('flow control', () => {
  test('a suggested object that was deleted does not come back while it is refused', async () => {
    await deny('CREATE', SCHEMAS.group, 'flowschemas')
    await plane.delete(SCHEMAS, '', 'service-accounts')
    expect(await attempted()).toEqual(refused)
    expect(await plane.get(SCHEMAS, '', 'service-accounts')).toBeUndefined()
    await allow()
    expect(await plane.get(SCHEMAS, '', 'service-accounts')).toBeDefined()
  })

  test('a schema does not say that its level is missing while its status is refused', async () => {
    await deny('UPDATE', SCHEMAS.group, 'flowschemas/status')
    const spec = {
      matchingPrecedence: 1000,
      distinguisherMethod: { type: 'ByUser' },
      priorityLevelConfiguration: { name: 'nowhere' },
      rules: [],
    }
    await plane.create(SCHEMAS, of(`${SCHEMAS.group}/v1`, 'FlowSchema', { metadata: { name: 'mine' }, spec }))
    expect(await attempted()).toEqual(refused)
    await allow()
    expect(await conditions(SCHEMAS, 'mine')).toEqual({ Dangling: 'True' })
  })
})

describe('what the server itself needs', () => {
  test('does not come back while it is refused, and the server goes on', async () => {
    await deny('CREATE', '', 'services')
    await plane.delete(SERVICES, 'default', 'kubernetes')
    expect(await attempted()).toEqual(refused)
    expect(await plane.get(SERVICES, 'default', 'kubernetes')).toBeUndefined()
    // what nobody refuses is back
    expect(await plane.get({ group: '', resource: 'endpoints' }, 'default', 'kubernetes')).toBeDefined()
    expect(await plane.configMap('written')).toBeDefined()
    await allow()
    expect(await plane.get(SERVICES, 'default', 'kubernetes')).toBeDefined()
  })
})

describe('what a new release adds', () => {
  const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
  const MISSING = ['system:basic-user', 'system:discovery']

  /** As an earlier release left it. */
  async function upgraded(): Promise<void> {
    for (const name of MISSING) await plane.delete(ROLES, '', name)
    ;(await plane.context('server-edition')).later('server-edition', '', 0)
  }
  const found = async () => (await plane.names(ROLES)).filter((name) => MISSING.includes(name))

  test('comes', async () => {
    await upgraded()
    expect(await attempted()).toEqual([])
    expect(await found()).toEqual(MISSING)
  })

  test('does not come while it is refused, and the server goes on', async () => {
    await deny('CREATE', ROLES.group, 'clusterroles')
    await upgraded()
    expect(await attempted()).toEqual([...refused, ...refused])
    expect(await found()).toEqual([])
    expect(await plane.configMap('written')).toBeDefined()
    await allow()
    expect(await found()).toEqual(MISSING)
  })

  test('that was not refused stays away once somebody deletes it, whatever else is still refused', async () => {
    await deny('CREATE', ROLES.group, 'clusterroles')
    await upgraded()
    await attempted()
    const accounts = { group: '', resource: 'serviceaccounts' }
    await plane.delete(accounts, 'kube-system', 'bootstrap-signer')
    await allow()
    expect(await found()).toEqual(MISSING)
    expect(await plane.get(accounts, 'kube-system', 'bootstrap-signer')).toBeUndefined()
  })
})

test.each<Topic>([
  'api-service-availability',
  'crd-api-services',
  'crd-approval',
  'crd-finalizer',
  'crd-names',
  'flow-defaults',
  'flow-schema-status',
  'server-edition',
  'server-objects',
])('%s is never given up', (topic) => {
  expect(controllers[topic].neverGivesUp).toBe(true)
})
