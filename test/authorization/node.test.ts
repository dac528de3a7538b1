import { describe, expect, test } from 'vitest'
import { resourceAttributes } from '../../src/authorization/attributes.ts'
import type { AuthorizationAttributes } from '../../src/authorization/attributes.ts'
import { nodeAuthorizer } from '../../src/authorization/node.ts'
import type { Env } from '../../src/env.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { parseFieldSelector } from '../../src/storage/selectors/field-selector.ts'
import { serverWith } from '../admission/plugin-outcome.ts'
import type { MemoryServer } from '../request-in-memory.ts'

const stored = {
  'podcertificaterequests.certificates.k8s.io': [
    { metadata: { name: 'own', namespace: 'blue' }, spec: { nodeName: 'n1' } },
    { metadata: { name: 'foreign', namespace: 'blue' }, spec: { nodeName: 'n2' } },
  ],
}

const pod = {
  metadata: { name: 'p', namespace: 'blue' },
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'robot',
    resourceClaims: [
      { name: 'direct', resourceClaimName: 'named' },
      { name: 'made', resourceClaimTemplateName: 't' },
      { name: 'unmade', resourceClaimTemplateName: 't' },
    ],
  },
  status: {
    resourceClaimStatuses: [
      { name: 'direct', resourceClaimName: 'other' },
      { name: 'made', resourceClaimName: 'generated' },
      { name: 'unmade' },
      { name: 'unknown', resourceClaimName: 'strange' },
    ],
  },
}

async function serverWithPod(settings: Partial<Env> = {}, one: object = pod): Promise<MemoryServer> {
  const server = await serverWith({}, settings)
  const { uid } = server.tenant
  await server.storage.create(collectionOf({ uid }, { group: '', resource: 'pods' }), 'blue/p', {
    text: JSON.stringify(one).replace('{"metadata":{', '{"metadata":{"resourceVersion":"",'),
    at: '{"metadata":{"resourceVersion":"'.length,
    uid: 'u-p',
    fields: { 'spec.nodeName': 'n1' },
  })
  return server
}

const user = { name: 'system:node:n1', uid: '', groups: ['system:nodes'], extra: {} }

type What = Partial<Omit<AuthorizationAttributes, 'user' | 'verb'>>

async function decide(server: MemoryServer, verb: string, what: What): Promise<string> {
  const asked = resourceAttributes(user, verb, { namespace: 'blue', ...what })
  const { allowed, reason } = await nodeAuthorizer(server, asked)
  return allowed ? 'allowed' : reason
}

const UNRELATED = "no relationship found between node 'n1' and this object"
const of = (selector: string) => parseFieldSelector(selector)

describe('PodCertificateRequests', () => {
  const requests = { apiGroup: 'certificates.k8s.io', resource: 'podcertificaterequests' }
  const NEEDS_SELECTOR = 'can only list/watch podcertificaterequests with nodeName field selector'

  test.each<[string, What, string]>([
    ['create', {}, 'allowed'],
    ['get', { name: 'own' }, 'allowed'],
    ['get', { name: 'foreign' }, UNRELATED],
    ['get', { name: 'absent' }, UNRELATED],
    ['list', { namespace: '', fields: of('spec.nodeName=n1') }, 'allowed'],
    ['watch', { fields: of('spec.nodeName=n1,spec.signerName=a/b') }, 'allowed'],
    ['list', { fields: of('spec.nodeName=n2') }, NEEDS_SELECTOR],
    ['list', { fields: of('spec.nodeName!=n1') }, NEEDS_SELECTOR],
    ['watch', {}, NEEDS_SELECTOR],
    ['update', { name: 'own' }, 'nodes may not update podcertificaterequests'],
    ['delete', { name: 'own' }, 'nodes may not delete podcertificaterequests'],
    [
      'update',
      { name: 'own', subresource: 'status' },
      'nodes may not access the status subresource of PodCertificateRequests',
    ],
  ])('%s %j', async (verb, what, expected) => {
    const server = await serverWith(stored, { KEDGE_FEATURE_GATES: 'PodCertificateRequest=true' })
    expect(await decide(server, verb, { ...requests, ...what })).toBe(expected)
  })

  test('none while the feature gate is off', async () => {
    const server = await serverWith(stored)
    expect(await decide(server, 'create', requests)).toBe('')
    expect(await decide(server, 'get', { ...requests, name: 'own' })).toBe('')
  })
})

test.each(['get', 'list', 'watch'])('%s ClusterTrustBundles while their feature gate is on', async (verb) => {
  const bundles = { apiGroup: 'certificates.k8s.io', resource: 'clustertrustbundles', namespace: '' }
  expect(await decide(await serverWith({}), verb, bundles)).toBe('')
  const server = await serverWith({}, { KEDGE_FEATURE_GATES: 'ClusterTrustBundle=true' })
  expect(await decide(server, verb, bundles)).toBe('allowed')
  expect(await decide(server, 'create', bundles)).toBe('')
})

test('the ServiceAccount of a pod, unless no feature needs it', async () => {
  const account = { resource: 'serviceaccounts', name: 'robot' }
  const off = 'KubeletServiceAccountTokenForCredentialProviders=false'
  expect(await decide(await serverWithPod(), 'get', account)).toBe('allowed')
  const without = await serverWithPod({ KEDGE_FEATURE_GATES: off })
  expect(await decide(without, 'get', account)).toBe('not allowed to get service accounts')
  const forCertificates = await serverWithPod({ KEDGE_FEATURE_GATES: `${off},PodCertificateRequest=true` })
  expect(await decide(forCertificates, 'get', account)).toBe('allowed')
})

test.each<[string, string]>([
  ['named', 'allowed'],
  ['generated', 'allowed'],
  ['other', UNRELATED],
  ['strange', UNRELATED],
])('the ResourceClaim %s: %s', async (name, expected) => {
  const server = await serverWithPod()
  expect(await decide(server, 'get', { apiGroup: 'resource.k8s.io', resource: 'resourceclaims', name })).toBe(expected)
})

describe('the Secret of a volume', () => {
  const volume = (name: string, secretName: string, claim: string, more: object = {}) => ({
    metadata: { name },
    spec: { claimRef: { namespace: 'blue', name: claim }, azureFile: { shareName: 's', secretName }, ...more },
  })
  const claiming = {
    metadata: { name: 'claiming', namespace: 'blue' },
    spec: { nodeName: 'n1', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }] },
  }
  const published = { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { namespace: 'red', name: 'publishing' } }

  test.each<[string, What, string]>([
    ['whose claim the pod uses, bound or not', { name: 'mounting' }, 'allowed'],
    ['with a namespace', { namespace: 'red', name: 'publishing' }, 'allowed'],
    ['in another namespace', { namespace: 'red', name: 'mounting' }, UNRELATED],
    ['of the claim of another pod', { name: 'foreign' }, UNRELATED],
    ['that has no claim', { name: 'free' }, UNRELATED],
    ['of none', { name: 'mount' }, UNRELATED],
  ])('%s', async (_what, what, expected) => {
    const server = await serverWithPod({}, claiming)
    for (const one of [
      volume('v1', 'mounting', 'used'),
      volume('v2', 'foreign', 'unused'),
      volume('v3', 'free', 'used', { claimRef: undefined }),
      volume('v4', '', 'used', { azureFile: undefined, csi: published }),
    ])
      await server.put('', 'persistentvolumes', one as never)
    expect(await decide(server, 'get', { resource: 'secrets', ...what })).toBe(expected)
  })
})
