// The flags of `kedge start`: their allowed values, and the options that they make.
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { identityFlags, identityOptions, identitySchema, readText } from './identity.ts'
import { certificateFlags, certificateOptions, certificateSchema } from './certificates.ts'
import { fileFlagsIn, fileName } from './named-flags.ts'
import { passedOnFlags, passedOnSchema, passedOnSettings } from './passed-on.ts'
import { serviceAccountFlags, serviceAccountSchema, serviceAccountSettings } from './service-account.ts'
import { workerConfig } from '../start/engine-settings.ts'
import type { AuditOptions, StartOptions } from '../start/options.ts'

export const startFlags = {
  port: { type: 'string', default: '6443' },
  host: { type: 'string', default: '127.0.0.1' },
  'data-dir': { type: 'string' },
  ephemeral: { type: 'boolean', default: false },
  san: { type: 'string', multiple: true },
  'audit-policy-file': { type: 'string' },
  'audit-log-path': { type: 'string' },
  'audit-log-maxsize': { type: 'string', default: '100' },
  'audit-log-maxbackup': { type: 'string', default: '0' },
  'audit-log-mode': { type: 'string' },
  'audit-webhook-config-file': { type: 'string' },
  'audit-webhook-mode': { type: 'string' },
  'encryption-keys': { type: 'string' },
  'enable-admission-plugins': { type: 'string', multiple: true },
  'disable-admission-plugins': { type: 'string', multiple: true },
  'admission-control-config-file': { type: 'string' },
  'kubelet-certificate-authority': { type: 'string' },
  'disable-http2-serving': { type: 'boolean', default: false },
  'http2-max-streams-per-connection': { type: 'string', default: '0' },
  workloads: { type: 'string' },
  'scheduler-config': { type: 'string' },
  nodes: { type: 'string' },
  ...passedOnFlags,
  ...certificateFlags,
  ...identityFlags,
  ...serviceAccountFlags,
} as const

/** Flags that mean nothing without a policy. */
const auditFlags = ['audit-log-path', 'audit-log-mode', 'audit-webhook-config-file', 'audit-webhook-mode'] as const

const DEFAULT_NODES = 2
/** Each simulated node has its range of addresses, and there are this many ranges. */
const MOST_NODES = 256

/** Each stream may hold memory of the front. */
const MOST_STREAMS_EVER = 1_000

const text = z.optional(z.string())
/** A flag that may be repeated; each value is a list with commas. */
const lists = z.pipe(
  z.optional(z.array(z.string())),
  z.transform((all) => all?.join(',')),
)

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  const isOne = (digits: string): boolean =>
    /^\d{1,16}$/.test(digits) && Number(digits) >= least && Number(digits) <= most
  return z.pipe(
    z.string().check(z.refine(isOne, { error: ({ input }) => `wants a number ${range}, not "${String(input)}".` })),
    z.transform(Number),
  )
}

