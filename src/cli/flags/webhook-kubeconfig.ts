// The server in a kubeconfig for webhooks of authentication and authorization: its address, its CA, and this server's
// credentials.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { load } from 'js-yaml'
import * as z from 'zod/mini'
import type { WebhookConnection } from '../../webhooks/webhook-connection.ts'
import { checked } from '../checked.ts'

const text = z.optional(z.string())

/** Other fields are refused, because they cannot be honoured. */
const ofField = {
  error: (issue: { readonly code: string; readonly keys?: readonly string[] }) =>
    issue.code === 'unrecognized_keys' ? `${issue.keys?.join(', ')} cannot be used here` : undefined,
}

const kubeconfig = z.object({
  'current-context': z.string(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: text }) })),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.strictObject(
        {
          server: z.string(),
          'certificate-authority': text,
          'certificate-authority-data': text,
          'tls-server-name': text,
        },
        ofField,
      ),
    }),
  ),
  users: z._default(
    z.array(
      z.object({
        name: z.string(),
        user: z.optional(
          z.nullable(
            z.strictObject(
              {
                token: text,
                tokenFile: text,
                username: text,
                password: text,
                'client-certificate': text,
                'client-certificate-data': text,
                'client-key': text,
                'client-key-data': text,
              },
              ofField,
            ),
          ),
        ),
      }),
    ),
    [],
  ),
})

/**
 * @param file the path of the text; paths in it are relative to its directory
 * @throws Error about the file
 */
export function connectionOfKubeconfig(yaml: string, file: string): WebhookConnection {
  const config = checked(
    kubeconfig,
    named(file, () => load(yaml)),
    file,
  )
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster
  if (context === undefined || cluster === undefined) throw new Error(`${file}: the current context names no cluster`)
  const user = config.users.find(({ name }) => name === context.user)?.user ?? {}
  const read = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : named(file, () => readFileSync(resolve(dirname(file), path), 'utf8'))
  const data = (base64: string | undefined): string | undefined =>
    base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8')
  return {
    url: cluster.server,
    certificateAuthority: data(cluster['certificate-authority-data']) ?? read(cluster['certificate-authority']),
    tlsServerName: cluster['tls-server-name'],
    token: read(user.tokenFile)?.trim() ?? user.token,
    username: user.username,
    password: user.password,
    clientCertificate: data(user['client-certificate-data']) ?? read(user['client-certificate']),
    clientKey: data(user['client-key-data']) ?? read(user['client-key']),
  }
}

/** @throws Error with the file's name */
function named<Read>(file: string, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
