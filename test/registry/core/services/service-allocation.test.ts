import { describe, expect, test } from 'vitest'
import type { Service, ServiceSpec } from '../../../../src/api/core/v1.ts'
import { StatusError } from '../../../../src/api/status.ts'
import type { Env } from '../../../../src/env.ts'
import { collectionOf } from '../../../../src/storage/collections.ts'
import { allocateForService, releaseService } from '../../../../src/registry/core/services/service-allocation.ts'
import type { WriteContext } from '../../../../src/registry/strategy.ts'
import { resourceScope } from '../../../../src/registry/scope.ts'
import { builtInServed } from '../../../../src/registry/served/built-in-served.ts'
import { withoutAdmission } from '../../../../src/registry/write/admission.ts'
import { everything } from '../../../../src/storage/selectors/selection.ts'
import type { Storage } from '../../../../src/storage/storage.ts'
import { memoryServer } from '../../../request-in-memory.ts'

const START = Date.parse('2026-01-01T00:00:00Z')

function cluster(range = '10.96.0.0/28', settings: Partial<Env> = {}) {
  const server = memoryServer({ KEDGE_SERVICE_RANGE: range, ...settings })
  const { storage, tenant } = server
  const entry = builtInServed(server.env).resources.find('', 'v1', 'services')!
  const context = (over: Partial<WriteContext> = {}): WriteContext => {
    server.now = over.now ?? new Date(START)
    const request = server.request('/api/v1/namespaces/default/services')
    const scope = resourceScope(request, entry, { name: '', subresource: '', namespace: 'default' })
    return { ...scope.strategyContext(false), admission: withoutAdmission, ...over }
  }
  const count = async (prefix: string, shard = prefix) => {
    const { count: found, values } = await storage.list(
      { tenant: tenant.uid, shard, prefix },
      { selection: everything, at: { kind: 'latest' }, counted: true },
    )
    await values.cancel()
    return found ?? 0
  }
  const ips = () => count(collectionOf(tenant, { group: 'networking.k8s.io', resource: 'ipaddresses' }).prefix)
  const ports = () => count('nodeports', 'services')
  const ranges = async (name: string, cidrs: string[], more: { deleted?: boolean; ready?: string } = {}) => {
    const metadata = { name, ...(more.deleted === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) }
    const status = more.ready === undefined ? {} : { conditions: [{ type: 'Ready', status: more.ready }] }
    await server.put('networking.k8s.io', 'servicecidrs', { metadata, spec: { cidrs }, status } as never)
  }
  return { context, ips, ports, ranges }
}

const service = (spec: ServiceSpec, name = 's'): Service => ({
  metadata: { name, namespace: 'default' },
  spec: { type: 'ClusterIP', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], selector: { app: 'x' }, ...spec },
})

const message = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof StatusError ? error.message : String(error)),
  )

describe('the ranges of cluster IPs', () => {
  const OTHER = '10.97.0.0/28'
  const taken = async (context: WriteContext, clusterIP?: string) => {
    const one = service(clusterIP === undefined ? {} : { clusterIP })
    await allocateForService(one, undefined, context)
    return one.spec?.clusterIP
  }

  test.each<[string, { deleted?: boolean; ready?: string }]>([
    ['is being deleted', { deleted: true, ready: 'False' }],
    ['is being deleted, and nobody has said so', { deleted: true }],
    ['is not ready', { ready: 'False' }],
  ])("the server's own range gives none while its ServiceCIDR %s", async (_what, state) => {
    const { context, ranges } = cluster()
    await ranges('kubernetes', ['10.96.0.0/28'], state)
    expect(await message(taken(context()))).toMatch('range is full')
    expect(await message(taken(context(), '10.96.0.5'))).toMatch(
      'the provided network does not match the current range',
    )
    await ranges('other', [OTHER], { ready: 'True' })
    expect(await taken(context())).toMatch(/^10\.97\./)
    // one that is ready is enough
    await ranges('again', ['10.96.0.0/28'])
    expect(await taken(context(), '10.96.0.5')).toBe('10.96.0.5')
  })

  test('its own range is the first, with its ServiceCIDR and before that is there', async () => {
    const { context, ranges } = cluster()
    await ranges('other', [OTHER], { ready: 'True' })
    expect(await taken(context())).toMatch(/^10\.96\./)
    await ranges('kubernetes', ['10.96.0.0/28'])
    expect(await taken(context())).toMatch(/^10\.96\./)
  })

  test("ranges of the settings give none where the server's ServiceCIDR has others", async () => {
    const { context, ranges } = cluster('10.97.0.0/28')
    await ranges('kubernetes', ['10.96.0.0/28'], { ready: 'True' })
    expect(await taken(context())).toMatch(/^10\.96\./)
    expect(await message(taken(context(), '10.97.0.5'))).toMatch(
      'the provided network does not match the current range',
    )
    const dry = context({ dryRun: true })
    expect(await taken(dry)).toBe('10.96.0.0')
    expect(await taken(dry, '10.96.0.5')).toBe('10.96.0.5')
    expect(await message(taken(dry, '10.97.0.5'))).toMatch(
      'the provided IP (10.97.0.5) is not in the valid range. The range of valid IPs is 10.96.0.0/28',
    )
  })

  test('a dry run without a range that is ready says so', async () => {
    const { context, ranges } = cluster()
    await ranges('kubernetes', ['10.96.0.0/28'], { ready: 'False' })
    const dry = context({ dryRun: true })
    expect(await message(taken(dry))).toMatch('allocator not ready')
    expect(await message(taken(dry, '10.96.0.5'))).toMatch('allocator not ready')
  })
})

