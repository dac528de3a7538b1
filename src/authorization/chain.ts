/**
 * The authorizers of the configuration in their order; the first that allows or denies decides. Without a
 * configuration they are Node and RBAC.
 */
import { platformClock } from '../base/clock.ts'
import { BadConfiguration } from '../authentication/configuration-text.ts'
import type { CompileExpression } from '../authentication/expression.ts'
import { expressionCompiler } from '../authentication/expression.ts'
import { Reloaded } from '../authentication/reloaded.ts'
import type { Env } from '../env.ts'
import { ownValue } from '../base/own.ts'
import { settingsOf } from '../settings.ts'
import { KUBECONFIG_PATH } from '../webhooks/configuration-server.ts'
import type { WebhookConnection } from '../webhooks/webhook-connection.ts'
import { webhookConnection } from '../webhooks/webhook-connection.ts'
import type { AuthorizerConfiguration } from './authorization-configuration.ts'
import { readAuthorizationConfiguration } from './authorization-configuration.ts'
import { WebhookAuthorizer } from './webhook-authorizer.ts'

export type Authorizer = 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' | WebhookAuthorizer

export interface Chain {
  readonly authorizers: readonly Authorizer[]
  /** The types of authorizers other than webhooks. A later configuration must have them too. */
  readonly types: ReadonlySet<string>
  /** Names of those authorizers in the configuration, by type. */
  readonly names: ReadonlyMap<string, string>
}

/** Milliseconds for an answer of the front, which reads a file. */
const TIMEOUT = 2_000

/** @throws BadConfiguration */
export async function chainOf(
  env: Env,
  text: string,
  compile: CompileExpression,
  before: Chain | undefined,
): Promise<Chain> {
  const { authorizers, conditions } = await readAuthorizationConfiguration(text, compile)
  const types = new Set(authorizers.flatMap(({ type }) => (type === 'Webhook' ? [] : [type])))
  const names = new Map(authorizers.map(({ type, name }) => [type, name]))
  const missing = [...(before?.types ?? [])].filter((type) => !types.has(type)).sort()
  if (missing.length > 0) throw new BadConfiguration(`missing required types: [${missing.join(' ')}]`)
  const made = authorizers.map(async (one, index): Promise<Authorizer> => {
    switch (one.type) {
      case 'Node':
      case 'RBAC':
        if (before !== undefined && !before.types.has(one.type)) throw notAtFirst(one.type)
        return one.type
      case 'AlwaysAllow':
      case 'AlwaysDeny':
        return one.type
      case 'Webhook': {
        const connection = await connectionOf(env, one.webhook!) // validated to be there
        return new WebhookAuthorizer(one.name, one.webhook!, connection, conditions.get(index) ?? [], platformClock)
      }
      default:
        throw notAtFirst(one.type)
    }
  })
  return { authorizers: await Promise.all(made), types, names }
}

const notAtFirst = (type: string): BadConfiguration =>
  new BadConfiguration(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`)

async function connectionOf(
  env: Env,
  { connectionInfo }: NonNullable<AuthorizerConfiguration['webhook']>,
): Promise<WebhookConnection> {
  const { kubeConfigFile: file } = connectionInfo
  if (file === undefined || file === null)
    throw new BadConfiguration('unable to load in-cluster configuration: this server runs in no cluster')
  const given = ownValue(settingsOf(env).webhookConnections, file) ?? (await connectionInFile(env, file))
  const result = webhookConnection.safeParse(given)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => [...path, message].join(': '))
  throw new BadConfiguration(`${file}: ${problems.join(', ')}`)
}

async function connectionInFile({ CONFIGURATION: files }: Env, file: string): Promise<unknown> {
  if (files === undefined) throw new BadConfiguration(`KEDGE_WEBHOOK_CONNECTIONS has no ${file}`)
  const answer = await files.fetch(`http://configuration${KUBECONFIG_PATH}${encodeURIComponent(file)}`, {
    signal: AbortSignal.timeout(TIMEOUT),
  })
  if (!answer.ok) throw new BadConfiguration(await answer.text())
  return answer.json()
}

const reloaded = new WeakMap<Env, Reloaded<Chain>>()

/** Undefined where there is no configuration. */
export function chainReloads(env: Env): Reloaded<Chain> | undefined {
  const { authorizationConfig: text } = settingsOf(env)
  if (text === undefined) return undefined
  let chain = reloaded.get(env)
  if (chain === undefined)
    reloaded.set(
      env,
      (chain = new Reloaded('authorization', text, async (configuration, before) =>
        chainOf(env, configuration, await expressionCompiler(), before),
      )),
    )
  return chain
}

/**
 * The present authorizers; undefined where there is no configuration.
 * @throws BadConfiguration
 */
export async function currentChain(env: Env, waitUntil: (work: Promise<unknown>) => void): Promise<Chain | undefined> {
  return chainReloads(env)?.current({ env, now: new Date(platformClock()), waitUntil })
}
