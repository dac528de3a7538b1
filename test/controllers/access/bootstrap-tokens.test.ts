import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ConfigMap } from '../../../src/api/core/v1.ts'
import { CONFIG_MAPS } from '../control-plane.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { newPlane, of, reconcile, settled } from '../reconcile.ts'

const SECRETS = { group: '', resource: 'secrets' }
const text = (value: string) => Buffer.from(value).toString('base64')

function token(
  plane: ControlPlaneInMemory,
  id: string,
  more: Readonly<Record<string, string>> = {},
  name = `bootstrap-token-${id}`,
) {
  const data = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...more }
  return plane.create(
    SECRETS,
    of('v1', 'Secret', {
      metadata: { name, namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, text(value)])),
    }),
  )
}

describe('a token ends', () => {
  const KEY = 'bootstrap-token-abcdef'
  test.each<[string, Readonly<Record<string, string>>, number | undefined, boolean]>([
    ['at its time', { expiration: '2026-01-01T00:10:00Z' }, 600_000, true],
    ['when its time is over', { expiration: '2025-12-31T23:59:59Z' }, undefined, false],
    ['never, where no time is said', {}, undefined, true],
  ])('%s', async (_what, more, again, stays) => {
    const plane = await newPlane()
    await token(plane, 'abcdef', more)
    expect(await reconcile(plane, 'token-cleaner', KEY)).toBe(again)
    expect((await plane.get(SECRETS, 'kube-system', KEY)) !== undefined).toBe(stays)
  })

  test('other Secrets do not', async () => {
    const plane = await newPlane()
    const data = { expiration: text('2020-01-01T00:00:00Z') }
    await plane.create(SECRETS, of('v1', 'Secret', { metadata: { name: KEY, namespace: 'kube-system' }, data }))
    await reconcile(plane, 'token-cleaner', KEY)
    expect(await plane.get(SECRETS, 'kube-system', KEY)).toBeDefined()
  })
})

describe('cluster-info', () => {
  const at = [CONFIG_MAPS, 'kube-public', 'cluster-info'] as const
  const CONTENT = 'apiVersion: v1\nkind: Config\n'
  async function planeWithInfo(): Promise<ControlPlaneInMemory> {
    const plane = await newPlane()
    const data = { kubeconfig: CONTENT, note: 'mine', 'jws-kubeconfig-gone00': 'x' }
    await plane.create(
      CONFIG_MAPS,
      of('v1', 'ConfigMap', { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data }),
    )
    return plane
  }

  test('is signed with each token that is for it, and with no other', async () => {
    const plane = await planeWithInfo()
    await token(plane, 'aaaaaa')
    await token(plane, 'bbbbbb', { 'usage-bootstrap-signing': 'false' })
    await token(plane, 'cccccc', { expiration: '2025-01-01T00:00:00Z' })
    await token(plane, 'dddddd', {}, 'another-name')
    const info = await settled<ConfigMap>(plane, 'bootstrap-signer', '', at)
    const url = (value: string | Buffer) => Buffer.from(value).toString('base64url')
    const header = url('{"alg":"HS256","kid":"aaaaaa"}')
    const mac = createHmac('sha256', '0123456789abcdef')
      .update(`${header}.${url(CONTENT)}`)
      .digest()
    expect(info?.data).toEqual({ kubeconfig: CONTENT, note: 'mine', 'jws-kubeconfig-aaaaaa': `${header}..${url(mac)}` })
  })

  test('without tokens has no signatures', async () => {
    const plane = await planeWithInfo()
    expect((await settled<ConfigMap>(plane, 'bootstrap-signer', '', at))?.data).toEqual({
      kubeconfig: CONTENT,
      note: 'mine',
    })
  })

  test('need not be there', async () => {
    expect(await settled(await newPlane(), 'bootstrap-signer', '', at)).toBeUndefined()
  })
})
