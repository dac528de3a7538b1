import { expect, test } from 'vitest'
import type { APIService } from '../../src/api/apiregistration/v1.ts'
import type { ControlPlaneInMemory } from './control-plane.ts'
import { newPlane, of, reconcile } from './reconcile.ts'

const API_SERVICES = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
const SERVICES = { group: '', resource: 'services' }
const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }
const NAME = 'v1.example.com'

const apiService = (service?: object) =>
  of('apiregistration.k8s.io/v1', 'APIService', {
    metadata: { name: NAME },
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      ...(service && { service, insecureSkipTLSVerify: true }),
    },
  })
const service = (port: number) =>
  of('v1', 'Service', {
    metadata: { name: 'api', namespace: 'default' },
    spec: { type: 'ClusterIP', ports: [{ name: 'https', port, protocol: 'TCP' }] },
  })
const slice = (ready: boolean) =>
  of('discovery.k8s.io/v1', 'EndpointSlice', {
    metadata: { name: 'api-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'api' } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: 443, protocol: 'TCP' }],
    endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready } }],
  })

async function available(plane: ControlPlaneInMemory): Promise<string[]> {
  const found = (await plane.get(API_SERVICES, '', NAME)) as APIService | undefined
  return (found?.status?.conditions ?? []).map(({ status, reason, message }) => `${status} ${reason}: ${message}`)
}

const REMOTE = { namespace: 'default', name: 'api', port: 443 }
const WHERE = 'service/api in "default"'

test('a local one is always available, and is not looked at again', async () => {
  const plane = await newPlane()
  await plane.create(API_SERVICES, apiService())
  expect(await reconcile(plane, 'api-service-availability', NAME)).toBeUndefined()
  expect(await available(plane)).toEqual(['True Local: Local APIServices are always available'])
})

test('what a remote one lacks, step by step; it is looked at again, soon at first', async () => {
  const plane = await newPlane()
  await plane.create(API_SERVICES, apiService(REMOTE))
  const finds = async (finding: string) => {
    expect(await reconcile(plane, 'api-service-availability', NAME)).toBe(3000)
    expect(await available(plane)).toEqual([`False ${finding}`])
  }
  await finds(`ServiceNotFound: ${WHERE} is not present`)
  await plane.create(SERVICES, service(80))
  await finds(`ServicePortError: ${WHERE} is not listening on port 443`)
  await plane.delete(SERVICES, 'default', 'api')
  await plane.create(SERVICES, service(443))
  await finds(`EndpointsNotFound: cannot find endpointslices for ${WHERE}`)
  await plane.create(SLICES, slice(false))
  await finds(`MissingEndpoints: endpointslices for ${WHERE} have no addresses with port name "https"`)
  plane.now = new Date(plane.now.getTime() + 600_000)
  expect(await reconcile(plane, 'api-service-availability', NAME)).toBe(30_000)
})

test('one that is gone is not looked at again', async () => {
  expect(await reconcile(await newPlane(), 'api-service-availability', NAME)).toBeUndefined()
})
