import { describe, expect, test } from 'vitest'
import { serviceAccount } from '../../../src/admission/plugins/service-account.ts'
import type { JsonObject } from '../../../src/api/object.ts'
import { frontAnswering } from '../../webhooks/front.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'
import { lineOf, pluginServer } from '../plugin-server.ts'
import { hook, patching } from '../webhooks/creating.ts'

const account = (name: string, more: object = {}) => ({ metadata: { name, namespace: 'blue' }, ...more }) as never
const server = await serverWith({
  serviceaccounts: [
    account('default'),
    account('silent', { automountServiceAccountToken: false }),
    account('puller', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'registry' }] }),
    account('strict', {
      metadata: {
        name: 'strict',
        namespace: 'blue',
        annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' },
      },
      automountServiceAccountToken: false,
      secrets: [{ name: 'known' }],
      imagePullSecrets: [{ name: 'registry' }],
    }),
  ],
})

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const pod = (spec: object, annotations?: object) =>
  ({
    metadata: { name: 'p', ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'c' }], ...spec },
  }) as never
interface Spec {
  readonly volumes?: readonly { readonly name: string }[]
  readonly containers: readonly { readonly volumeMounts?: readonly object[] }[]
}
const specOf = async (spec: object, annotations?: object): Promise<Spec | string> => {
  const outcome = await outcomeOf(serviceAccount, server, { at: 'pods', object: pod(spec, annotations) })
  return typeof outcome === 'string' ? outcome : (outcome as { spec: Spec }).spec
}
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`

describe('the account and its token', () => {
  test('a pod without an account gets default, and every container finds the token', async () => {
    const spec = (await specOf({ initContainers: [{ name: 'i' }] })) as Spec
    const [volume] = spec.volumes!
    const mount = { name: volume!.name, readOnly: true, mountPath: MOUNT_PATH }
    expect(volume!.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/)
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      initContainers: [{ volumeMounts: [mount] }],
      containers: [{ volumeMounts: [mount] }],
      volumes: [{ projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 'token' } }, {}, {}] } }],
    })
  })

  test.each<[string, object, boolean]>([
    ['the account does not want it', { serviceAccountName: 'silent' }, false],
    [
      'the pod does, whatever the account says',
      { serviceAccountName: 'silent', automountServiceAccountToken: true },
      true,
    ],
    ['the pod does not', { automountServiceAccountToken: false }, false],
    [
      'something is mounted there',
      { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: MOUNT_PATH }] }] },
      false,
    ],
  ])('where %s', async (_what, spec, mounted) => {
    expect(((await specOf(spec)) as Spec).volumes?.length ?? 0).toBe(mounted ? 1 : 0)
  })

  test('pull secrets are those of the account, unless the pod has its own', async () => {
    expect(await specOf({ serviceAccountName: 'puller' })).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] })
    const own = { serviceAccountName: 'puller', imagePullSecrets: [{ name: 'mine' }] }
    expect(await specOf(own)).toMatchObject({ imagePullSecrets: [{ name: 'mine' }] })
  })

  test.each([
    ['gone', 'error looking up service account blue/gone: serviceaccount "gone" not found'],
    [
      '%/"',
      `error looking up service account blue/%/": invalid resource name "%/\\"": [may not contain '/' may not contain '%']`,
    ],
    ['a/b', `error looking up service account blue/a/b: invalid resource name "a/b": [may not contain '/']`],
  ])('an account %s', async (serviceAccountName, why) => {
    expect(await specOf({ serviceAccountName })).toBe(refused(why))
  })
})

describe('secrets that an account must name', () => {
  const notNamed = 'is not allowed because service account strict does not reference that'
  test.each<[string, object, string]>([
    [
      'named ones',
      { volumes: [{ name: 'v', secret: { secretName: 'known' } }], imagePullSecrets: [{ name: 'registry' }] },
      'taken',
    ],
    [
      'of a volume',
      { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
      refused(`volume with secret.secretName="other" ${notNamed} secret`),
    ],
    [
      'of a variable',
      { containers: [{ name: 'c', env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'other' } } }] }] },
      refused(`container c with envVar V referencing secret.secretName="other" ${notNamed} secret`),
    ],
    [
      'of all variables of an init container',
      { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] },
      refused(`init container i with envFrom referencing secret.secretName="other" ${notNamed} secret`),
    ],
    [
      'to pull images with',
      { imagePullSecrets: [{ name: 'registry' }, { name: 'other' }] },
      refused(`imagePullSecrets[1].name="other" ${notNamed} imagePullSecret`),
    ],
  ])('%s', async (_what, spec, expected) => {
    const outcome = await specOf({ serviceAccountName: 'strict', ...spec })
    expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
  })

  test('of an ephemeral container', async () => {
    const ephemeralContainers = [{ name: 'e', envFrom: [{ secretRef: { name: 'other' } }] }]
    const object = pod({ serviceAccountName: 'strict', ephemeralContainers })
    const asked = { at: 'pods/ephemeralcontainers', operation: 'UPDATE', object } as const
    expect(await outcomeOf(serviceAccount, server, asked)).toBe(
      // an error that kube-apiserver does not make a refusal of
      `500 ephemeral container e with envFrom referencing secret.secretName="other" ${notNamed} secret`,
    )
  })

  test('are looked for before webhooks see the pod, which cannot help by removing them', async () => {
    const removing = hook('a', patching({ op: 'remove', path: '/spec/volumes' }), {
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    })
    const { answers, ...webhook } = removing
    const front = frontAnswering(answers)
    const { memory, send, namespace } = pluginServer({ OUTGOING: front.binding })
    await memory.put('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', {
      metadata: { name: 'configuration' },
      webhooks: [webhook] as unknown as JsonObject[], // they are JSON
    })
    await namespace('blue')
    await send('POST', '/api/v1/namespaces/blue/serviceaccounts', {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      automountServiceAccountToken: false,
    })
    const volumes = [{ name: 'v', secret: { secretName: 'other' } }]
    const containers = [{ name: 'c', image: 'i' }]
    const object = { metadata: { name: 'p' }, spec: { serviceAccountName: 'strict', volumes, containers } }
    expect(lineOf(await send('POST', '/api/v1/namespaces/blue/pods', object))).toBe(
      refused(`volume with secret.secretName="other" ${notNamed} secret`),
    )
    expect(front.calls).toEqual([])
  })
})

describe('a mirror pod', () => {
  test.each<[string, object, string]>([
    ['has no account', {}, 'taken'],
    ['may not name one', { serviceAccountName: 'default' }, refused('a mirror pod may not reference service accounts')],
    ...[
      { secret: { secretName: 's' } },
      { azureFile: { secretName: 's' } },
      { csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } },
      { projected: { sources: [{ secret: { name: 's' } }] } },
    ].map((source): [string, object, string] => [
      `may use no secret by ${Object.keys(source)[0]}`,
      { volumes: [{ name: 'v', ...source }] },
      refused('a mirror pod may not reference secrets'),
    ]),
    [
      'may use no token',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] },
      refused('a mirror pod may not use ServiceAccountToken volume projections'),
    ],
  ])('%s', async (_what, spec, expected) => {
    const outcome = await specOf(spec, { 'kubernetes.io/config.mirror': 'x' })
    expect(typeof outcome === 'string' ? outcome : 'taken').toBe(expected)
    if (expected === 'taken') expect(outcome).toEqual({ containers: [{ name: 'c' }] })
  })
})

test.each([
  ['UPDATE', 'pods'],
  ['CREATE', 'pods/binding'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(serviceAccount, server, { operation, at, object: {} })).toBe('not asked')
})
