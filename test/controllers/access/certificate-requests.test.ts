import { X509Certificate, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { CertificateSigningRequest } from '../../../src/api/certificates/v1.ts'
import { createAuthority } from '../../../src/cli/data-directory/certificate.ts'
import { controllers } from '../../../src/controllers/controllers.ts'
import {
  bitString,
  contextTag,
  objectIdentifier,
  printable,
  sequence,
  unsignedInteger,
  write,
} from '../../../src/x509/der.ts'
import { pemText } from '../../../src/x509/pem.ts'
import { signerOf } from '../../../src/x509/signature.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { newPlane, of, reconcile } from '../reconcile.ts'

const REQUESTS = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }
const HOUR = 3_600_000
const NODE = ['digital signature', 'key encipherment', 'client auth']

async function pemOf(commonName: string, organization: string): Promise<string> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = await signerOf(new Uint8Array(keys.privateKey.export({ type: 'pkcs8', format: 'der' })))
  const attribute = (type: string, value: string) => write(0x31, sequence(objectIdentifier(type), printable(value)))
  const info = sequence(
    unsignedInteger(Uint8Array.of(0)),
    sequence(attribute('2.5.4.10', organization), attribute('2.5.4.3', commonName)),
    new Uint8Array(keys.publicKey.export({ type: 'spki', format: 'der' })),
    write(contextTag(0)),
  )
  const signed = sequence(info, signer.algorithm, bitString(await signer.sign(info)))
  return Buffer.from(pemText('CERTIFICATE REQUEST', signed)).toString('base64')
}

interface Wanted {
  readonly subject?: readonly [commonName: string, organization: string]
  readonly signerName?: string
  readonly conditions?: readonly object[]
  readonly usages?: readonly string[]
}

async function planeWith(wanted: Wanted) {
  const plane = await newPlane()
  await put(plane, wanted)
  return plane
}

