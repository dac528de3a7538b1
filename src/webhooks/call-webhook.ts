/** Calls of webhooks (apiserver's pkg/util/webhook). This server makes none yet: each fails as one that cannot be made. */
import type { WebhookClientConfig } from '../api/admissionregistration/v1.ts'
import type { Service } from '../api/core/v1.ts'
import { goQuote } from '../go/quote.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { storedObject } from '../tenancy/stored-object.ts'

const SERVICES = { group: '', resource: 'services' }
const HTTPS = 443
const NOT_YET = 'this server does not call webhooks yet'

/** A call that brought no answer. */
export class WebhookCallError extends Error {}

/** @throws WebhookCallError */
export async function callWebhook(
  plane: ControlPlane,
  client: WebhookClientConfig,
  timeoutSeconds: number,
): Promise<never> {
  const { name = '', namespace = '' } = client.service ?? {}
  if (
    client.service !== undefined &&
    (await storedObject<Service>(plane, SERVICES, `${namespace}/${name}`)) === undefined
  )
    throw callError(client, timeoutSeconds, `service ${goQuote(name)} not found`)
  throw callError(client, timeoutSeconds)
}

/** As Go's HTTP client tells it. */
export const callError = (client: WebhookClientConfig, timeoutSeconds: number, why = NOT_YET): WebhookCallError =>
  new WebhookCallError(`Post ${goQuote(`${urlOf(client)}?timeout=${timeoutSeconds}s`)}: ${why}`)

function urlOf({ url = '', service }: WebhookClientConfig): string {
  if (service === undefined) return /^https:\/\/[^/]*$/.test(url) ? `${url}/` : url
  const { name, namespace, port = HTTPS, path = '' } = service
  return `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`
}
