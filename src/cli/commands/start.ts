// `kedge start`: the API server on this machine, in running order.
import { ownValue } from '../../base/own.ts'
import { createSecretKey, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { serveAuditLog } from '../engine/audit-log.ts'
import type { AuditLog, AuditLogOptions } from '../engine/audit-log.ts'
import { upToDateBuild } from '../build/build.ts'
import { PROJECT, WORKER } from '../fresh-build.mjs'
import type { Build } from '../fresh-build.mjs'
import { dataDirectory, lockDirectory } from '../data-directory/data-directory.ts'
import type { DataDirectory, Lock } from '../data-directory/data-directory.ts'
import { configurationProblemAt, serveConfigurationFiles } from '../engine/configuration-files.ts'
import type { ConfigurationFiles } from '../engine/configuration-files.ts'
import { connectionLimits } from '../front/descriptors.ts'
import { startEngine } from '../engine/engine.ts'
import { engineAnswer } from '../engine/answer.ts'
import { collectWhenIdle } from '../engine/memory.ts'
import { engineConfig } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { EngineFailed, EngineKeeper } from '../engine/keeper.ts'
import type { EngineAddress } from '../front/engine-link.ts'
import { startFront } from '../front/front.ts'
import type { Front } from '../front/front.ts'
import { followFiles } from '../front/followed-files.ts'
import type { Texts } from '../front/followed-files.ts'
import { credentialProblem } from '../front/server-certificate.ts'
import type { Credential } from '../data-directory/certificate.ts'
import { writeKubeconfig } from '../data-directory/kubeconfig.ts'
import type { PassedOn } from '../flags/passed-on.ts'
import { makeDirectory, makePrivateDirectory } from '../data-directory/make-directory.ts'
import { serveOutgoingCalls } from '../outgoing/calls.ts'
import { serveOutgoingExchanges } from '../outgoing/exchanges.ts'
import { openPki } from '../data-directory/pki.ts'
import type { Pki } from '../data-directory/pki.ts'
import { firstAddress, parseCidr } from '../../api/ip-addresses.ts'
import { DEFAULT_SERVICE_RANGE, problemOf } from '../../settings.ts'
import { MIGRATED_BY_NEWER } from '../../../migrations/newer.ts'
import { readAuthorities } from '../../x509/client-chain.ts'
import { signsFor } from '../../x509/key-pair.ts'
import { pemBlocks } from '../../x509/pem.ts'
import { signsForItself } from '../../x509/private-jwk.ts'
import type { SimulatedNodes } from './simulated-cluster.ts'
import { Tunnels } from '../front/tunnels.ts'
import { readWranglerConfig } from '../engine/wrangler-config.ts'

export interface StartOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly dataDir: string
  /** Uses a temporary directory, and removes it at the end. */
  readonly ephemeral: boolean
  /** Further DNS names and addresses for the server's certificate. */
  readonly names: readonly string[]
  /** Settings that flags pass on (flags/passed-on.ts). */
  readonly passedOn?: PassedOn
  /** As KEDGE_ENCRYPTION_KEYS. */
  readonly encryptionKeys?: string
  readonly audit?: AuditOptions
  /** KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS, KEDGE_ADMISSION_CONFIG. */
  readonly admission?: Readonly<Record<string, string>>
  /** The most requests at a time on one connection in HTTP/2; 0: HTTP/1.1 only. */
  readonly http2Streams?: number | undefined
  /** KEDGE_CLIENT_CA: PEM. */
  readonly clientAuthorities?: string
  /** Where they come from, and where they are renewed. */
  readonly clientAuthoritiesFile?: string
  /** Takes the place of the data directory's certificate. */
  readonly server?: Credential
  /** Where that one comes from, and where it is renewed. */
  readonly serverFiles?: Texts<keyof Credential>
  /** KEDGE_KUBELET_CA. */
  readonly kubeletAuthority?: string
  /** Options of authentication and authorization. */
  readonly identity?: IdentityOptions
  /** KEDGE_ISSUER, KEDGE_SA_*. */
  readonly serviceAccounts?: Readonly<Record<string, string>>
  /** KEDGE_WORKLOADS. */
  readonly workloads?: string
  /** KEDGE_SCHEDULER_CONFIG. */
  readonly schedulerConfig?: string
  /** Simulated nodes to create where they are missing. */
  readonly simulatedNodes?: SimulatedNodes
}

