import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseArgs } from 'node:util'
import { startFlags, startOptions, startSchema } from '../../../src/cli/flags/start.ts'

const parsed = (...args: string[]) => startSchema.safeParse(parseArgs({ args, options: startFlags }).values)

test('no flags at all', async () => {
  expect(await startOptions(parsed().data!)).toEqual({
    port: 6443,
    host: '127.0.0.1',
    dataDir: '.kedge',
    ephemeral: false,
    names: [],
    passedOn: {},
    admission: {},
    serviceAccounts: {},
    workloads: 'simulated',
    simulatedNodes: { count: 2, isAsked: false },
  })
})

test.each([
  [['--workloads', 'off'], { workloads: 'off' }],
  [['--workloads', 'controllers'], { workloads: 'controllers' }],
  [['--workloads', 'simulated'], { workloads: 'simulated', simulatedNodes: { count: 2, isAsked: true } }],
  [['--nodes', '5'], { workloads: 'simulated', simulatedNodes: { count: 5, isAsked: true } }],
])('%j decides what moves objects', async (args, wanted) => {
  const { workloads, simulatedNodes } = await startOptions(parsed(...args).data!)
  expect({ workloads, simulatedNodes }).toEqual({ simulatedNodes: undefined, ...wanted })
})

test.each([
  [[], undefined],
  [['--http2-max-streams-per-connection', '0'], undefined],
  [['--http2-max-streams-per-connection', '250'], 250],
  [['--disable-http2-serving', '--http2-max-streams-per-connection', '250'], 0],
])('%j decides how many requests a connection in HTTP/2 has', async (args, http2Streams) => {
  expect((await startOptions(parsed(...args).data!)).http2Streams).toBe(http2Streams)
})

test('the configuration of the scheduler is a setting, and a file that has none is refused', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'kedge-scheduler-')), 'config.yaml')
  const read = async () => (await startOptions(parsed('--scheduler-config', file).data!)).schedulerConfig
  await expect(read()).rejects.toThrow('cannot be read')
  writeFileSync(file, '')
  await expect(read()).rejects.toThrow('is no YAML')
  writeFileSync(file, 'null')
  expect(await read()).toBe('null')
  writeFileSync(file, 'kind: KubeSchedulerConfiguration')
  expect(await read()).toBe('{"kind":"KubeSchedulerConfiguration"}')
})

test.each(['::1', '0.0.0.0', 'localhost', 'api.example.com', 'box-1'])(
  '%s may be the host, and be named',
  async (name) => {
    const { data } = parsed('--host', name, '--san', `${name},*.example.com`)
    expect(await startOptions(data!)).toMatchObject({ host: name, names: [name, '*.example.com'] })
  },
)

test('lists may be given more than once, and with commas', async () => {
  const { data } = parsed(
    '--san',
    'a,b',
    '--san',
    'c',
    '--runtime-config',
    'api/all=true',
    '--runtime-config',
    'v1=true',
  )
  expect(await startOptions(data!)).toMatchObject({
    names: ['a', 'b', 'c'],
    passedOn: { KEDGE_RUNTIME_CONFIG: 'api/all=true,v1=true' },
  })
})

test('settings are passed on to the Worker; of a number the last one counts', async () => {
  const { data } = parsed('--cors-allowed-origins', '//a$,//b$', '-v', '3', '--v', '4', '--max-requests-inflight=7')
  const { passedOn } = await startOptions(data!)
  expect(passedOn).toEqual({
    KEDGE_CORS_ALLOWED_ORIGINS: '//a$,//b$',
    KEDGE_VERBOSITY: '4',
    KEDGE_MAX_REQUESTS_INFLIGHT: '7',
  })
})

test('the flags of kube-apiserver whose text is a setting', async () => {
  const { data } = parsed(
    ...['--event-ttl', '2h', '--event-ttl=30m', '--min-request-timeout', '60', '--request-timeout=2m'],
    ...['--default-not-ready-toleration-seconds=-1', '--default-unreachable-toleration-seconds', '30'],
    ...['--kubelet-preferred-address-types', 'InternalIP', '--kubelet-preferred-address-types=ExternalIP,Hostname'],
  )
  const { passedOn } = await startOptions(data!)
  expect(passedOn).toEqual({
    KEDGE_EVENT_TTL: '30m',
    KEDGE_MIN_REQUEST_TIMEOUT: '60',
    KEDGE_REQUEST_TIMEOUT: '2m',
    KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS: '-1',
    KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS: '30',
    KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES: 'InternalIP,ExternalIP,Hostname',
  })
})

test.each([
  [['--port', '65536'], ['port'], 'wants a number from 0 to 65535, not "65536".'],
  [['--port', '1e3'], ['port'], 'wants a number from 0 to 65535, not "1e3".'],
  [['--port='], ['port'], 'wants a number from 0 to 65535, not "".'],
  [['--audit-log-maxsize', '0'], ['audit-log-maxsize'], 'wants a number of at least 1, not "0".'],
  [['--audit-log-maxbackup', 'many'], ['audit-log-maxbackup'], 'wants a number of at least 0, not "many".'],
  [['--ephemeral', '--data-dir', 'x'], ['ephemeral'], 'and --data-dir exclude each other.'],
  [['--workloads', 'off', '--nodes', '2'], ['nodes'], 'is for --workloads simulated.'],
  [['--workloads', 'off', '--missing-images', 'x'], ['missing-images'], 'is for --workloads simulated.'],
  [['--workloads', 'controllers', '--scheduler-config', 'x'], ['scheduler-config'], 'is for --workloads simulated.'],
  [['--tls-cert-file', 'x'], ['tls-cert-file'], 'and --tls-private-key-file need each other.'],
  [['--tls-private-key-file', 'x'], ['tls-cert-file'], 'and --tls-private-key-file need each other.'],
  [['--host', ''], ['host'], 'wants an address or a DNS name, not "".'],
  [['--host', '[::1]'], ['host'], 'wants an address or a DNS name, not "[::1]".'],
  [['--host', 'a b'], ['host'], 'wants an address or a DNS name, not "a b".'],
  [['--host', '0'], ['host'], 'wants an address or a DNS name, not "0".'],
  [['--host', 'fe80::1%lo'], ['host'], 'wants an address or a DNS name, not "fe80::1%lo".'],
  [['--san', 'a,https://x'], ['san'], 'wants addresses or DNS names, not "a,https://x".'],
  [['--san', 'bücher.example'], ['san'], 'wants addresses or DNS names, not "bücher.example".'],
  [['--audit-log-mode', 'batch'], ['audit-policy-file'], 'is missing: nothing is audited without it.'],
  [['--audit-webhook-mode', 'batch'], ['audit-policy-file'], 'is missing: nothing is audited without it.'],
  [['--audit-log-path', '-'], ['audit-policy-file'], 'is missing: nothing is audited without it.'],
])('%j is refused by the name of the flag', (args, path, message) => {
  expect(parsed(...args).error?.issues).toMatchObject([{ path, message }])
})
