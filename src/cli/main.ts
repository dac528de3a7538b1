// The command line: `kedge COMMAND [FLAGS]`.
import { parseFeatureGates } from '../api/feature-gates.ts'
import { warningsOf } from '../api/gates-without-effect.ts'
import { ownValue } from '../base/own.ts'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import type * as z from 'zod/mini'
import { abandonRestore, backup, restore, serverOf } from './commands/backup.ts'
import { PROJECT } from './fresh-build.mjs'
import { helpFor } from './help.ts'
import { rewrite } from './commands/encryption.ts'
import { DirectoryInUse, dataDirectory } from './data-directory/data-directory.ts'
import { secondsOf } from './flags/identity.ts'
import { runKeys } from './commands/keys.ts'
import { namingFlags } from './flags/named-flags.ts'
import { outliveReaders } from './output.ts'
import { shellWord } from './shell-word.ts'
import { start } from './commands/start.ts'
import type { RunningServer } from './commands/start.ts'
import { CannotStart } from './start/options.ts'
import type { StartOptions } from './start/options.ts'
import { createSimulatedCluster } from './commands/simulated-cluster.ts'
import type { SimulatedNodes } from './commands/simulated-cluster.ts'
import type { StartFlags } from './flags/start.ts'
import { fileFlags, startFlags, startOptions, startSchema } from './flags/start.ts'
import { runTokenCreate } from './commands/token.ts'
import { UsageError, parse } from './flags/usage.ts'

const commands: Readonly<Record<string, (args: string[]) => Promise<void> | void>> = {
  start: runStart,
  kubeconfig: (args) =>
    args.some((arg) => arg.startsWith('--user'))
      ? runPersonKubeconfig(args)
      : printFile(args, 'kubeconfig', (directory) => dataDirectory(directory).kubeconfig),
  login: runLogin,
  keys: runKeys,
  token: ([action, ...rest]) =>
    action === 'create'
      ? runTokenCreate(rest, runningKubeconfig)
      : printFile(action === undefined ? [] : [action, ...rest], 'token', (directory) =>
          resolve(dataDirectory(directory).pki, 'admin.token'),
        ),
  backup: runBackup,
  restore: runRestore,
  encryption: runEncryption,
  version: () => console.log(versionText()),
  help: ([about = '']) => console.log(helpFor(about)),
}

export async function main(args: readonly string[]): Promise<void> {
  const [command = 'help', ...rest] = args
  outliveReaders()
  try {
    if (args.includes('--help') || args.includes('-h')) return void console.log(helpFor(command))
    const run = command === '--version' ? commands['version'] : ownValue(commands, command)
    if (run === undefined) throw new UsageError(`There is no command "${command}".`)
    await run(rest)
  } catch (error) {
    const expected = error instanceof UsageError || error instanceof CannotStart || error instanceof DirectoryInUse
    if (!expected && process.env['KEDGE_DEBUG']) console.error(error)
    console.error(`kedge: ${error instanceof Error ? error.message : String(error)}`)
    if (error instanceof UsageError) console.error('Run "kedge help" for commands and flags.')
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

/** @throws UsageError that names the flag */
function checkedFlags<T>(schema: z.ZodMiniType<T>, flags: object): T {
  const result = schema.safeParse(flags)
  if (result.success) return result.data
  const [problem] = result.error.issues
  throw new UsageError(`--${problem!.path.join('.')} ${problem!.message}`)
}

async function runBackup(args: string[]): Promise<void> {
  const flags = parse(args, { output: { type: 'string', short: 'o' }, 'data-dir': { type: 'string' } })
  if (flags.output === undefined) throw new UsageError('backup needs a file: kedge backup -o FILE')
  await backup(serverOf(runningKubeconfig(flags['data-dir'])), resolve(flags.output))
}

async function runRestore(args: string[]): Promise<void> {
  const [first = ''] = args
  const file = first.startsWith('-') ? '' : first
  const rest = file === '' ? args : args.slice(1)
  const flags = parse(rest, { abandon: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } })
  if (flags.abandon === (file !== ''))
    throw new UsageError('restore needs a file, or gives up: kedge restore FILE, kedge restore --abandon')
  const server = serverOf(runningKubeconfig(flags['data-dir']))
  await (flags.abandon ? abandonRestore(server) : restore(server, resolve(file)))
}

async function runEncryption(args: string[]): Promise<void> {
  const [action, ...rest] = args
  if (action !== 'rewrite') throw new UsageError('encryption does one thing: kedge encryption rewrite')
  const flags = parse(rest, { resources: { type: 'string', default: 'secrets' }, 'data-dir': { type: 'string' } })
  const server = serverOf(runningKubeconfig(flags['data-dir']))
  for (const resource of flags.resources.split(',')) {
    const { written, seen } = await rewrite(server, resource.trim())
    console.log(`${resource.trim()}: ${seen} objects, ${written} stored anew`)
  }
}

async function runPersonKubeconfig(args: string[]): Promise<void> {
  const flags = parse(args, {
    user: { type: 'string', default: '' },
    group: { type: 'string', multiple: true, default: [] },
    for: { type: 'string', default: '8h' },
    'data-dir': { type: 'string', default: '.kedge' },
  })
  const seconds = secondsOf(flags.for)
  if (flags.user === '') throw new UsageError('--user wants a name.')
  if (seconds === undefined || seconds < 60)
    throw new UsageError(`--for wants a duration of at least a minute, as 8h or 30m, not "${flags.for}".`)
  runningKubeconfig(flags['data-dir'])
  const { personKubeconfig } = await import('./commands/person.ts')
  const person = { user: flags.user, groups: flags.group, seconds }
  process.stdout.write(await personKubeconfig(dataDirectory(flags['data-dir']), person, new Date()))
}

async function runLogin(args: string[]): Promise<void> {
  const flags = parse(args, {
    'issuer-url': { type: 'string', default: '' },
    'client-id': { type: 'string', default: '' },
    'client-secret': { type: 'string' },
    'certificate-authority': { type: 'string' },
    scope: { type: 'string', multiple: true, default: [] },
    port: { type: 'string', default: '8000' },
    'cache-dir': { type: 'string' },
    'no-browser': { type: 'boolean', default: false },
  })
  const port = Number(flags.port)
  if (flags['issuer-url'] === '' || flags['client-id'] === '')
    throw new UsageError('login needs an issuer: kedge login --issuer-url URL --client-id ID')
  if (!/^\d{1,5}$/.test(flags.port) || port > 65535) throw new UsageError('--port wants a number from 0 to 65535.')
  const { login } = await import('./commands/login.ts')
  const authority = flags['certificate-authority']
  const credential = await login({
    issuer: flags['issuer-url'],
    client: flags['client-id'],
    secret: flags['client-secret'],
    authority: authority && readFileSync(authority, 'utf8'),
    scopes: ['openid', 'offline_access', ...flags.scope],
    port,
    cache: flags['cache-dir'] ?? join(homedir(), '.kube', 'cache', 'kedge-login'),
    open: flags['no-browser'] ? undefined : openBrowser,
    say: console.error,
    now: Date.now,
  })
  console.log(JSON.stringify(credential))
}

async function runStart(args: string[]): Promise<void> {
  const flags = checkedFlags(startSchema, parse(args, startFlags))
  // From here on a signal must end the started parts in order.
  let stop: (() => void) | undefined
  const signalled = new Promise<void>((resolve) => (stop = resolve))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop?.())
  process.on('disconnect', () => stop?.()) // the launcher has gone
  // the channel to the launcher would keep this process alive, even where nothing could be started
  try {
    const [options, server] = await started(flags)
    try {
      for (const warning of warningsOf(parseFeatureGates(options.passedOn?.KEDGE_FEATURE_GATES)))
        console.error(`kedge: ${warning}`)
      const nodes = options.simulatedNodes && (await simulatedNodes(server, options.simulatedNodes))
      console.log(welcome(server, flags.ephemeral, nodes))
      await Promise.race([signalled, server.ended])
    } finally {
      await server.stop()
    }
  } finally {
    if (process.connected) process.disconnect()
  }
}

