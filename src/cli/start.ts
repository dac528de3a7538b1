// `kedge start`: the API server on this machine, in running order.
import { ownValue } from '../api/own.ts'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT, WORKER, upToDateBuild } from './build.ts'
import type { Build } from './build.ts'
import { dataDirectory, lockDirectory } from './data-directory.ts'
import type { DataDirectory, Lock } from './data-directory.ts'
import { maxConnections } from './descriptors.ts'
import { startEngine } from './engine.ts'
import type { Engine } from './engine.ts'
import { engineConfig } from './engine-config.ts'
import { startFront } from './front.ts'
import type { Front } from './front.ts'
import { writeKubeconfig } from './kubeconfig.ts'
import { openPki } from './pki.ts'
import type { Pki } from './pki.ts'
import { problemOf } from '../settings.ts'
import { readWranglerConfig } from './wrangler-config.ts'

export interface StartOptions {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly dataDir: string
  /** Uses a temporary directory instead, and removes it at the end. */
  readonly ephemeral: boolean
  /** Further DNS names and addresses for the server's certificate. */
  readonly names: readonly string[]
  /** Which versions and resources are served, as kube-apiserver's --runtime-config. */
  readonly runtimeConfig?: string
  /** As kube-apiserver's --feature-gates. */
  readonly featureGates?: string
  /** How long old versions stay readable: KEDGE_HISTORY_SECONDS. */
  readonly history?: string
}

export interface RunningServer {
  /** https://host:port */
  readonly url: string
  readonly kubeconfig: string
  readonly dataDir: string
  /** Resolves when it has stopped for good; rejects where the engine cannot be kept running. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** What stands in the way of a start, in words for whoever typed the command. */
export class CannotStart extends Error {}

/** Together well under the two seconds in which a server has to end. */
const FRONT_GRACE_MS = 300
const ENGINE_GRACE_MS = 400

export async function start(options: StartOptions): Promise<RunningServer> {
  checkOptions(options)
  const directory = dataDirectory(options.ephemeral ? mkdtempSync(join(tmpdir(), 'kedge-')) : options.dataDir)
  const lock = lockDirectory(directory)
  const release = (): void => {
    if (options.ephemeral) rmSync(directory.path, { recursive: true, force: true, maxRetries: 3 })
    else lock.release()
  }
  try {
    return await startLocked(options, directory, lock, release)
  } catch (error) {
    release()
    throw error
  }
}

async function startLocked(
  options: StartOptions,
  directory: DataDirectory,
  lock: Lock,
  release: () => void,
): Promise<RunningServer> {
  const [build, pki] = await Promise.all([upToDateBuild(), openPki(directory.pki, serverNames(options), new Date())])
  checkSettings(settings(pki, `https://${urlHost(options.host)}:${options.port}`, options))
  const cfHeader = `kedge-cf-${randomBytes(16).toString('hex')}`
  const keeper = new EngineKeeper(lock)
  const front = await listen(options, pki, cfHeader, () => keeper.ready())
  const url = `https://${urlHost(options.host)}:${front.port}`
  const configFile = prepareRun(directory, build, cfHeader, settings(pki, url, options))
  keeper.start(configFile, join(directory.run, 'engine.sock'))
  writeKubeconfig(directory.kubeconfig, { server: url, pki })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      await front.close(FRONT_GRACE_MS)
      await keeper.stop(ENGINE_GRACE_MS)
      release()
    })())
  await keeper.ready().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return {
    url,
    kubeconfig: directory.kubeconfig,
    dataDir: directory.path,
    ended: keeper.ended.finally(stop),
    stop,
  }
}