export interface AuditOptions {
  /** KEDGE_AUDIT_*. */
  readonly settings: Readonly<Record<string, string>>
  readonly log: AuditLogOptions | undefined
}

export interface IdentityOptions {
  /** KEDGE_AUTHENTICATION_* and their like. */
  readonly settings: Readonly<Record<string, string>>
  /** Files of configurations that may change while the server runs. */
  readonly files: ConfigurationFiles
}

export interface RunningServer {
  /** https://host:port */
  readonly url: string
  readonly kubeconfig: string
  readonly dataDir: string
  /** Resolves when the server has stopped; rejects where the engine cannot be kept running. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

type ClientAuthorities = Readonly<Record<'clientAuthorities', string>>

/** Why the server cannot start, for the user of the command. */
export class CannotStart extends Error {}

/** Milliseconds. Together well below the two seconds in which a server must end. */
const FRONT_GRACE_MS = 300
const ENGINE_GRACE_MS = 400

export async function start(options: StartOptions): Promise<RunningServer> {
  checkOptions(options)
  const directory = dataDirectory(options.ephemeral ? mkdtempSync(join(tmpdir(), 'kedge-')) : options.dataDir)
  checkDirectory(directory)
  const lock = lockDirectory(directory)
  const parts: Parts = {}
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      await stopParts(parts)
      if (options.ephemeral) rmSync(directory.path, { recursive: true, force: true, maxRetries: 3 })
      else lock.release()
    })())
  try {
    const { url, keeper } = await startParts(options, directory, lock, parts)
    return {
      url,
      kubeconfig: directory.kubeconfig,
      dataDir: directory.path,
      ended: keeper.ended.finally(stop),
      stop,
    }
  } catch (error) {
    // the directory stays locked until nothing runs on it
    await stop()
    throw error instanceof EngineFailed ? new CannotStart(error.message) : error
  }
}

/** What runs, in the order in which it is stopped. A start that fails has started some of it. */
interface Parts {
  collecting?: { stop(): void }
  renewal?: { close(): void } | undefined
  clientRenewal?: { close(): void } | undefined
  front?: Front
  keeper?: EngineKeeper<EngineAddress>
  outgoingCalls?: { close(): void }
  exchanges?: { close(): void }
  configurations?: { close(): void }
  auditLog?: AuditLog
}

async function stopParts(parts: Parts): Promise<void> {
  parts.collecting?.stop()
  parts.renewal?.close()
  parts.clientRenewal?.close()
  await parts.front?.close(FRONT_GRACE_MS)
  await parts.keeper?.stop(ENGINE_GRACE_MS)
  parts.outgoingCalls?.close()
  parts.exchanges?.close()
  parts.configurations?.close()
  await parts.auditLog?.close()
}