const DNS_NAME = /^(?:[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?\.)*[a-z](?:[-a-z\d]{0,61}[a-z\d])?$/i
/** Without a zone, which neither a URL nor a certificate can have. */
const isAddress = (name: string): boolean => isIP(name) !== 0 && !name.includes('%')
const isHost = (name: string): boolean => isAddress(name) || DNS_NAME.test(name)

const host = z
  .string()
  .check(z.refine(isHost, { error: ({ input }) => `wants an address or a DNS name, not "${String(input)}".` }))

/** Names for a certificate; a DNS name may begin with `*.`. */
const certificateNames = z
  .pipe(
    z.optional(z.array(z.string())),
    z.transform((all) => (all ?? []).flatMap((list) => list.split(',')).filter((name) => name !== '')),
  )
  .check(
    z.refine((names) => names.every((name) => isHost(name.replace(/^\*\./, ''))), {
      error: ({ input }) => `wants addresses or DNS names, not "${String(input)}".`,
    }),
  )

/** Each error follows the name of its flag. */
export const startSchema = z
  .object({
    port: wholeNumber(0, 65535),
    host,
    'data-dir': text,
    ephemeral: z.boolean(),
    san: certificateNames,
    'audit-policy-file': fileName,
    'audit-log-path': text,
    'audit-log-maxsize': wholeNumber(1),
    'audit-log-maxbackup': wholeNumber(0),
    'audit-log-mode': text,
    'audit-webhook-config-file': fileName,
    'audit-webhook-mode': text,
    'encryption-keys': fileName,
    'enable-admission-plugins': lists,
    'disable-admission-plugins': lists,
    'admission-control-config-file': fileName,
    'kubelet-certificate-authority': fileName,
    'disable-http2-serving': z.boolean(),
    'http2-max-streams-per-connection': wholeNumber(0, MOST_STREAMS_EVER),
    workloads: text,
    'scheduler-config': fileName,
    nodes: z.optional(wholeNumber(0, MOST_NODES)),
    ...passedOnSchema,
    ...certificateSchema,
    ...identitySchema,
    ...serviceAccountSchema,
  })
  .check(
    z.refine((flags) => (flags['tls-cert-file'] === undefined) === (flags['tls-private-key-file'] === undefined), {
      path: ['tls-cert-file'],
      error: 'and --tls-private-key-file need each other.',
    }),
    z.refine((flags) => !flags.ephemeral || flags['data-dir'] === undefined, {
      path: ['ephemeral'],
      error: 'and --data-dir exclude each other.',
    }),
    z.refine(
      (flags) => flags['audit-policy-file'] !== undefined || auditFlags.every((name) => flags[name] === undefined),
      { path: ['audit-policy-file'], error: 'is missing: nothing is audited without it.' },
    ),
    z.refine((flags) => flags.nodes === undefined || (flags.workloads ?? 'simulated') === 'simulated', {
      path: ['nodes'],
      error: 'is for --workloads simulated.',
    }),
    z.refine((flags) => flags['missing-images'] === undefined || (flags.workloads ?? 'simulated') === 'simulated', {
      path: ['missing-images'],
      error: 'is for --workloads simulated.',
    }),
    z.refine((flags) => flags['scheduler-config'] === undefined || (flags.workloads ?? 'simulated') === 'simulated', {
      path: ['scheduler-config'],
      error: 'is for --workloads simulated.',
    }),
  )

export const fileFlags = fileFlagsIn(startSchema.shape)

export type StartFlags = z.output<typeof startSchema>

export async function startOptions(flags: StartFlags): Promise<StartOptions> {
  return {
    port: flags.port,
    host: flags.host,
    dataDir: flags['data-dir'] ?? '.kedge',
    ephemeral: flags.ephemeral,
    names: flags.san,
    passedOn: passedOnSettings(flags),
    audit: await auditOptions(flags),
    encryptionKeys: fileOf(flags['encryption-keys'])?.trim(),
    admission: await admissionSettings(flags),
    ...certificateOptions(flags),
    ...http2Options(flags),
    kubeletAuthority: fileOf(flags['kubelet-certificate-authority']),
    ...workloadOptions(flags),
    schedulerConfig: await schedulerConfig(flags['scheduler-config']),
    identity: identityOptions(flags),
    serviceAccounts: serviceAccountSettings(flags),
  }
}

/** As with kube-apiserver, 0 streams are the default. */
function http2Options(flags: StartFlags): Pick<StartOptions, 'http2Streams'> {
  if (flags['disable-http2-serving']) return { http2Streams: 0 }
  return { http2Streams: flags['http2-max-streams-per-connection'] || undefined }
}

/** Simulation is on unless a flag or wrangler.toml says otherwise. */
function workloadOptions(flags: StartFlags): Pick<StartOptions, 'workloads' | 'simulatedNodes'> {
  const isAsked = flags.workloads !== undefined || flags.nodes !== undefined
  const workloads = flags.workloads ?? (flags.nodes === undefined ? workerConfig().vars['KEDGE_WORKLOADS'] : undefined)
  if ((workloads ?? 'simulated') !== 'simulated') return { workloads }
  return { workloads: 'simulated', simulatedNodes: { count: flags.nodes ?? DEFAULT_NODES, isAsked } }
}

const schedulerConfig = async (file: string | undefined): Promise<string | undefined> =>
  file === undefined ? undefined : JSON.stringify((await import('./yaml-file.ts')).readYaml(file) ?? null)

const fileOf = (path: string | undefined): string | undefined => path && readText(path)

async function admissionSettings(flags: StartFlags): Promise<Record<string, string>> {
  const enable = flags['enable-admission-plugins']
  const disable = flags['disable-admission-plugins']
  const file = flags['admission-control-config-file']
  return {
    ...(enable === undefined ? {} : { KEDGE_ENABLE_ADMISSION_PLUGINS: enable }),
    ...(disable === undefined ? {} : { KEDGE_DISABLE_ADMISSION_PLUGINS: disable }),
    ...(file === undefined
      ? {}
      : { KEDGE_ADMISSION_CONFIG: (await import('./admission.ts')).readAdmissionConfig(file) }),
  }
}

async function auditOptions(flags: StartFlags): Promise<AuditOptions | undefined> {
  const policyFile = flags['audit-policy-file']
  if (policyFile === undefined) return undefined
  const { readPolicy, readWebhook } = await import('./audit.ts')
  const [mode, webhookFile, path] = [
    flags['audit-log-mode'],
    flags['audit-webhook-config-file'],
    flags['audit-log-path'],
  ]
  return {
    settings: {
      KEDGE_AUDIT_POLICY: readPolicy(policyFile),
      ...(mode === undefined ? {} : { KEDGE_AUDIT_LOG_MODE: mode }),
      ...(webhookFile === undefined
        ? {}
        : { KEDGE_AUDIT_WEBHOOK: readWebhook(webhookFile, flags['audit-webhook-mode'] ?? 'batch') }),
    },
    log:
      path === undefined
        ? undefined
        : {
            path: path === '-' ? path : resolve(path),
            maxBytes: flags['audit-log-maxsize'] * 1_000_000,
            maxBackups: flags['audit-log-maxbackup'],
          },
  }
}
