/**
 * Calls webhooks (apiserver's pkg/util/webhook): finds their address, and reports errors with the texts of Go's HTTP
 * client.
 */
import type { WebhookClientConfig } from '../api/admissionregistration/v1.ts'
import type { Clock } from '../base/clock.ts'
import type { Cluster, Credentials, Kubeconfig } from '../configuration/kubeconfig.ts'
import { credentialsFor } from '../configuration/kubeconfig.ts'
import { goQuote } from '../go/quote.ts'
import { placeOfService } from '../outgoing/service-place.ts'
import { checkAnswered, HOPS_HEADER, nextHop } from '../request/hops.ts'
import type { Passed } from '../request/hops.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { pemBlocks } from '../x509/pem.ts'
import { callUrl, cleanPath } from './call-url.ts'
import type { OutgoingAnswer, OutgoingCall, TakeRoom } from './outgoing-call.ts'
import { CallFailed } from './outgoing-call.ts'
import { outgoingOf } from './way-out.ts'

const HTTPS = 443

/** Headers of all calls, equal to kube-apiserver's because some webhooks check them. */
const HEADERS = {
  Accept: 'application/json, */*',
  'Content-Type': 'application/json',
  'User-Agent': 'kube-apiserver-admission',
  [HOPS_HEADER]: nextHop({}),
}

/** The call got no answer, or one that cannot be used. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError'

  /** @param status of the answer; undefined without an answer */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message)
  }
}

/** The clientConfig cannot be used, so no call was made. */
export class WebhookClientError extends Error {
  override readonly name = 'WebhookClientError'
}

/** What callWebhook knows of the request. */
type Caller = ControlPlane & { readonly clock: Clock }

/** The most calls after a first one that was answered with Retry-After. */
const MOST_RETRIES = 10

/**
 * Posts a review. As in kube-apiserver, a webhook that is too busy is asked again when it said so with Retry-After.
 * @param users credentials by server
 * @param timeoutMs limit of all calls together, which the webhook gets in whole seconds
 * @param take see withRoom
 * @throws WebhookCallError, WebhookClientError
 */
export async function callWebhook(
  plane: Caller,
  client: WebhookClientConfig,
  review: string,
  timeoutMs: number,
  take: TakeRoom,
  users?: Kubeconfig,
): Promise<OutgoingAnswer> {
  const caBundle = bundleOf(client)
  const shown = shownUrl(client, timeoutMs)
  const credentials = users && credentialsFor(users, targetOf(client))
  const post = (timeoutMs: number): Promise<OutgoingAnswer> =>
    posted(plane, shown, async () => {
      plane.subrequests?.takeOutside()
      const place = client.service === undefined ? { url: shown } : await placeOf(plane, client.service, shown)
      const call = { ...place, caBundle, ...presented(credentials, plane), timeoutMs }
      return outgoingOf(plane.env)(call, review, plane.gone?.(), take)
    })
  const ends = plane.clock() + timeoutMs
  let answer = await post(timeoutMs)
  for (let retry = 1; retry <= MOST_RETRIES; retry++) {
    const wait = waitBefore(answer)
    if (wait === undefined || plane.clock() + wait >= ends || plane.gone?.().aborted === true) break
    await new Promise((resolve) => setTimeout(resolve, wait))
    answer = await post(Math.max(1, ends - plane.clock()))
  }
  return answer
}

/** Milliseconds until the webhook wants to be asked again; undefined where it has answered for good. */
const waitBefore = ({ status, retryAfter = '' }: OutgoingAnswer): number | undefined =>
  (status === 429 || status >= 500) && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined

/** Posts a review to the server that a setting names. @throws WebhookCallError */
export async function callServer(
  plane: ControlPlane,
  { server, authority, serverName }: Cluster,
  credentials: Credentials | undefined,
  review: string,
  timeoutMs: number,
  take: TakeRoom,
): Promise<OutgoingAnswer> {
  const url = `${callUrl(server)}?timeout=${Math.ceil(timeoutMs / 1000)}s`
  const call = { url, serverName, caBundle: authority, ...presented(credentials, plane), timeoutMs }
  return posted(plane, url, () => {
    plane.subrequests?.takeOutside()
    return outgoingOf(plane.env)(call, review, plane.gone?.(), take)
  })
}

async function posted(plane: Passed, shown: string, post: () => Promise<OutgoingAnswer>): Promise<OutgoingAnswer> {
  try {
    const answer = await post()
    checkAnswered(plane, answer.status)
    return answer
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    throw new WebhookCallError(`Post ${goQuote(shown)}: ${error.message}`)
  }
}

/**
 * The credentials that this server presents, and how far the request has come. The headers of most calls are the same
 * value, which by-front.ts compares.
 */
function presented(
  credentials: Credentials | undefined,
  plane: Passed,
): Pick<OutgoingCall, 'headers' | 'clientCertificate'> {
  const { authorization, certificate, key } = credentials ?? {}
  const own = {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    [HOPS_HEADER]: nextHop(plane),
  }
  return {
    headers: authorization === undefined && !plane.hops ? HEADERS : { ...HEADERS, ...own },
    clientCertificate: certificate === undefined || key === undefined ? undefined : { certificate, key },
  }
}

/** HOST:PORT, by which credentials are chosen. */
function targetOf({ url = '', service }: WebhookClientConfig): string {
  if (service !== undefined) return `${service.name}.${service.namespace}.svc:${service.port ?? HTTPS}`
  const { hostname, port } = new URL(url)
  return `${hostname}:${port === '' ? HTTPS : port}`
}

const shownUrl = (client: WebhookClientConfig, timeoutMs: number): string =>
  `${urlOf(client)}?timeout=${Math.ceil(timeoutMs / 1000)}s`

/** Each bundle is read once: a configuration stays the same value as long as it does not change. */
const bundles = new WeakMap<WebhookClientConfig, string | WebhookClientError>()

/**
 * PEM; undefined where the configuration has no bundle.
 * @throws WebhookClientError
 */
function bundleOf(client: WebhookClientConfig): string | undefined {
  let bundle = bundles.get(client)
  if (bundle === undefined) bundles.set(client, (bundle = readBundle(atob(client.caBundle ?? ''))))
  if (bundle instanceof WebhookClientError) throw bundle
  return bundle === '' ? undefined : bundle
}

function readBundle(pem: string): string | WebhookClientError {
  if (pem.trim() === '') return ''
  return pemBlocks(pem).some(({ type }) => type === 'CERTIFICATE')
    ? pem
    : new WebhookClientError('unable to load root certificates: unable to parse bytes as PEM block')
}

/** @throws CallFailed */
async function placeOf(plane: ControlPlane, service: NonNullable<WebhookClientConfig['service']>, shown: string) {
  const { name = '', namespace = '', port = HTTPS } = service
  const { base, serverName } = await placeOfService(plane, { name, namespace, port })
  const { pathname, search } = new URL(shown)
  return { url: `${base}${pathname}${search}`, serverName }
}

function urlOf({ url = '', service }: WebhookClientConfig): string {
  if (service === undefined) return callUrl(url)
  const { name, namespace, port = HTTPS, path = '' } = service
  return `https://${name}.${namespace}.svc:${port}${cleanPath(path)}`
}
