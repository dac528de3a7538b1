/** Bootstrap tokens: their expiry, and the signatures of the public cluster-info by tokens that may sign. */
import type { ConfigMap, Secret } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { bootstrapTokenData, hasExpired, isBootstrapToken } from '../../authentication/bootstrap-token.ts'
import { parseTime } from '../../schema/time.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const TOKEN_NAMESPACE = 'kube-system'
const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' }

const SIGNATURE_PREFIX = 'jws-kubeconfig-'
const KUBECONFIG = 'kubeconfig'

type StoredSecret = Secret & KubeObject

const secretsOf = (context: ControllerContext) =>
  managerClients(context).resource({ group: '', resource: 'secrets' }, TOKEN_NAMESPACE)

/** Deletes a token when it expires. Key: the Secret's name. */
export const tokenCleaner: Controller = {
  async reconcile(name, context) {
    const secrets = secretsOf(context)
    const secret = (await secrets.get(name)) as StoredSecret | undefined
    if (secret === undefined || !isBootstrapToken(secret)) return undefined
    const expiration = bootstrapTokenData(secret, 'expiration')
    if (expiration === '') return undefined
    if (!hasExpired(expiration, context.now())) return parseTime(expiration).seconds * 1000 - context.now().getTime()
    await secrets.delete(secret)
    return undefined
  },
}

/**
 * Signs the kubeconfig in kube-public/cluster-info with each token whose usages allow signing. So a client that knows
 * a token can trust this public document. The key is empty.
 */
export const bootstrapSigner: Controller = {
  async reconcile(_key, context) {
    const configMaps = managerClients(context).resource({ group: '', resource: 'configmaps' }, CLUSTER_INFO.namespace)
    const info = (await configMaps.get(CLUSTER_INFO.name)) as ConfigMap | undefined
    const content = info?.data?.[KUBECONFIG]
    if (info === undefined || content === undefined) return undefined
    const wanted = await signatures(context, content)
    const data = Object.fromEntries([
      ...Object.entries(info.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX)),
      ...wanted.map(([id, signature]) => [`${SIGNATURE_PREFIX}${id}`, signature]),
    ])
    const text = (entries: Record<string, string>): string => JSON.stringify(Object.entries(entries).sort())
    if (text(data) !== text(info.data ?? {}))
      await configMaps.updateWithRetries(info, (object) => Object.assign(object, { data }))
    return undefined
  },
}

async function signatures(context: ControllerContext, content: string): Promise<[id: string, signature: string][]> {
  const signing: StoredSecret[] = []
  for await (const secret of secretsOf(context).each())
    if (isForSigning(secret as StoredSecret, context.now())) signing.push(secret as StoredSecret)
  return Promise.all(
    signing.map(async (secret): Promise<[string, string]> => {
      const id = bootstrapTokenData(secret, 'token-id')
      return [id, await detachedSignature(content, id, bootstrapTokenData(secret, 'token-secret'))]
    }),
  )
}

function isForSigning(secret: StoredSecret, now: Date): boolean {
  const read = (key: string): string => bootstrapTokenData(secret, key)
  return (
    isBootstrapToken(secret) &&
    secret.metadata.name === `bootstrap-token-${read('token-id')}` &&
    read('token-secret') !== '' &&
    !hasExpired(read('expiration'), now) &&
    read('usage-bootstrap-signing') === 'true'
  )
}

/** A JWS (RFC 7515) without its payload, which the verifier has. */
async function detachedSignature(content: string, id: string, secret: string): Promise<string> {
  const encoder = new TextEncoder()
  const base64Url = (bytes: Uint8Array): string =>
    btoa(String.fromCharCode(...bytes))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
  const header = base64Url(encoder.encode(JSON.stringify({ alg: 'HS256', kid: id })))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const signed = encoder.encode(`${header}.${base64Url(encoder.encode(content))}`)
  return `${header}..${base64Url(new Uint8Array(await crypto.subtle.sign(algorithm, key, signed)))}`
}