describe('cluster IPs', () => {
  test('an address is taken, and given back when the write fails', async () => {
    const { context, ips } = cluster()
    const one = service({})
    const allocation = await allocateForService(one, undefined, context())
    expect(one.spec).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
    expect(one.spec?.clusterIPs).toEqual([one.spec?.clusterIP])
    expect(await ips()).toBe(1)
    await allocation.revert()
    expect(await ips()).toBe(0)
  })

  test('an address is taken where addresses are not served', async () => {
    const { context, ips } = cluster('10.96.0.0/28', { KEDGE_RUNTIME_CONFIG: 'networking.k8s.io/v1=false' })
    const allocation = await allocateForService(service({}), undefined, context())
    expect(await ips()).toBe(1)
    await allocation.revert()
    expect(await ips()).toBe(0)
  })

  test('two Services never have one address, and a full range says so', async () => {
    const { context, ips } = cluster()
    const found = await Promise.all(
      Array.from({ length: 14 }, async (_, index) => {
        const one = service({}, `s${index}`)
        await allocateForService(one, undefined, context())
        return one.spec?.clusterIP
      }),
    )
    expect(new Set(found).size).toBe(14)
    expect(await ips()).toBe(14)
    expect(await message(allocateForService(service({}), undefined, context()))).toBe(
      'Internal error occurred: failed to allocate a serviceIP for Service "s": range is full',
    )
  })

  test.each([
    ['10.96.0.5', 'provided IP is already allocated'],
    ['10.97.0.5', 'the provided network does not match the current range'],
    ['10.96.0.0', 'the provided network does not match the current range'],
    ['10.96.0.15', 'the provided network does not match the current range'],
  ])('%s: %s', async (clusterIP, why) => {
    const { context } = cluster()
    await allocateForService(service({ clusterIP: '10.96.0.5' }, 'first'), undefined, context())
    expect(await message(allocateForService(service({ clusterIP }), undefined, context()))).toBe(
      `Service "s" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: ${why}`,
    )
  })

  test('an error shows an empty text for an address that was still to be found', async () => {
    const { context } = cluster()
    // no Service without a name can own an address
    expect(await message(allocateForService(service({ ipFamilies: ['IPv4'] }, ''), undefined, context()))).toContain(
      'spec.clusterIPs: Invalid value: [""]: failed to allocate IP: IPAddress',
    )
  })

  test('an address whose Service never came to be is free again after three minutes', async () => {
    const { context } = cluster()
    await allocateForService(service({ clusterIP: '10.96.0.5' }, 'lost'), undefined, context())
    const later = context({ now: new Date(START + 181_000) })
    const one = service({ clusterIP: '10.96.0.5' })
    await allocateForService(one, undefined, later)
    expect(one.spec?.clusterIP).toBe('10.96.0.5')
  })

  test('what a Service has taken whose body came slowly stays, because it may still be written', async () => {
    const { context } = cluster()
    const taken: ServiceSpec = {
      type: 'NodePort',
      clusterIP: '10.96.0.5',
      ports: [{ port: 80, protocol: 'TCP', nodePort: 30_500 }],
    }
    // the time of a request is that of its beginning
    await allocateForService(service(taken, 'slow'), undefined, context())
    const other = context({ now: new Date(START + 95_000) })
    for (const spec of [taken, { ...taken, clusterIP: 'None' }])
      expect(await message(allocateForService(service(spec), undefined, other))).toContain('is already allocated')
  })

  test('a lost address that two Services ask for goes to one of them', async () => {
    const { context, ips } = cluster()
    await allocateForService(service({ clusterIP: '10.96.0.5' }, 'lost'), undefined, context())
    const later = context({ now: new Date(START + 181_000) })
    const gate = Promise.withResolvers<void>()
    const isAsked = Promise.withResolvers<void>()
    // the first one that finds it lost removes it when the other one has it
    const slow: WriteContext = {
      ...later,
      loopback(verb, resource) {
        const scope = later.loopback(verb, resource)
        const remove: Storage['delete'] = async (...asked) => {
          isAsked.resolve()
          await gate.promise
          return scope.storage.delete(...asked)
        }
        return verb === 'delete' ? { ...scope, storage: { ...scope.storage, delete: remove } } : scope
      },
    }
    const first = message(allocateForService(service({ clusterIP: '10.96.0.5' }, 'a'), undefined, slow))
    await isAsked.promise
    expect(await message(allocateForService(service({ clusterIP: '10.96.0.5' }, 'b'), undefined, later))).toBe(
      'nothing was thrown',
    )
    gate.resolve()
    expect(await first).toContain('provided IP is already allocated')
    expect(await ips()).toBe(1)
  })

  test('a range that is full of lost addresses is free again after three minutes', async () => {
    const { context, ips } = cluster()
    for (let n = 0; n < 14; n++) await allocateForService(service({}, `lost-${n}`), undefined, context())
    const soon = context({ now: new Date(START + 119_000) })
    expect(await message(allocateForService(service({}), undefined, soon))).toContain('range is full')
    const later = context({ now: new Date(START + 181_000) })
    const found = await Promise.all(
      Array.from({ length: 14 }, async (_, n) => {
        const one = service({}, `s${n}`)
        await allocateForService(one, undefined, later)
        return one.spec?.clusterIP
      }),
    )
    expect(new Set(found).size).toBe(14)
    expect(await ips()).toBe(14)
    expect(await message(allocateForService(service({}), undefined, later))).toContain('range is full')
  })

  test('a dry run takes nothing', async () => {
    const { context, ips, ports } = cluster()
    await allocateForService(service({ type: 'NodePort' }), undefined, context({ dryRun: true }))
    expect([await ips(), await ports()]).toEqual([0, 0])
  })

  test('headless without selector: both families, no address', async () => {
    const { context, ips } = cluster()
    const one = service({ clusterIP: 'None', selector: undefined })
    await allocateForService(one, undefined, context())
    expect(one.spec).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })
    expect(await ips()).toBe(0)
  })
})