/** @param parts gets each part as soon as it runs */
async function startParts(
  options: StartOptions,
  directory: DataDirectory,
  lock: Lock,
  parts: Parts,
): Promise<{ readonly url: string; readonly keeper: EngineKeeper<EngineAddress> }> {
  const [build, pki] = await Promise.all([upToDateBuild(), openPki(directory.pki, serverNames(options), new Date())])
  checkSettings(settings(pki, `https://${urlHost(options.host)}:${options.port}`, options))
  await checkKeys(pki, options.server)
  const sockets = { socket: join(directory.run, 'engine.sock'), attestedSocket: join(directory.run, 'attested.sock') }
  const collectionSocket = join(directory.run, 'collection.sock')
  let pid: number | undefined
  const keeper = new EngineKeeper<EngineAddress>({
    launch: () => {
      // a new key each time, so that statements for an earlier engine are invalid
      const key = randomBytes(32)
      for (const path of [...Object.values(sockets), collectionSocket]) rmSync(path, { force: true })
      const engine = startEngine(configure(key), (started) => lock.engineStarted(started))
      pid = engine.pid
      return { engine, address: { ...sockets, key: createSecretKey(key) } }
    },
    now: Date.now,
    pause: (ms) => setTimeout(ms),
    log: console.error,
  })
  const tunnels = new Tunnels()
  const outgoing = outgoingSockets(directory)
  const front = (parts.front = await listen(options, pki, tunnels, () => keeper.ready()))
  const url = `https://${urlHost(options.host)}:${front.port}`
  let current = options
  const configure = prepareRun(
    directory,
    build,
    {
      ...sockets,
      collectionSocket,
      outgoingSockets: outgoing,
      ...(options.identity && { configurationSocket: configurationSocket(directory) }),
      ...(options.audit?.log && { auditSocket: auditSocket(directory) }),
    },
    () => settings(pki, url, current),
  )
  parts.auditLog = await openAuditLog(directory, options)
  const credentials = { 'front-proxy': pki.frontProxy, 'kubelet-client': pki.kubeletClient }
  parts.outgoingCalls = await serveOutgoingCalls(outgoing.calls)
  parts.exchanges = await serveOutgoingExchanges(outgoing.exchanges, credentials, tunnels)
  parts.configurations =
    options.identity && (await serveConfigurationFiles(configurationSocket(directory), options.identity.files))
  const kubeconfigFor = (authorities: string): void =>
    writeKubeconfig(directory.kubeconfig, { server: url, pki: { ...pki, authorities } })
  kubeconfigFor(options.server?.certificate ?? pki.authorities)
  const renewed = (credential: Credential): void => {
    front.show(credential)
    kubeconfigFor(credential.certificate)
  }
  const { server, serverFiles, clientAuthorities, clientAuthoritiesFile } = options
  parts.renewal = server && serverFiles && followFiles(serverFiles, server, credentialProblem, renewed, console.error)
  parts.keeper = keeper
  void keeper.run()
  const renewedClients = (renewal: ClientAuthorities): void => {
    const next = { ...options, ...renewal }
    front.trust(clientAuthoritiesOf(pki, next))
    // an engine keeps its settings
    current = next
    void keeper.replace(ENGINE_GRACE_MS)
  }
  parts.clientRenewal =
    clientAuthorities === undefined || clientAuthoritiesFile === undefined
      ? undefined
      : followFiles(
          { clientAuthorities: clientAuthoritiesFile },
          { clientAuthorities },
          (renewal) => settingsProblem(settings(pki, url, { ...options, ...renewal })),
          renewedClients,
          console.error,
        )
  parts.collecting = {
    stop: collectWhenIdle(() => (pid === undefined ? undefined : { pid, socket: collectionSocket })),
  }
  const { socket } = await keeper.ready()
  const problem = await configurationProblemAt(socket)
  if (problem !== undefined) throw new CannotStart(problem)
  await checkRelease(directory, socket, pki)
  return { url, keeper }
}

function serverNames({ host, names, passedOn }: StartOptions): string[] {
  const serviceRange = passedOn?.KEDGE_SERVICE_RANGE ?? DEFAULT_SERVICE_RANGE
  const own = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    '127.0.0.1',
    '::1',
    ...serviceRange.split(',').flatMap((range) => firstAddressOf(range) ?? []),
  ]
  return [...new Set([...own, ...(isWildcard(host) ? [] : [host]), ...names])]
}