function serverNames({ host, names }: StartOptions): string[] {
  const own = [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    '127.0.0.1',
    '::1',
    '10.96.0.1',
  ]
  return [...new Set([...own, ...(isWildcard(host) ? [] : [host]), ...names])]
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::'

function urlHost(host: string): string {
  if (isWildcard(host)) return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Settings that do not come from the data directory, before anything is written. @throws CannotStart */
const checkOptions = (options: StartOptions): void => checkSettings(optionSettings(options))

/** With wrong settings the Worker would answer every request with an error: they are told in its words. @throws CannotStart */
function checkSettings(own: Readonly<Record<string, string>>): void {
  const problem = problemOf({ ...workerConfig().vars, ...own })
  if (problem !== undefined) throw new CannotStart(`The settings are wrong: ${problem.details}`)
}

const workerConfig = () => readWranglerConfig(join(PROJECT, 'wrangler.toml'))

const optionSettings = ({ runtimeConfig, featureGates, history }: StartOptions): Record<string, string> => ({
  ...(history === undefined ? {} : { KEDGE_HISTORY_SECONDS: history }),
  ...(runtimeConfig === undefined ? {} : { KEDGE_RUNTIME_CONFIG: runtimeConfig }),
  ...(featureGates === undefined ? {} : { KEDGE_FEATURE_GATES: featureGates }),
})

/** The Worker's settings that are this server's own; src/env.ts documents them. */
function settings(pki: Pki, url: string, options: StartOptions): Record<string, string> {
  return {
    ...optionSettings(options),
    ...(process.env['KEDGE_COUNT_WAKES'] ? { KEDGE_COUNT_WAKES: '1' } : {}),
    KEDGE_ADMIN_TOKEN: pki.administratorToken,
    KEDGE_CA: pki.authority.certificate,
    KEDGE_CA_KEY: pki.authority.key,
    KEDGE_REQUESTHEADER_CA: pki.frontProxyAuthority.certificate,
    KEDGE_SA_KEY: pki.serviceAccountKey,
    KEDGE_ADVERTISE: new URL(url).host,
    KEDGE_STREAM_ENCODING: '',
  }
}

async function listen(
  { host, port }: StartOptions,
  pki: Pki,
  cfHeader: string,
  engine: () => Promise<string>,
): Promise<Front> {
  try {
    return await startFront({
      host,
      port,
      cfHeader,
      engine,
      maxConnections: maxConnections(),
      server: pki.server,
      clientAuthorities: [pki.authority.certificate, pki.frontProxyAuthority.certificate],
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

/** Writes what the engine reads; returns the path of its configuration. The Worker is copied, so that a later build leaves a running server alone. */
function prepareRun(directory: DataDirectory, build: Build, cfHeader: string, own: Record<string, string>): string {
  rmSync(directory.run, { recursive: true, force: true })
  mkdirSync(join(directory.run, 'worker'), { recursive: true, mode: 0o700 })
  mkdirSync(directory.objects, { recursive: true, mode: 0o700 })
  for (const name of build.modules) copyFileSync(join(WORKER, name), join(directory.run, 'worker', name))
  const file = join(directory.run, 'workerd.capnp')
  const config = engineConfig({
    worker: workerConfig(),
    modules: build.modules,
    settings: own,
    objects: directory.objects,
    socket: join(directory.run, 'engine.sock'),
    cfHeader,
  })
  writeFileSync(file, config, { mode: 0o600 })
  return file
}

/** Keeps an engine running: one that ends by itself is started again, unless it never gets going. */
class EngineKeeper {
  readonly #lock: Lock
  readonly ended: Promise<void>
  #end!: { resolve: () => void; reject: (error: Error) => void }
  #engine: Engine | undefined
  #ready: Promise<string> | undefined
  #stopped = false

  constructor(lock: Lock) {
    this.#lock = lock
    this.ended = new Promise((resolve, reject) => (this.#end = { resolve, reject }))
    this.ended.catch(() => {}) // whoever waits for it is told
  }

  /** The path of its socket, once it listens. */
  async ready(): Promise<string> {
    while (this.#ready === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    return this.#ready
  }

  start(configFile: string, socket: string): void {
    rmSync(socket, { force: true })
    const engine = (this.#engine = startEngine(configFile, (pid) => this.#lock.engineStarted(pid)))
    this.#ready = engine.listening.then(() => socket)
    this.#ready.catch(() => {}) // whoever waits for it is told
    let listened = false
    engine.listening.then(
      () => (listened = true),
      () => {},
    )
    void engine.ended.then(() => {
      if (this.#stopped) return this.#end.resolve()
      if (!listened)
        return this.#end.reject(new CannotStart('The engine (workerd) ended before it was ready; see above.'))
      console.error('kedge: the engine (workerd) ended unexpectedly and is started again')
      this.start(configFile, socket)
    })
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    await this.#engine?.stop(graceMs)
  }
}
