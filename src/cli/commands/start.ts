// `kedge start`: the API server on this machine, in running order.
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ownValue } from '../../base/own.ts'
import { upToDateBuild } from '../build/build.ts'
import type { Credential } from '../data-directory/certificate.ts'
import { dataDirectory, lockDirectory } from '../data-directory/data-directory.ts'
import type { DataDirectory, Lock } from '../data-directory/data-directory.ts'
import { writeKubeconfig } from '../data-directory/kubeconfig.ts'
import { openPki } from '../data-directory/pki.ts'
import type { Pki } from '../data-directory/pki.ts'
import { serveAuditLog } from '../engine/audit-log.ts'
import type { AuditLog } from '../engine/audit-log.ts'
import { configurationProblemAt, serveConfigurationFiles } from '../engine/configuration-files.ts'
import { startEngine } from '../engine/engine.ts'
import { EngineFailed, EngineKeeper } from '../engine/keeper.ts'
import { collectWhenIdle } from '../engine/memory.ts'
import { connectionLimits, engineRoom } from '../front/descriptors.ts'
import type { EngineAddress } from '../front/engine-link.ts'
import { followFiles } from '../front/followed-files.ts'
import { startFront } from '../front/front.ts'
import type { Front } from '../front/front.ts'
import { credentialProblem } from '../front/server-certificate.ts'
import { Tunnels } from '../front/tunnels.ts'
import { serveOutgoingCalls } from '../outgoing/calls.ts'
import { serveOutgoingExchanges } from '../outgoing/exchanges.ts'
import { serverNames, urlHost } from '../start/addresses.ts'
import { checkDirectory, checkKeys, checkRelease } from '../start/checks.ts'
import { auditSocket, configurationSocket, outgoingSockets, prepareRun } from '../start/engine-run.ts'
import {
  checkOptions,
  checkSettings,
  clientAuthoritiesOf,
  settings,
  settingsProblem,
} from '../start/engine-settings.ts'
import { CannotStart } from '../start/options.ts'
import type { StartOptions } from '../start/options.ts'

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
      const room = engineRoom(pid)
      return { engine, address: { ...sockets, key: createSecretKey(key), ...(room && { room }) } }
    },
    now: () => performance.now(),
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

/** @throws CannotStart */
async function openAuditLog(directory: DataDirectory, { audit }: StartOptions): Promise<AuditLog | undefined> {
  if (audit?.log === undefined) return undefined
  try {
    return await serveAuditLog(auditSocket(directory), audit.log)
  } catch (error) {
    throw new CannotStart(`The audit log ${audit.log.path} cannot be opened: ${String(error)}`)
  }
}

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
