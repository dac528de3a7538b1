import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import type { JsonWebKey } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { CannotStart } from '../../../src/cli/start/options.ts'
import type { StartOptions } from '../../../src/cli/start/options.ts'
import { start } from '../../../src/cli/commands/start.ts'

const options: StartOptions = { host: '127.0.0.1', port: 0, dataDir: '/nonexistent', ephemeral: false, names: [] }

const failureOf = (more: Partial<StartOptions>) => start({ ...options, ...more }).catch((error: unknown) => error)

test.each([
  ['KEDGE_HISTORY_SECONDS', '5m', 'cannot be read: the setting of the history has "5m": not a number of seconds'],
  ['KEDGE_RUNTIME_CONFIG', 'nonsense', 'cannot be read: runtime-config invalid key nonsense'],
  ['KEDGE_SERVICE_RANGE', '10.0.0.0', 'must be a CIDR'],
  ['KEDGE_FEATURE_GATES', 'NoGate=true', 'cannot be read: unrecognized feature gate: NoGate'],
])('kedge start reports a mistake in %s before it starts anything', async (setting, value, why) => {
  const failure = await failureOf({ passedOn: { [setting]: value } })
  const message = `${setting} ${why}`
  expect(failure).toBeInstanceOf(CannotStart)
  expect(String(failure)).toContain(message)
})

test("kedge start reports a bad value in the data directory with the Worker's message, without the value", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kedge-settings-'))
  mkdirSync(join(dataDir, 'pki'))
  writeFileSync(join(dataDir, 'pki', 'admin.token'), 'hunter2')
  const failure = await failureOf({ dataDir })
  expect(failure).toBeInstanceOf(CannotStart)
  expect(String(failure)).toContain('KEDGE_ADMIN_TOKEN must have at least 32 characters')
  expect(String(failure)).not.toContain('hunter2')
})

test('a public key and a private key that do not match are refused', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kedge-settings-'))
  mkdirSync(join(dataDir, 'pki'))
  const ec = (): JsonWebKey => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  const key = { ...ec(), d: ec().d }
  writeFileSync(join(dataDir, 'pki', 'service-account.jwk'), JSON.stringify(key))
  expect(String(await failureOf({ dataDir }))).toContain('pki/service-account.jwk does not sign')
})

test('the command prints the error and ends, though its launcher waits', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'kedge-settings-'))
  mkdirSync(join(dataDir, 'pki'))
  writeFileSync(join(dataDir, 'pki', 'admin.token'), 'hunter2')
  const command = ['src/cli/kedge.mjs', 'start', '--port', '0', '--data-dir', dataDir]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const words = text(child.stderr!)
  // a process that does not end is killed and has no exit code
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  expect(status).toBe(1)
  expect(await words).toBe(
    'kedge: The settings are wrong: KEDGE_ADMIN_TOKEN must have at least 32 characters, printable ASCII without blanks\n',
  )
}, 60_000)

/** Whether a process has this word in its command line. */
const isInUse = (word: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word)
    } catch {
      return false
    }
  })

test.each([
  ['the kubeconfig cannot be written', (dataDir: string) => mkdirSync(join(dataDir, 'kubeconfig')), {}, 'EISDIR'],
  ['the databases cannot be stored', (dataDir: string) => writeFileSync(join(dataDir, 'objects'), ''), {}, 'EEXIST'],
  [
    'the audit log cannot be written',
    () => {},
    { audit: { settings: {}, log: { path: '/proc/version/audit', maxBytes: 1, maxBackups: 0 } } },
    'The audit log /proc/version/audit cannot be opened',
  ],
])(
  'where %s, the command ends and leaves no engine on the data',
  async (_, prepare, more, message) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'kedge-failed-'))
    prepare(dataDir)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(String(await failureOf({ dataDir, port, ...more }))).toContain(message)
    expect(isInUse(join(dataDir, 'run', 'workerd.capnp'))).toBe(false)
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
    // the front listens no more
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
  },
  60_000,
)

test.each([
  [
    'a directory of somebody else with a run/',
    'own',
    /own is no data directory of kedge, and a start would remove .*own\/run\. Choose/,
  ],
  ['a path that is too long for sockets', 'long'.repeat(25), /is \d+ bytes too long for the sockets in it\. Choose/],
])('%s is refused, and nothing in it changes', async (_, name, message) => {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'kedge-directory-')), name)
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  writeFileSync(join(dataDir, 'run', 'notes'), 'mine')
  const failure = await failureOf({ dataDir })
  expect(failure).toBeInstanceOf(CannotStart)
  expect(String(failure)).toMatch(message)
  expect(readdirSync(dataDir, { recursive: true })).toEqual(['run', 'run/notes'])
})
