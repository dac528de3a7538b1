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
import { rewrite } from './commands/encryption.ts'
import { DirectoryInUse, dataDirectory } from './data-directory/data-directory.ts'
import { secondsOf } from './flags/identity.ts'
import { runKeys } from './commands/keys.ts'
import { namingFlags } from './flags/named-flags.ts'
import { outliveReaders } from './output.ts'
import { shellWord } from './shell-word.ts'
import { CannotStart, start } from './commands/start.ts'
import type { RunningServer, StartOptions } from './commands/start.ts'
import { createSimulatedCluster } from './commands/simulated-cluster.ts'
import type { SimulatedNodes } from './commands/simulated-cluster.ts'
import type { StartFlags } from './flags/start.ts'
import { fileFlags, startFlags, startOptions, startSchema } from './flags/start.ts'
import { runTokenCreate } from './commands/token.ts'
import { UsageError, parse } from './flags/usage.ts'

const HELP = `Kedge: the Kubernetes API, serverless.

Usage: kedge COMMAND [FLAGS]

Commands
  start        Start the API server on this machine and keep it running until Ctrl-C.
  kubeconfig   Print the administrator's kubeconfig of a data directory.
  backup       Write all of the control plane of a running server to a file, as of one moment.
  restore      Put a backup into a running server that holds nothing yet; versions are kept.
  encryption   rewrite: store all that is encrypted anew, with the first key of a running server.
  token        Print the administrator's bearer token of a data directory. create: a token with which machines join.
  login        Log in at an OpenID Connect provider by the browser, for kubectl: prints an ExecCredential.
  keys         rotate: sign ServiceAccounts' tokens with a new key from the next start on; with --ca, replace the CA.
  version      Print Kedge's version and the Kubernetes version it serves.
  help         Print this page (also --help).

Flags of start
  --port PORT      Port for HTTPS. 0 takes any free one and prints it. Default 6443.
  --host ADDRESS   Address to listen on; 0.0.0.0 for all of this machine's. Default 127.0.0.1.
  --data-dir DIR   Where keys, kubeconfig and all objects are kept. Default .kedge in the current directory.
  --ephemeral      Keep everything in a temporary directory and remove it at the end.
  --san NAME       A further DNS name or IP address for the server's certificate, beside localhost, 127.0.0.1 and ::1.
                   May be given more than once, or a list with commas.
  --runtime-config LIST
                   Which API versions and resources are served: api/all=true, group/version=false,
                   group/version/resource=true … as with kube-apiserver.
  --feature-gates LIST
                   Name=true|false …, as with kube-apiserver; AllAlpha and AllBeta for all of a stage.
  --service-cluster-ip-range LIST
                   The addresses of Services, as with kube-apiserver: one range, or one of IPv4 and one of IPv6.
                   Simulated pods have addresses of the same families. Default 10.96.0.0/16.
  --history LIST   How many seconds old versions of objects stay readable, for watches that go on, lists of the past and
                   continue tokens. Default 300; for single tenants TENANT=SECONDS: 300,acme=172800. At most 31 days.
  --workloads off|controllers|simulated
                   What makes objects move (docs/workloads.md): nothing, as envtest; the controllers of Deployments, Jobs
                   and others; or (default) these, a scheduler and simulated nodes.
  --controllers LIST
                   Which of them, as with kube-controller-manager: *,-cronjob-controller is all but one. Default *.
                   *,-garbage-collector-controller leaves objects of deleted owners alone, also with --workloads off.
  --scheduler-config FILE
                   A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as with kube-scheduler's --config: the
                   scheduler's profiles, with their plugins and args (docs/workloads.md).
  --nodes N        Simulated nodes that are made when they are not there. Without this flag and --workloads: 2, in a
                   control plane that has no node yet.
  --missing-images LIST
                   Images that simulated nodes cannot pull, whole or a beginning and a star: broken,example.com/*.
  -v, --v N        How much is logged, 0 to 10. From 3 on, a line of JSON for each request.
  --audit-policy-file FILE
                   Which requests are audited: an audit.k8s.io/v1 Policy, in YAML or JSON. Events go to the files
                   and webhooks that the next flags say, or to the standard output (docs/audit.md).
  --audit-log-path FILE
                   The file for audit events; - is the standard output.
  --audit-log-maxsize N, --audit-log-maxbackup N
                   After how many megabytes a new file is begun (default 100), and how many old ones are kept
                   (default 0: all).
  --audit-log-mode MODE
                   batch (default): requests don't wait for their events. blocking: they do. blocking-strict: and are
                   refused where the first event cannot be written.
  --audit-webhook-config-file FILE
                   A kubeconfig whose server gets the events, with its token.
  --audit-webhook-mode MODE
                   As --audit-log-mode.
  --enable-admission-plugins LIST, --disable-admission-plugins LIST
                   Admission plugins beside the default ones, and default ones that are not to run, as with
                   kube-apiserver (docs/admission.md).
  --admission-control-config-file FILE
                   An AdmissionConfiguration (apiserver.config.k8s.io/v1) with the configurations of plugins.
  --services LIST
                   Where Services are, for webhooks and aggregated APIs: NAMESPACE/NAME:PORT=https://HOST:PORT … The
                   certificate is still that of NAME.NAMESPACE.svc. May be given more than once.
  --kubelet-certificate-authority FILE
                   Who signs kubelets' serving certificates, in PEM. Without it they are not looked at.
  --encryption-keys FILE
                   Encrypts Secrets at rest: ID:BASE64 of 32 bytes; more keys behind commas open what they sealed before.
  --encryption-resources LIST
                   What is encrypted instead: secrets,configmaps,things.example.com.
  --service-account-issuer URL
                   The issuer of ServiceAccounts' tokens, and the audience that stands for this server. May be given more
                   than once: the first one's tokens are made, those of all are taken.
  --service-account-max-token-expiration DURATION, --service-account-extend-token-expiration BOOL
                   How long such tokens may live, and whether those of kubelets live longer, as with kube-apiserver.
  --service-account-signing-endpoint FILE
                   A kubeconfig of the server that signs these tokens instead (docs/access.md).
  --authentication-config FILE
                   Whose JSON Web Tokens are believed, and where nobody need say who it is: an
                   AuthenticationConfiguration, in YAML or JSON. Read anew when the file changes (docs/access.md).
  --oidc-issuer-url URL, --oidc-client-id ID, --oidc-ca-file FILE, --oidc-username-claim CLAIM,
  --oidc-username-prefix PREFIX, --oidc-groups-claim CLAIM, --oidc-groups-prefix PREFIX, --oidc-signing-algs LIST,
  --oidc-required-claim KEY=VALUE
                   The same for one issuer, as with kube-apiserver.
  --token-auth-file FILE
                   Static tokens: rows of TOKEN,USER,UID,"GROUP,GROUP".
  --authentication-token-webhook-config-file FILE
                   A kubeconfig of a server that is asked about tokens (TokenReview); the current context counts.
  --authentication-token-webhook-version v1|v1beta1, --authentication-token-webhook-cache-ttl DURATION
                   Which TokenReview (default v1beta1), and for how long a yes is taken (default 2m0s).
  --authorization-config FILE
                   Who decides, in which order: an AuthorizationConfiguration. Read anew when the file changes.
  --authorization-mode LIST
                   The same by names: Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny. Default Node,RBAC.
  --authorization-webhook-config-file FILE, --authorization-webhook-version v1|v1beta1,
  --authorization-webhook-cache-authorized-ttl DURATION, --authorization-webhook-cache-unauthorized-ttl DURATION
                   Of the mode Webhook, as with kube-apiserver.
  --anonymous-auth BOOL
                   false refuses requests without credentials. Default true.

Flags of encryption rewrite
  --resources LIST Which resources. Default secrets.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.

Flags of backup
  -o FILE          Where the backup goes; written only when it is whole. A pipe or a device gets it as it comes.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.

Flags of restore: kedge restore FILE, into an empty control plane. Until all of it is there, other requests are
answered with 503; a restore that failed is repeated with the same command.
  --abandon        Instead of FILE: give up a restore that failed. The control plane is empty then.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.

Flags of kubeconfig, token and keys rotate
  --data-dir DIR   The data directory. Default .kedge in the current directory.

Flags of token create: makes a bootstrap token and publishes what "kubeadm join" reads (docs/nodes.md)
  --ttl DURATION   How long it can be used: 24h (default), 30m …; 0 for ever.
  --print-join-command
                   Prints the command with which a machine joins, instead of the token.
  --control-plane-endpoint HOST:PORT
                   Where machines reach the server. Default: the address in the kubeconfig.
  --description TEXT

Flags of keys rotate
  --ca begin|switch|finish
                   Replaces the CA, with a start after each step: the new one is trusted beside the old one, then it
                   signs, then the old one is trusted no more (docs/access.md).
  --front-proxy-ca begin|switch|finish
                   The same with the CA of front proxies.
  --force          Also where no server has started since the last step. Clients that trust the old CA alone are locked
                   out then.

Flags of kubeconfig for somebody else than the administrator
  --user NAME      Prints a kubeconfig of this user, with a client certificate that ends soon.
  --group NAME     A group of the user. May be given more than once.
  --for DURATION   For how long: 8h (default), 30m, 72h …

Flags of login
  --issuer-url URL, --client-id ID, --client-secret SECRET
                   The provider, and what it knows kubectl as.
  --certificate-authority FILE
                   Authorities of the provider's certificate, in PEM. Default: those that Node trusts.
  --scope SCOPE    A scope besides openid and offline_access. May be given more than once.
  --port PORT      Of the redirect URL http://localhost:PORT. Default 8000; 0 takes any.
  --cache-dir DIR  Where refresh tokens are kept, for their owner alone. Default ~/.kube/cache/kedge-login.
  --no-browser     Print the address instead of opening it.

With npm: npm start -- --port 16443
`

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
  help: () => console.log(HELP),
}

export async function main(args: readonly string[]): Promise<void> {
  const [command = 'help', ...rest] = args
  outliveReaders()
  try {
    if (args.includes('--help') || args.includes('-h')) return void console.log(HELP)
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
      for (const warning of warningsOf(parseFeatureGates(options.featureGates))) console.error(`kedge: ${warning}`)
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
