// What admission refuses to the garbage collector and the namespace controller, as observed at kube-controller-manager.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Namespace } from '../../src/api/core/v1.ts'
import type { JsonObject } from '../../src/api/object.ts'
import { CONFIG_MAPS, ControlPlaneInMemory, EVENTS, ownedBy } from './control-plane.ts'

const GROUP = 'admissionregistration.k8s.io'
const NAMESPACES = { group: '', resource: 'namespaces' }
const PODS = { group: '', resource: 'pods' }

let plane: ControlPlaneInMemory
beforeEach(async () => {
  plane = new ControlPlaneInMemory()
  await plane.context()
  await plane.settle()
})

/** Does what is due, and tries again what fails. @returns why it failed, each reason once */
async function settled(): Promise<string[]> {
  const reasons = new Set<string>()
  for (let tries = 0; tries < 20; tries++)
    try {
      await plane.settle()
      break
    } catch (error) {
      reasons.add((error as Error).message)
    }
  return [...reasons]
}

/** A policy refuses these operations on what has the label `keep`. */
async function keep(operations: readonly string[], resources: readonly string[]): Promise<void> {
  const named = (kind: string, spec: JsonObject): JsonObject => ({
    kind,
    apiVersion: `${GROUP}/v1`,
    metadata: { name: 'keep' },
    spec,
  })
  await plane.create(
    { group: GROUP, resource: 'validatingadmissionpolicies' },
    named('ValidatingAdmissionPolicy', {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [
          { apiGroups: ['*'], apiVersions: ['*'], operations: [...operations], resources: [...resources] },
        ],
      },
      validations: [
        {
          expression: "!('keep' in oldObject.metadata.?labels.orValue({}))",
          messageExpression: `'kept from ' + request.userInfo.username + ' as ' + request.?name.orValue('nothing')`,
        },
      ],
    }),
  )
  await plane.create(
    { group: GROUP, resource: 'validatingadmissionpolicybindings' },
    named('ValidatingAdmissionPolicyBinding', { policyName: 'keep', validationActions: ['Deny'] }),
  )
  await plane.pass(60_000)
}

async function allow(): Promise<void> {
  await plane.delete({ group: GROUP, resource: 'validatingadmissionpolicybindings' }, '', 'keep')
  await plane.pass(60_000)
}

const denied = (resource: string, name: string, user: string, as = name) =>
  `${resource} "${name}" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: kept from system:serviceaccount:kube-system:${user} as ${as}`

const object = (kind: string, namespace: string, name: string, kept: boolean, more: object = {}) =>
  ({
    kind,
    apiVersion: 'v1',
    metadata: { name, namespace, ...(kept ? { labels: { keep: '1' } } : {}), ...more },
    ...(kind === 'Pod' ? { spec: { containers: [{ name: 'c', image: 'i' }] } } : {}),
  }) as unknown as JsonObject

describe('a namespace that is deleted', () => {
  const contentFailure = async () => {
    const namespace = (await plane.get(NAMESPACES, '', 'shop')) as Namespace | undefined
    return namespace?.status?.conditions
      ?.filter(({ status }) => status === 'True')
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  }

  beforeEach(async () => {
    await plane.create(NAMESPACES, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'shop' },
      spec: { finalizers: ['kubernetes'] },
    })
    for (const name of ['a', 'keep', 'z']) {
      await plane.create(CONFIG_MAPS, object('ConfigMap', 'shop', name, name === 'keep'))
      await plane.create(PODS, object('Pod', 'shop', name, name === 'keep'))
    }
    await plane.settle()
  })

  const deleteIt = async () => {
    await plane.delete(NAMESPACES, '', 'shop')
    await settled()
    await plane.pass(7_000)
  }

  test('stays while a policy keeps its objects, says why, and goes on with other types', async () => {
    await keep(['DELETE'], ['pods'])
    await deleteIt()
    expect(await contentFailure()).toEqual([
      `NamespaceDeletionContentFailure ContentDeletionFailed: Failed to delete all resource types, 1 remaining: ${denied('pods', 'Unknown', 'namespace-controller', 'nothing')}`,
    ])
    // the first that is refused ends it
    expect(await plane.names(PODS, 'shop')).toEqual(['keep', 'z'])
    expect(await plane.names(CONFIG_MAPS, 'shop')).toEqual([])
    expect(await plane.names(EVENTS)).toEqual([])
    await allow()
    await plane.pass(1_000_000)
    expect(await plane.names(NAMESPACES)).not.toContain('shop')
    expect(await plane.names(PODS, 'shop')).toEqual([])
  })

  test('that is refused for ever is looked at more and more seldom, and never given up', async () => {
    await keep(['DELETE'], ['configmaps'])
    await deleteIt()
    plane.tried.length = 0
    for (let minute = 0; minute < 24 * 60; minute++) await plane.pass(60_000)
    const looks = plane.tried.filter((controller) => controller === 'namespace').length
    expect(looks).toBeLessThan(200)
    expect(plane.waiting.join()).toContain('namespace shop in ')
  })

  test('a webhook that cannot be asked holds it back, too', async () => {
    await plane.create(
      { group: GROUP, resource: 'validatingwebhookconfigurations' },
      {
        kind: 'ValidatingWebhookConfiguration',
        apiVersion: `${GROUP}/v1`,
        metadata: { name: 'dead' },
        webhooks: [
          {
            name: 'dead.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            failurePolicy: 'Fail',
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            clientConfig: { service: { namespace: 'shop', name: 'dead' } },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }],
          },
        ],
      },
    )
    await plane.pass(60_000)
    await deleteIt()
    expect((await contentFailure())?.join()).toContain(
      'Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "dead.example.com"',
    )
    expect(await plane.names(CONFIG_MAPS, 'shop')).toHaveLength(3)
  })
})

describe('the garbage collector', () => {
  const dependents = async (policy: string) => {
    const owner = await plane.configMap('owner')
    for (const name of ['a', 'keep', 'z'])
      await plane.create(
        CONFIG_MAPS,
        object('ConfigMap', 'default', name, name === 'keep', {
          ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })],
        }),
      )
    await plane.settle()
    await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy: policy })
  }

  test.each([
    ['Background', ['DELETE'], ['keep']],
    ['Foreground', ['DELETE'], ['keep', 'owner']],
    ['Orphan', ['UPDATE'], ['a', 'keep', 'owner', 'z']],
  ])('%s: what is refused holds no sibling back, and is done when it is allowed', async (policy, operations, left) => {
    await keep(operations, ['configmaps'])
    await dependents(policy)
    expect(await settled()).toEqual([denied('configmaps', 'keep', 'generic-garbage-collector')])
    expect((await plane.names(CONFIG_MAPS, 'default')).sort()).toEqual(left)
    const owners = async (name: string) =>
      (await plane.get(CONFIG_MAPS, 'default', name))?.metadata.ownerReferences?.length
    expect(await owners('keep')).toBe(1)
    if (policy === 'Orphan') expect(await owners('z')).toBeUndefined()
    await plane.delete({ group: GROUP, resource: 'validatingadmissionpolicybindings' }, '', 'keep')
    await settled()
    plane.now = new Date(plane.now.getTime() + 60_000)
    expect(await settled()).toEqual([])
    expect((await plane.names(CONFIG_MAPS, 'default')).sort()).toEqual(policy === 'Orphan' ? ['a', 'keep', 'z'] : [])
  })
})
