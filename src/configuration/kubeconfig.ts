/**
 * A kubeconfig whose files stand in it: the server that is called, and as whom. A webhook's user is found by the name of
 * the server (apiserver's pkg/util/webhook/authentication.go).
 */
import * as z from 'zod/mini'
import { readFields } from './versioned.ts'

export interface Credentials {
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined
  /** PEM. */
  readonly certificate?: string | undefined
  /** PEM. There is one where the certificate is. */
  readonly key?: string | undefined
}

export interface Kubeconfig {
  readonly users: ReadonlyMap<string, Credentials>
  /** Of the current context, which need not be. */
  readonly current: { readonly user: string; readonly cluster: Cluster | undefined } | undefined
}

export interface Cluster {
  readonly server: string
  /** PEM. */
  readonly authority?: string | undefined
  readonly serverName?: string | undefined
}

const text = z.optional(z.string())
const pem = z.optional(
  z.pipe(
    z.string(),
    z.transform((data: string, context) => {
      try {
        const decoded = atob(data)
        if (decoded.includes('-----BEGIN ')) return decoded
      } catch {
        // told below
      }
      context.issues.push({ code: 'custom', message: 'must be base64 of PEM', input: undefined })
      return z.NEVER
    }),
  ),
)

const user = z.strictObject({
  token: text,
  username: text,
  password: text,
  'client-certificate-data': pem,
  'client-key-data': pem,
})

const cluster = z.strictObject({
  server: z.string(),
  'certificate-authority-data': pem,
  'tls-server-name': text,
})

const named = <Field extends string, T>(field: Field, schema: z.ZodMiniType<T>) =>
  z.optional(
    z.nullable(
      z.array(
        z.object({ name: z.string(), [field]: schema } as { name: z.ZodMiniString } & Record<Field, z.ZodMiniType<T>>),
      ),
    ),
  )

const kubeconfig = z.object({
  'current-context': text,
  clusters: named('cluster', cluster),
  users: named('user', z.nullable(user)),
  contexts: named('context', z.object({ cluster: z.string(), user: text })),
})

/** @throws Error */
export function readKubeconfig(raw: unknown): Kubeconfig {
  const { 'current-context': name, clusters, users, contexts } = readFields(kubeconfig, raw)
  const context = contexts?.find((one) => one.name === name)?.context
  const found = clusters?.find((one) => one.name === context?.cluster)?.cluster
  return {
    users: new Map((users ?? []).map((one) => [one.name, credentialsOf(one.name, one.user ?? {})])),
    current: context && {
      user: context.user ?? '',
      cluster: found && {
        server: found.server,
        authority: found['certificate-authority-data'],
        serverName: found['tls-server-name'],
      },
    },
  }
}

function credentialsOf(name: string, all: z.infer<typeof user>): Credentials {
  const { token, username, password, 'client-certificate-data': certificate, 'client-key-data': key } = all
  if ((certificate === undefined) !== (key === undefined))
    throw new Error(`the user ${name} needs client-certificate-data and client-key-data together`)
  const basic = username === undefined ? undefined : `Basic ${btoa(`${username}:${password ?? ''}`)}`
  return { authorization: token ? `Bearer ${token}` : basic, certificate, key }
}

const HTTPS = ':443'

/** @param target HOST:PORT @returns undefined: nobody is said to call it */
export function credentialsFor({ users, current }: Kubeconfig, target: string): Credentials | undefined {
  for (const name of namesFor(target)) {
    const found = users.get(name)
    if (found !== undefined) return found
  }
  return current === undefined ? undefined : users.get(current.user)
}

/** The nearest name first. */
function namesFor(target: string): string[] {
  const withStars = (host: string): string[] => {
    const steps = host.split('.')
    return [host, ...steps.slice(1).map((_, index) => `*.${steps.slice(index + 1).join('.')}`)]
  }
  return [...withStars(target), ...(target.endsWith(HTTPS) ? withStars(target.slice(0, -HTTPS.length)) : []), '*']
}