/** @throws Error that names the flags that it is about */
async function started(flags: StartFlags): Promise<readonly [StartOptions, RunningServer]> {
  try {
    const options = await startOptions(flags)
    return [options, await start(options)]
  } catch (error) {
    throw namingFlags(error, flags, fileFlags)
  }
}

/**
 * A server without them serves on: what keeps them away may need it, as a restore that has to be repeated.
 * @returns the number of simulated nodes; undefined where they could not be made
 */
async function simulatedNodes({ kubeconfig }: RunningServer, wanted: SimulatedNodes): Promise<number | undefined> {
  try {
    return await createSimulatedCluster(serverOf(kubeconfig), wanted)
  } catch (error) {
    console.error(`kedge: no simulated nodes were made: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

/** @param nodes the number of simulated nodes; undefined where there is no simulation */
function welcome({ url, kubeconfig }: RunningServer, ephemeral: boolean, nodes: number | undefined): string {
  return `Kedge serves the Kubernetes API at ${url}

  export KUBECONFIG=${shellWord(kubeconfig)}

Try next:
${nodes ? '  kubectl create deployment web --image=nginx --replicas=3\n  kubectl get pods' : '  kubectl create configmap hello --from-literal=greeting=world\n  kubectl get configmaps'} --watch

${nodes === undefined ? '' : `${workloadsLine(nodes)}\n`}${ephemeral ? 'Everything is thrown away at the end. ' : `Data is kept in ${relative(process.cwd(), resolve(kubeconfig, '..')) || '.'}. `}Ctrl-C stops the server.`
}

const workloadsLine = (nodes: number): string =>
  nodes === 0
    ? 'Controllers and a scheduler run, and no node is simulated. --workloads off serves the API alone.'
    : `Pods run on ${nodes} simulated node${nodes === 1 ? '' : 's'}, without containers. --workloads off serves the API alone.`

function printFile(args: string[], command: string, file: (directory: string) => string): void {
  const flags = parse(args, { 'data-dir': { type: 'string', default: '.kedge' } })
  try {
    process.stdout.write(readFileSync(file(flags['data-dir']), 'utf8').trimEnd() + '\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new UsageError(
      `There is no ${command} in ${resolve(flags['data-dir'])} yet: "kedge start" makes one. Another directory is chosen with --data-dir.`,
    )
  }
}

/** The kubeconfig of a data directory whose server was started. */
function runningKubeconfig(directory = '.kedge'): string {
  const file = dataDirectory(directory).kubeconfig
  if (existsSync(file)) return file
  throw new UsageError(`There is no kubeconfig in ${resolve(directory)} yet: "kedge start" makes one.`)
}

function openBrowser(url: string): void {
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  // without a browser the printed address must do
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .once('error', () => {})
    .unref()
}

function versionText(): string {
  // The project's own file.
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    version: string
  }
  return `kedge ${version} (Kubernetes v1.36.3)`
}
