/** ImagePolicyWebhook: another server decides whether the images of a pod may run. */
import type { Pod } from '../../api/core/v1.ts'
import type { ImageReview, ImageReviewStatus } from '../../api/imagepolicy/v1alpha1.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Expiring } from '../../base/expiring.ts'
import { expiring, unexpired } from '../../base/expiring.ts'
import { stringify } from '../../json/write-json.ts'
import type { ImagePolicySetting } from '../../configuration/image-policy.ts'
import { settingsOf } from '../../settings.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import { withRoom } from '../../webhooks/answer-room.ts'
import { WebhookCallError, callServer } from '../../webhooks/call-webhook.ts'
import { reviewIn } from '../../webhooks/review-reply.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'
import { checkTimeLeft, timeForCall } from '../time-left.ts'

const KIND = { group: 'imagepolicy.k8s.io', version: 'v1alpha1', kind: 'ImageReview' }
const AUDIT_PREFIX = 'imagepolicywebhook.image-policy.k8s.io/'
const FAILED_OPEN = 'alpha.image-policy.k8s.io/failed-open'
const TIMEOUT_MS = 30_000
const TRIES = 5
const BACKOFF_FACTOR = 1.5

const answersOf = perTenant(
  'forgotten',
  () => new BoundedMap<string, Expiring<ImageReviewStatus>>({ entries: 1024, size: 4_000_000 }),
)

export const imagePolicyWebhook: AdmissionPlugin = {
  name: 'ImagePolicyWebhook',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
    isOfPods(attributes, 'ephemeralcontainers'),
  async validate(attributes) {
    const { imagePolicy } = settingsOf(attributes.request.env).admission
    if (imagePolicy === undefined) throw new Error('assertion failed: the plugin does not run without configuration')
    const status = await statusOf(attributes, imagePolicy)
    if (status === undefined) return
    for (const [key, value] of Object.entries(status.auditAnnotations ?? {}))
      attributes.request.record?.annotate(`${AUDIT_PREFIX}${key}`, value)
    if (status.allowed === true) return
    throw admissionForbidden(
      attributes,
      status.reason
        ? `image policy webhook backend denied one or more images: ${status.reason}`
        : 'one or more images rejected by webhook backend',
    )
  },
}

/**
 * Undefined where the webhook did not answer and the configuration allows the pod.
 * @throws StatusError
 */
async function statusOf(attributes: Attributes, setting: ImagePolicySetting): Promise<ImageReviewStatus | undefined> {
  const { request } = attributes
  const answers = answersOf(request.tenant)
  const spec = specOf(attributes)
  const key = stringify(spec)
  const known = unexpired(answers.get(key), request.clock())
  if (known !== undefined) return known
  const review = {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/${KIND.version}`,
    metadata: {},
    spec,
    status: { allowed: false },
  }
  try {
    const status = await ask(attributes, setting, stringify(review))
    const ttl = status.allowed === true ? setting.allowTtl : setting.denyTtl
    if (ttl > 0) answers.set(key, expiring(status, request.clock(), ttl))
    return status
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    if (!setting.defaultAllow) throw admissionForbidden(attributes, error.message)
    checkTimeLeft(attributes)
    failOpen(attributes)
    return undefined
  }
}

function specOf(attributes: Attributes) {
  const { metadata, spec = {} } = podOf(attributes)
  const containers =
    attributes.subresource === ''
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      : (spec.ephemeralContainers ?? [])
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) =>
    key.includes('.image-policy.k8s.io/'),
  )
  return {
    containers: containers.map(({ image = '' }) => ({ image })),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations.sort()) }),
    namespace: attributes.namespace,
  }
}

/**
 * @throws WebhookCallError
 * @throws StatusError 504 where the request's time is over
 */
async function ask(
  attributes: Attributes,
  { server, credentials, retryBackoff }: ImagePolicySetting,
  review: string,
): Promise<ImageReviewStatus> {
  const { request } = attributes
  const deadline = request.clock() + timeForCall(attributes, TIMEOUT_MS)
  let pause = retryBackoff
  for (let attempt = 1; ; attempt++) {
    const left = deadline - request.clock()
    if (left <= 0) throw new WebhookCallError('context deadline exceeded')
    try {
      const found = await withRoom(request, async (take) =>
        reviewIn(await callServer(request, server, credentials, review, left, take), KIND),
      )
      // the answer was decoded as an ImageReview
      return (found as unknown as ImageReview).status ?? {}
    } catch (error) {
      if (!(error instanceof WebhookCallError) || !isPassing(error) || attempt === TRIES) throw error
      if (request.clock() + pause >= deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause *= BACKOFF_FACTOR
  }
}

/** Whether another call may succeed: kube-apiserver repeats a call after server errors and lost connections. */
const isPassing = ({ message }: WebhookCallError): boolean =>
  /an error on the server|too many requests|time allotted|connection reset by peer/.test(message)

/** Sets the annotation that the pod passed without an answer, as kube-apiserver does. */
function failOpen(attributes: Attributes): void {
  const { metadata }: Pod = podOf(attributes)
  attributes.request.record?.annotate(`${AUDIT_PREFIX}failed-open`, 'true')
  metadata.annotations = { ...metadata.annotations, [FAILED_OPEN]: 'true' }
}