describe('node ports', () => {
  test('are kept by the names of the ports, given back with the type, and with the Service', async () => {
    const { context, ips, ports } = cluster()
    const one = service({ type: 'NodePort' })
    await allocateForService(one, undefined, context())
    const port = one.spec?.ports?.[0]?.nodePort
    const changed = service({ type: 'NodePort', ports: [{ name: 'http', port: 81, protocol: 'TCP' }] })
    await (await allocateForService(changed, one, context())).commit()
    expect(changed.spec?.ports?.[0]?.nodePort).toBe(port)
    const inside = service({ ...structuredClone(changed.spec), type: 'ClusterIP' })
    await (await allocateForService(inside, changed, context())).commit()
    expect([await ips(), await ports()]).toEqual([1, 0])
    await releaseService(inside, context())
    expect(await ips()).toBe(0)
  })

  test('one that is taken refuses the Service and gives its address back', async () => {
    const { context, ips, ports } = cluster()
    const spec = (): ServiceSpec => ({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30100 }] })
    await allocateForService(service(spec(), 'first'), undefined, context())
    expect(await message(allocateForService(service(spec()), undefined, context()))).toBe(
      'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated',
    )
    expect([await ips(), await ports()]).toEqual([1, 1])
  })

  test('a range that is full of lost ones is free again after three minutes', async () => {
    const { context, ports } = cluster('10.96.0.0/28', { KEDGE_NODE_PORT_RANGE: '1000-1099' })
    const all = Array.from({ length: 100 }, (_, n) => 1000 + n)
    const lost = service({
      type: 'NodePort',
      ports: all.map((nodePort) => ({ name: `p${nodePort}`, port: 80, nodePort })),
    })
    await allocateForService(lost, undefined, context())
    expect(await ports()).toBe(all.length)
    const one = () => service({ type: 'NodePort', clusterIP: 'None', ports: [{ port: 80, protocol: 'TCP' }] })
    const soon = context({ now: new Date(START + 119_000) })
    expect(await message(allocateForService(one(), undefined, soon))).toContain('range is full')
    const found = one()
    await allocateForService(found, undefined, context({ now: new Date(START + 181_000) }))
    expect(all).toContain(found.spec?.ports?.[0]?.nodePort)
  })

  test.each([
    ['30000-32767', 30_086, 32_767],
    ['30000+2767', 30_086, 32_767],
    ['1-65535', 129, 65_535],
    ['1000-1099', 1016, 1099],
    ['1000-1016', 1016, 1016],
    ['1000-1015', 1000, 1015],
    ['80', 80, 80],
  ])('of %s are given from %i to %i', async (range, first, last) => {
    const { context } = cluster('10.96.0.0/28', { KEDGE_NODE_PORT_RANGE: range })
    const some = service({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP' }] })
    await allocateForService(some, undefined, context())
    const port = some.spec?.ports?.[0]?.nodePort
    expect(port).toBeGreaterThanOrEqual(first)
    expect(port).toBeLessThanOrEqual(last)
  })

  test('outside of the range are refused', async () => {
    const { context } = cluster('10.96.0.0/28', { KEDGE_NODE_PORT_RANGE: '1000-1099' })
    const one = service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_000, protocol: 'TCP' }] })
    expect(await message(allocateForService(one, undefined, context()))).toContain(
      'provided port is not in the valid range. The range of valid ports is 1000-1099',
    )
  })

  /** A storage that counts creates, and how many are under way together. */
  function counting(storage: Storage) {
    const counts = { creates: 0, together: 0, gets: 0 }
    let underWay = 0
    const counted: Storage = {
      ...storage,
      get: (...call) => (counts.gets++, storage.get(...call)),
      create: async (...call) => {
        counts.creates++
        counts.together = Math.max(counts.together, ++underWay)
        return storage.create(...call).finally(() => underWay--)
      },
    }
    return { counts, counted }
  }

  const headless = (count: number, more: (n: number) => object = () => ({}), name = 's'): Service =>
    service(
      {
        type: 'NodePort',
        clusterIP: 'None',
        ports: Array.from({ length: count }, (_, n) => ({ name: `p${n}`, port: n + 1, protocol: 'TCP', ...more(n) })),
      },
      name,
    )

  test.each<[string, (n: number) => object]>([
    ['any', () => ({})],
    ['named', (n) => ({ nodePort: 30_100 + n })],
    ['named for one port', (n) => ({ port: 80, nodePort: 30_100 + n })],
  ])('many are claimed together: %s', async (_, more) => {
    const { context, ports } = cluster()
    const { counts, counted } = counting(context().storage)
    const many = headless(1_000, more)
    const allocation = await allocateForService(many, undefined, context({ storage: counted }))
    const found = new Set((many.spec?.ports ?? []).map(({ nodePort }) => nodePort))
    expect([found.size, await ports(), counts.creates]).toEqual([1_000, 1_000, 1_000])
    expect(counts.together).toBe(64)
    await allocation.revert()
    expect([await ports(), counts.gets]).toEqual([0, 0])
  })

  test('more than there are, are not claimed at all', async () => {
    const { context, ports } = cluster()
    const { counts, counted } = counting(context().storage)
    expect(await message(allocateForService(headless(20_000), undefined, context({ storage: counted })))).toBe(
      'Internal error occurred: failed to allocate a nodePort: range is full',
    )
    expect([counts.creates, await ports()]).toEqual([0, 0])
  })

  test('of many that a Service names one is taken: it gives back all others', async () => {
    const { context, ports } = cluster()
    await allocateForService(
      headless(1, () => ({ nodePort: 30_110 }), 'first'),
      undefined,
      context(),
    )
    const many = headless(100, (n) => ({ nodePort: 30_100 + n }))
    expect(await message(allocateForService(many, undefined, context()))).toBe(
      'Service "s" is invalid: spec.ports[10].nodePort: Invalid value: 30110: provided port is already allocated',
    )
    expect(await ports()).toBe(1)
  })

  test('a dry run of many reads the taken ones once', async () => {
    const { context, ports } = cluster()
    await allocateForService(
      headless(1, () => ({ nodePort: 30_110 }), 'first'),
      undefined,
      context(),
    )
    const { counts, counted } = counting(context().storage)
    const dry = context({ storage: counted, dryRun: true })
    await allocateForService(
      headless(500, (n) => ({ nodePort: 30_200 + n })),
      undefined,
      dry,
    )
    expect([counts.gets, counts.creates, await ports()]).toEqual([0, 0, 1])
    expect(
      await message(
        allocateForService(
          headless(20, (n) => ({ nodePort: 30_100 + n })),
          undefined,
          dry,
        ),
      ),
    ).toContain('spec.ports[10].nodePort: Invalid value: 30110: provided port is already allocated')
  })

  test('outside of the range', async () => {
    const { context } = cluster()
    const one = service({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 80 }] })
    expect(await message(allocateForService(one, undefined, context()))).toBe(
      'Service "s" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    )
  })
})