async function put(
  plane: ControlPlaneInMemory,
  {
    subject = ['eve', 'developers'],
    signerName = 'kubernetes.io/kube-apiserver-client',
    conditions = [],
    usages = ['client auth'],
  }: Wanted,
): Promise<void> {
  await plane.server.put(
    REQUESTS.group,
    REQUESTS.resource,
    of('certificates.k8s.io/v1', 'CertificateSigningRequest', {
      metadata: { name: 'r', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { signerName, request: await pemOf(...subject), usages, username: 'eve' },
      status: { conditions },
    }) as never,
  )
}

const got = async (plane: ControlPlaneInMemory) =>
  (await plane.get(REQUESTS, '', 'r')) as CertificateSigningRequest | undefined
const decided = (type: string) => [{ type, status: 'True', reason: 'x', lastUpdateTime: '2026-01-01T00:00:00Z' }]

describe('a request goes', () => {
  test.each<[string, Wanted, number]>([
    ['a day after it was made', {}, 24],
    ['an hour after it was approved', { conditions: decided('Approved') }, 1],
    ['an hour after it was denied', { conditions: decided('Denied') }, 1],
    ['an hour after it failed', { conditions: decided('Failed') }, 1],
  ])('%s', async (_what, wanted, hours) => {
    const plane = await planeWith(wanted)
    expect(await reconcile(plane, 'certificate-request', 'r')).toBe(hours * HOUR)
    plane.now = new Date(plane.now.getTime() + hours * HOUR)
    expect(await reconcile(plane, 'certificate-request', 'r')).toBeUndefined()
    expect(await got(plane)).toBeUndefined()
  })
})

describe('signing', () => {
  const authority = createAuthority({ commonName: 'kubernetes' }, new Date('2026-01-01T00:00:00Z'), 3650)
  async function signed(wanted: Wanted) {
    const { certificate, key } = await authority
    const plane = await planeWith(wanted)
    const context = await plane.context('certificate-request')
    const env = { ...context.env, KEDGE_CA: certificate, KEDGE_CA_KEY: key }
    await controllers['certificate-request'].reconcile('r', { ...context, env })
    return got(plane)
  }

  test('an approved request is signed', async () => {
    const { certificate = '' } = (await signed({ conditions: decided('Approved') }))?.status ?? {}
    const read = new X509Certificate(Buffer.from(certificate, 'base64'))
    expect(read.subject).toBe('O=developers\nCN=eve')
    expect(read.verify(new X509Certificate((await authority).certificate).publicKey)).toBe(true)
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
  })

  test.each<[string, Wanted]>([
    ['what nobody approved', {}],
    ['what was denied', { conditions: decided('Denied') }],
    ['what failed', { conditions: [...decided('Approved'), ...decided('Failed')] }],
    ['what somebody else signs', { signerName: 'example.com/mine', conditions: decided('Approved') }],
  ])('%s is not', async (_what, wanted) => {
    expect((await signed(wanted))?.status?.certificate).toBeUndefined()
  })

  test('a request that its signer may not sign fails with a reason', async () => {
    const { status } = (await signed({ conditions: decided('Approved'), usages: ['server auth'] }))!
    expect(status?.certificate).toBeUndefined()
    expect(status?.conditions?.at(-1)).toMatchObject({
      type: 'Failed',
      reason: 'SignerValidationFailure',
      message: 'invalid usage for client certificate: server auth',
    })
  })
})

test("a kubelet's request is approved by nobody whom no role lets have it", async () => {
  const plane = await planeWith({ signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: NODE })
  expect(await reconcile(plane, 'certificate-request', 'r')).toBe(24 * HOUR)
  expect((await got(plane))?.status?.conditions ?? []).toEqual([])
})

describe('of a request that another replaces after it was read', () => {
  const RBAC = 'rbac.authorization.k8s.io'
  const KUBELET: Wanted = {
    subject: ['system:node:n1', 'system:nodes'],
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: NODE,
  }

  /** The object that is there after the controller has worked. */
  async function afterwards(first: Wanted, second?: Wanted) {
    const { certificate, key } = await createAuthority({ commonName: 'ca' }, new Date('2026-01-01T00:00:00Z'), 3650)
    const plane = await planeWith(first)
    const metadata = { name: 'approvable' }
    const resources = ['certificatesigningrequests/nodeclient']
    const rules = [{ apiGroups: [REQUESTS.group], resources, verbs: ['create'] }]
    await plane.server.put(RBAC, 'clusterroles', { metadata, rules })
    await plane.server.put(RBAC, 'clusterrolebindings', {
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'approvable' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'eve' }],
    })
    const context = await plane.context('certificate-request')
    const env = { ...context.env, KEDGE_CA: certificate, KEDGE_CA_KEY: key }
    const { SHARDS } = env
    let reads = 0
    env.SHARDS = new Proxy(SHARDS, {
      get: (shards, name) =>
        name !== 'get'
          ? (Reflect.get(shards, name) as unknown)
          : (id: DurableObjectId) => {
              const stub = shards.get(id)
              const get = stub.get.bind(stub)
              if (String(id).endsWith('/certificatesigningrequests.certificates.k8s.io'))
                stub.get = (async (...args: Parameters<typeof get>) => {
                  if (++reads === 2 && second !== undefined) {
                    await plane.delete(REQUESTS, '', 'r')
                    await put(plane, second)
                  }
                  return get(...args)
                }) as typeof stub.get
              return stub
            },
    })
    const reconciled = controllers['certificate-request'].reconcile('r', { ...context, env })
    if (second === undefined) await reconciled
    else await expect(reconciled).rejects.toMatchObject({ code: 404 })
    const { status } = (await got(plane))!
    return { types: (status?.conditions ?? []).map(({ type }) => type), isSigned: status?.certificate !== undefined }
  }

  test.each<[string, Wanted, Wanted | undefined, Awaited<ReturnType<typeof afterwards>>]>([
    ['the one that stays is approved', KUBELET, undefined, { types: ['Approved'], isSigned: false }],
    [
      'the approval goes to nobody',
      KUBELET,
      { ...KUBELET, subject: ['system:node:n2', 'system:nodes'] },
      { types: [], isSigned: false },
    ],
    ['the certificate goes to nobody', { conditions: decided('Approved') }, {}, { types: [], isSigned: false }],
    [
      'the failure goes to nobody',
      { conditions: decided('Approved'), usages: ['server auth'] },
      {},
      { types: [], isSigned: false },
    ],
  ])('%s', async (_what, first, second, expected) => {
    expect(await afterwards(first, second)).toEqual(expected)
  })
})
