/** Fills Secrets of type kubernetes.io/service-account-token with a token that is valid while the Secret exists. */
import { settingsOf } from '../../settings.ts'
import type { Secret } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { issueSecretToken } from '../../authentication/service-account.ts'
import { managerClients } from '../client/clientset.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { deleteIfThere } from '../work/unless-gone.ts'

export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

/**
 * Milliseconds for which a Secret may be there without its account. A client may create both at the same time, and
 * kube-controller-manager hears of the Secret a moment later, from a watch.
 */
const EARLY = 2_000

type StoredSecret = Secret & KubeObject

/** Key: NAMESPACE/NAME of the Secret. */
export const serviceAccountSecret: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [namespace = '', name = ''] = key.split('/')
    const secrets = secretsOf(context, namespace)
    const secret = (await secrets.get(name)) as StoredSecret | undefined
    if (secret?.type !== TOKEN_SECRET_TYPE || secret.metadata.deletionTimestamp !== undefined) return undefined
    const account = await accountOf(context, secret)
    if (account === undefined) {
      const wait = waitFor(context, secret)
      if (wait === undefined) await remove(secrets, secret)
      return wait
    }
    const data = await filled(context, secret, account)
    if (data === undefined) return undefined
    await secrets.updateWithRetries(secret, (object) => {
      const changed = object as StoredSecret
      changed.metadata.annotations = { ...changed.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid ?? '' }
      changed.data = { ...changed.data, ...data }
    })
    return undefined
  },
}

/** Deletes the token Secrets of a deleted account. Key: NAMESPACE/NAME of the account. */
export const deletedServiceAccount: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const [namespace = '', name = ''] = key.split('/')
    const secrets = secretsOf(context, namespace)
    for await (const object of secrets.each()) {
      const secret = object as StoredSecret
      if (secret.type !== TOKEN_SECRET_TYPE || secret.metadata.annotations?.[ACCOUNT_NAME] !== name) continue
      // one without a uid was never filled, so its own work is still to come
      const isToBeFilled = !secret.metadata.annotations[ACCOUNT_UID] && waitFor(context, secret) !== undefined
      if (!isToBeFilled && (await accountOf(context, secret)) === undefined) await remove(secrets, secret)
    }
    return undefined
  },
}

const secretsOf = (context: ControllerContext, namespace: string): ResourceClient =>
  managerClients(context).resource({ group: '', resource: 'secrets' }, namespace)

async function accountOf(context: ControllerContext, { metadata }: StoredSecret): Promise<KubeObject | undefined> {
  const { namespace = '', annotations = {} } = metadata
  const accounts = managerClients(context).resource({ group: '', resource: 'serviceaccounts' }, namespace)
  const account = await accounts.get(annotations[ACCOUNT_NAME] ?? '')
  const uid = annotations[ACCOUNT_UID] ?? ''
  return uid === '' || uid === account?.metadata.uid ? account : undefined
}

/** Milliseconds until the Secret's account must be there; undefined where that time is over. */
function waitFor(
  { now }: ControllerContext,
  { metadata: { creationTimestamp = '' } }: StoredSecret,
): number | undefined {
  const age = now().getTime() - Date.parse(creationTimestamp)
  return age >= 0 && age < EARLY ? EARLY - age : undefined
}

async function remove(secrets: ResourceClient, { metadata }: StoredSecret): Promise<void> {
  await deleteIfThere(secrets, { metadata })
}

/** The correct values of missing or wrong entries; undefined where there are none. */
async function filled(
  { env }: ControllerContext,
  { metadata, data = {} }: StoredSecret,
  account: KubeObject,
): Promise<Record<string, string> | undefined> {
  const { namespace = '', name = '' } = metadata
  const authority = base64(settingsOf(env).rootAuthorities ?? '')
  const wanted: Record<string, string> = { namespace: base64(namespace), ...(authority ? { 'ca.crt': authority } : {}) }
  const hasToken = (data['token'] ?? '') !== '' && metadata.annotations?.[ACCOUNT_UID] === account.metadata.uid
  if (hasToken && Object.entries(wanted).every(([key, value]) => ownValue(data, key) === value)) return undefined
  if (!hasToken) {
    const identity = { namespace, name: account.metadata.name ?? '', uid: account.metadata.uid ?? '' }
    wanted['token'] = base64(await issueSecretToken(env, identity, name))
  }
  return wanted
}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