/** Undefined for a wrong range, which the settings refuse. */
function firstAddressOf(range: string): string | undefined {
  const parsed = parseCidr(range.trim())
  return parsed && firstAddress(parsed)
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

function urlHost(host: string): string {
  if (isWildcard(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Bytes of the path of a Unix socket: 108 on Linux and 104 elsewhere, with a zero at the end. */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103

/**
 * A start removes `run/`. So it refuses a directory with a `run/` that no start has made.
 * @throws CannotStart
 */
function checkDirectory(directory: DataDirectory): void {
  const { path, run, pki, objects } = directory
  const longest = Buffer.byteLength(configurationSocket(directory))
  if (longest > LONGEST_SOCKET_PATH)
    throw new CannotStart(
      `The path of the data directory ${path} is ${longest - LONGEST_SOCKET_PATH} bytes too long for the sockets in it. Choose another with --data-dir.`,
    )
  if (existsSync(run) && !existsSync(pki) && !existsSync(objects))
    throw new CannotStart(
      `${path} is no data directory of kedge, and a start would remove ${run}. Choose another with --data-dir.`,
    )
}

/**
 * Checks settings that do not come from the data directory, before anything is written.
 * @throws CannotStart
 */
const checkOptions = (options: StartOptions): void => checkSettings(optionSettings(options))

/**
 * With invalid settings the Worker would answer every request with an error. So the start fails with the Worker's
 * text.
 * @throws CannotStart
 */
function checkSettings(own: Readonly<Record<string, string>>): void {
  const problem = settingsProblem(own)
  if (problem !== undefined) throw new CannotStart(problem)
}

function settingsProblem(own: Readonly<Record<string, string>>): string | undefined {
  const problem = problemOf({ ...workerConfig().vars, ...own })
  return problem && `The settings are wrong: ${problem.details}`
}

/**
 * Checks signatures, because a key may contain a false public key.
 * @throws CannotStart
 */
async function checkKeys({ authority, serviceAccountKey }: Pki, server?: Credential): Promise<void> {
  const [block] = pemBlocks(authority.key)
  const [certificate] = readAuthorities(authority.certificate)
  if (block === undefined || certificate === undefined || !(await signsFor(block.bytes, certificate)))
    throw new CannotStart('pki/ca.key does not sign for pki/ca.crt: the halves of the key are not of one another')
  if (!(await signsForItself(serviceAccountKey)))
    throw new CannotStart('pki/service-account.jwk does not sign: its halves are not of one another')
  const problem = server && credentialProblem(server)
  if (problem !== undefined) throw new CannotStart(problem)
}

/**
 * A newer release may have changed the schema of the databases. Then this one answers every request with an error, and a
 * start says so instead.
 * @throws CannotStart
 */
async function checkRelease({ path }: DataDirectory, socket: string, { administratorToken }: Pki): Promise<void> {
  const headers = { Authorization: `Bearer ${administratorToken}` }
  const { status, body } = await engineAnswer(socket, '/readyz/etcd', headers)
  if (status !== 200 && body.includes(MIGRATED_BY_NEWER))
    throw new CannotStart(
      `The data directory ${path} ${MIGRATED_BY_NEWER} of kedge, and this one cannot read it. Start that version, or choose another directory with --data-dir.`,
    )
}

/** The content of wrangler.toml. */
export const workerConfig = () => readWranglerConfig(join(PROJECT, 'wrangler.toml'))

/** MiB. The engine of a local server may have more than an isolate of Cloudflare. */
const CONTROLLER_MEMORY = '256'

const optionSettings = ({
  passedOn,
  encryptionKeys,
  audit,
  admission,
  clientAuthorities,
  server,
  kubeletAuthority,
  identity,
  serviceAccounts,
  workloads,
  schedulerConfig,
}: StartOptions): Record<string, string> => ({
  KEDGE_CONTROLLER_MEMORY: CONTROLLER_MEMORY,
  ...passedOn,
  ...identity?.settings,
  ...serviceAccounts,
  ...(encryptionKeys === undefined ? {} : { KEDGE_ENCRYPTION_KEYS: encryptionKeys }),
  ...audit?.settings,
  ...admission,
  ...(clientAuthorities === undefined ? {} : { KEDGE_CLIENT_CA: clientAuthorities }),
  ...(server === undefined ? {} : { KEDGE_ROOT_CA: server.certificate }),
  ...(kubeletAuthority === undefined ? {} : { KEDGE_KUBELET_CA: kubeletAuthority }),
  ...(workloads === undefined ? {} : { KEDGE_WORKLOADS: workloads }),
  ...(schedulerConfig === undefined ? {} : { KEDGE_SCHEDULER_CONFIG: schedulerConfig }),
})

const outgoingSockets = ({ run }: DataDirectory): NonNullable<EngineConfig['outgoingSockets']> => ({
  calls: join(run, 'outgoing.sock'),
  exchanges: join(run, 'exchanges.sock'),
})
const configurationSocket = (directory: DataDirectory): string => join(directory.run, 'configuration.sock')
const auditSocket = (directory: DataDirectory): string => join(directory.run, 'audit.sock')

/** @throws CannotStart */
async function openAuditLog(directory: DataDirectory, { audit }: StartOptions): Promise<AuditLog | undefined> {
  if (audit?.log === undefined) return undefined
  try {
    return await serveAuditLog(auditSocket(directory), audit.log)
  } catch (error) {
    throw new CannotStart(`The audit log ${audit.log.path} cannot be opened: ${String(error)}`)
  }
}

/** The Worker's settings for this server; src/env.ts documents them. */
function settings(pki: Pki, url: string, options: StartOptions): Record<string, string> {
  return {
    ...optionSettings(options),
    ...(process.env['KEDGE_COUNT_WAKES'] ? { KEDGE_COUNT_WAKES: '1' } : {}),
    KEDGE_REPAIR_AT_START: '1',
    KEDGE_ADMIN_TOKEN: pki.administratorToken,
    KEDGE_CA: pki.authorities,
    KEDGE_CA_KEY: pki.authority.key,
    KEDGE_REQUESTHEADER_CA: pki.frontProxyAuthorities,
    ...(signerOf(options) === undefined ? ownKeys(pki) : {}),
    KEDGE_ADVERTISE: new URL(url).host,
    KEDGE_STREAM_ENCODING: '',
    KEDGE_SUBREQUESTS: process.env['KEDGE_SUBREQUESTS'] ?? 'unlimited',
  }
}

const signerOf = ({ serviceAccounts }: StartOptions): string | undefined => serviceAccounts?.['KEDGE_SA_SIGNER']

const ownKeys = ({ serviceAccountKey, retiredServiceAccountKeys }: Pki): Record<string, string> => ({
  KEDGE_SA_KEY: serviceAccountKey,
  ...(retiredServiceAccountKeys && { KEDGE_SA_RETIRED_KEYS: retiredServiceAccountKeys }),
})

const clientAuthoritiesOf = (pki: Pki, { clientAuthorities = '' }: StartOptions): string[] => [
  pki.authorities,
  pki.frontProxyAuthorities,
  clientAuthorities,
]

async function listen(
  options: StartOptions,
  pki: Pki,
  tunnels: Tunnels,
  engine: () => Promise<EngineAddress>,
): Promise<Front> {
  const { host, port, audit, server, http2Streams } = options
  try {
    return await startFront({
      host,
      port,
      engine,
      tunnels,
      limits: connectionLimits(),
      tellsAddress: audit !== undefined,
      ...(http2Streams === undefined ? {} : { http2Streams }),
      server: server ?? pki.server,
      clientAuthorities: clientAuthoritiesOf(pki, options),
    })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const reason = ownValue(
      {
        EADDRINUSE: `Port ${port} on ${host} is already in use. Stop the program that has it, or choose another with --port (0 finds a free one).`,
        EACCES: `Port ${port} needs more rights than you have. Choose one above 1023 with --port.`,
        EADDRNOTAVAIL: `This machine has no address ${host}. Choose another with --host.`,
        ENOTFOUND: `The host name ${host} is not known. Choose an address of this machine with --host.`,
      },
      code ?? '',
    )
    throw reason === undefined ? error : new CannotStart(reason)
  }
}

/**
 * Writes the engine's files. The Worker is copied, so that a later build does not change a running server.
 * @returns a function that writes the configuration of one run of the engine, and returns its path
 */
function prepareRun(
  directory: DataDirectory,
  build: Build,
  sockets: Omit<EngineConfig, 'worker' | 'modules' | 'settings' | 'objects'>,
  own: () => Record<string, string>,
): (key: Uint8Array) => string {
  rmSync(directory.run, { recursive: true, force: true })
  makeDirectory(join(directory.run, 'worker'), 0o700)
  makePrivateDirectory(directory.objects)
  for (const name of build.modules) copyFileSync(join(WORKER, name), join(directory.run, 'worker', name))
  const worker = workerConfig()
  const file = join(directory.run, 'workerd.capnp')
  return (key) => {
    const config = engineConfig({
      worker,
      modules: build.modules,
      settings: {
        ...own(),
        KEDGE_FRONT_KEY: Buffer.from(key).toString('base64'),
        KEDGE_DATABASES: databasesIn(directory.objects).join(','),
      },
      objects: directory.objects,
      ...sockets,
    })
    writeFileSync(file, config, { mode: 0o600 })
    return file
  }
}

/** Ids of the Durable Objects that have a database. */
const databasesIn = (objects: string): string[] =>
  readdirSync(objects, { recursive: true, encoding: 'utf8' }).flatMap(
    (file) => /([0-9a-f]{64})\.sqlite$/.exec(file)?.[1] ?? [],
  )
