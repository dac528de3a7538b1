// Makes settings of the Worker from the flags of auditing and their files.
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import * as z from 'zod/mini'
import { problemsOf } from '../checked.ts'
import { CannotStart } from '../start/options.ts'

/** An audit.k8s.io/v1 Policy, in JSON. */
export const readPolicy = (file: string): string => JSON.stringify(readYaml(file))

const kubeconfig = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.optional(z.string()) }) }),
  ),
  clusters: z.array(z.object({ name: z.string(), cluster: z.strictObject({ server: z.string() }) })),
  users: z.optional(
    z.array(z.object({ name: z.string(), user: z.optional(z.strictObject({ token: z.optional(z.string()) })) })),
  ),
})

/**
 * The webhook of a kubeconfig: its server and token. Certificates are refused: the engine, which calls the webhook,
 * trusts public authorities only and has no certificate of its own.
 */
export function readWebhook(file: string, mode: string): string {
  const result = kubeconfig.safeParse(readYaml(file))
  if (!result.success)
    throw new CannotStart(`${file}: only the server and a token can be used: ${problemsOf(result.error)}`)
  const config = result.data
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster
  if (context === undefined || cluster === undefined)
    throw new CannotStart(`${file}: the current context names no cluster`)
  const token = config.users?.find(({ name }) => name === context.user)?.user?.token
  return JSON.stringify({ url: cluster.server, mode, ...(token === undefined ? {} : { token }) })
}

function readYaml(file: string): unknown {
  try {
    return load(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CannotStart(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
