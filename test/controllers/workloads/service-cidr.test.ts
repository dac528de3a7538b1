import { describe, expect, test } from 'vitest'
import type { ServiceCIDR } from '../../../src/api/networking/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

const CIDRS = { group: 'networking.k8s.io', resource: 'servicecidrs' }
const ADDRESSES = { group: 'networking.k8s.io', resource: 'ipaddresses' }
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'
const STILL_USED =
  'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'

class Plane {
  readonly plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers' })

  async cidr(name: string, ...cidrs: string[]): Promise<void> {
    await this.plane.create(CIDRS, {
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name },
      spec: { cidrs },
    })
    await this.plane.settle()
  }

  async address(name: string, managedBy = 'ipallocator.k8s.io'): Promise<void> {
    const labels = {
      'ipaddress.kubernetes.io/ip-family': name.includes(':') ? 'IPv6' : 'IPv4',
      'ipaddress.kubernetes.io/managed-by': managedBy,
    }
    const parentRef = { resource: 'services', namespace: 'default', name: 'web' }
    await this.plane.create(ADDRESSES, {
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name, labels },
      spec: { parentRef },
    })
  }

  async delete(name: string): Promise<void> {
    await this.plane.delete(CIDRS, '', name)
    await this.plane.settle()
  }

  get = async (name: string) => (await this.plane.get(CIDRS, '', name)) as (ServiceCIDR & KubeObject) | undefined

  /** The condition of the ServiceCIDR, or that it is gone. */
  async state(name: string): Promise<string> {
    const found = await this.get(name)
    if (found === undefined) return 'gone'
    const [ready] = found.status?.conditions ?? []
    return ready === undefined ? 'none' : [ready.status, ready.reason, ready.message].filter(Boolean).join(' ')
  }
}

describe('a new ServiceCIDR', () => {
  test('gets the finalizer and is ready', async () => {
    const plane = new Plane()
    await plane.cidr('more', '10.97.0.0/24')
    const { metadata, status } = (await plane.get('more'))!
    expect(metadata.finalizers).toEqual([FINALIZER])
    expect(status?.conditions).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: '',
        message: 'Kubernetes Service CIDR is ready',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ])
    expect(metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource ?? ''])).toEqual([
      ['service-cidr-controller', 'status'],
      ['kube-controller-manager', ''],
      ['somebody', ''],
    ])
    expect(plane.plane.waiting).toEqual([])
  })

  test('keeps the finalizers of others', async () => {
    const plane = new Plane()
    await plane.plane.create(CIDRS, {
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'more', finalizers: ['example.com/mine'] },
      spec: { cidrs: ['10.97.0.0/24'] },
    })
    await plane.plane.settle()
    expect((await plane.get('more'))?.metadata.finalizers?.toSorted()).toEqual(['example.com/mine', FINALIZER])
  })
})

describe('a deleted ServiceCIDR', () => {
  test('goes ten seconds after its deletion where nothing uses it', async () => {
    const plane = new Plane()
    await plane.cidr('more', '10.97.0.0/24')
    await plane.delete('more')
    await plane.plane.pass(9_000)
    expect(await plane.state('more')).toBe('True Kubernetes Service CIDR is ready')
    await plane.plane.pass(1_000)
    expect(await plane.state('more')).toBe('gone')
  })

  test.each<[string, string[], string, string]>([
    ['one of its addresses', ['10.97.0.0/24'], '10.97.0.7', `False Terminating ${STILL_USED}`],
    ['one of its second range', ['10.97.0.0/24', '2001:db8::/112'], '2001:db8::7', `False Terminating ${STILL_USED}`],
    ['an address of another range', ['10.97.0.0/24'], '10.97.1.7', 'gone'],
  ])('where %s is taken', async (_what, cidrs, address, state) => {
    const plane = new Plane()
    await plane.cidr('more', ...cidrs)
    await plane.address(address)
    await plane.delete('more')
    await plane.plane.pass(10_000)
    expect(await plane.state('more')).toBe(state)
  })

  test('goes once its last address is free', async () => {
    const plane = new Plane()
    await plane.cidr('more', '10.97.0.0/24')
    await plane.address('10.97.0.7')
    await plane.delete('more')
    await plane.plane.delete(ADDRESSES, '', '10.97.0.7')
    await plane.plane.pass(10_000)
    expect(await plane.state('more')).toBe('gone')
  })

  test('goes where its addresses are managed by somebody else', async () => {
    const plane = new Plane()
    await plane.cidr('more', '10.97.0.0/24')
    await plane.address('10.97.0.7', 'example.com')
    await plane.delete('more')
    await plane.plane.pass(10_000)
    expect(await plane.state('more')).toBe('gone')
  })

  test.each([
    ['the same range', ['10.97.0.0/24'], 'gone'],
    ['a wider range', ['10.97.0.0/16'], 'gone'],
    ['a part with the address', ['10.97.0.0/28'], 'gone'],
    ['a part without the address', ['10.97.0.128/28'], `False Terminating ${STILL_USED}`],
  ])('where another one has %s', async (_what, other, state) => {
    const plane = new Plane()
    await plane.cidr('other', ...other)
    await plane.cidr('more', '10.97.0.0/24')
    await plane.address('10.97.0.7')
    await plane.delete('more')
    await plane.plane.pass(10_000)
    expect(await plane.state('more')).toBe(state)
  })

  test('is looked at when another one comes that has its addresses', async () => {
    const plane = new Plane()
    await plane.cidr('more', '10.97.0.0/24')
    await plane.address('10.97.0.7')
    await plane.delete('more')
    await plane.plane.pass(600_000)
    expect(await plane.state('more')).toBe(`False Terminating ${STILL_USED}`)
    await plane.cidr('other', '10.97.0.0/25')
    expect(await plane.state('more')).toBe('gone')
  })

  test('does not go without the finalizer of others', async () => {
    const plane = new Plane()
    await plane.plane.create(CIDRS, {
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name: 'more', finalizers: ['example.com/mine'] },
      spec: { cidrs: ['10.97.0.0/24'] },
    })
    await plane.plane.settle()
    await plane.delete('more')
    await plane.plane.pass(10_000)
    expect((await plane.get('more'))?.metadata.finalizers).toEqual(['example.com/mine'])
    expect(plane.plane.waiting).toEqual([])
  })
})
