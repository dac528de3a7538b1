// The administrator's kubeconfig. It is written as JSON, which is YAML too; kubectl makes YAML of it when it changes it.
import { chmodSync, readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import * as z from 'zod/mini'
import { checkedOrNot } from '../checked.ts'
import type { Pki } from './pki.ts'
import { replaceFile } from './replace-file.ts'

export const CLUSTER = 'kedge'
export const ADMINISTRATOR = 'kubernetes-admin'

export interface Endpoint {
  /** https://host:port */
  readonly server: string
  readonly pki: Pki
}

function configOf({ server, pki }: Endpoint) {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: CLUSTER, cluster: { server, 'certificate-authority-data': base64(pki.authorities) } }],
    // the token rather than the certificate, because it costs the server less with each request
    users: [{ name: ADMINISTRATOR, user: { token: pki.administratorToken } }],
    contexts: [{ name: 'kedge', context: { cluster: CLUSTER, user: ADMINISTRATOR } }],
    'current-context': 'kedge',
  }
}

const textOf = (config: object): string => `${JSON.stringify(config, undefined, 2)}\n`

export const kubeconfig = (endpoint: Endpoint): string => textOf(configOf(endpoint))

/**
 * Does not change a file that already leads to this server. In another it replaces what leads to this server: its
 * owner may have chosen a namespace in it, or added contexts.
 */
export function writeKubeconfig(file: string, endpoint: Endpoint): void {
  const own = configOf(endpoint)
  const values = /"(?:server|token|[a-z-]+-data)":"([^"]+)"/g
  const needed = [...JSON.stringify(own).matchAll(values)].map(([, value = '']) => value)
  if (!leadsHere(file, needed)) replaceFile(file, textOf(merged(own, file)))
  else chmodSync(file, 0o600)
}

const named = z.looseObject({ name: z.string() })
const keptFile = z.looseObject({
  clusters: z.array(named),
  users: z.array(named),
  contexts: z.array(z.looseObject({ name: z.string(), context: z.looseObject({}) })),
})

/** `own` alone where the file is missing or no kubeconfig. */
function merged(own: ReturnType<typeof configOf>, file: string): object {
  const kept = keptIn(file)
  if (kept === undefined) return own
  const [context] = own.contexts
  const others = <Named extends { name: string }>(ours: { name: string }[], theirs: readonly Named[]): Named[] =>
    theirs.filter(({ name }) => ours.every((one) => one.name !== name))
  const before = kept.contexts.find(({ name }) => name === context?.name)?.context
  return {
    ...own,
    ...kept,
    clusters: [...own.clusters, ...others(own.clusters, kept.clusters)],
    users: [...own.users, ...others(own.users, kept.users)],
    contexts: [{ ...context, context: { ...before, ...context?.context } }, ...others(own.contexts, kept.contexts)],
  }
}

function keptIn(file: string): z.infer<typeof keptFile> | undefined {
  try {
    return checkedOrNot(keptFile, load(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

function leadsHere(file: string, needed: readonly string[]): boolean {
  try {
    const words = new Set(readFileSync(file, 'utf8').split(/[\s"',]+/))
    return needed.every((value) => words.has(value))
  } catch {
    return false
  }
}
