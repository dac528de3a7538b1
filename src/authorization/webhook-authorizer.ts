/**
 * A webhook as authorizer (SubjectAccessReview of authorization.k8s.io, v1 and v1beta1). Its decisions are cached for
 * a while. A failed call never allows a request.
 */
import type { SubjectAccessReviewSpec, SubjectAccessReviewStatus } from '../api/authorization/v1.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Expiring } from '../base/expiring.ts'
import { expiring, unexpired } from '../base/expiring.ts'
import type { Clock } from '../base/clock.ts'
import { requestTimeout } from '../api/status.ts'
import type { Expression } from '../authentication/expression.ts'
import { ExpressionFailed } from '../authentication/expression.ts'
import type { JsonLike } from '../cel/values/json-value.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { logError } from '../log/log.ts'
import { formatDuration } from '../schema/time.ts'
import { parseLabelSelector } from '../storage/selectors/label-selector.ts'
import type { LabelRequirement } from '../storage/selectors/selection.ts'
import { WebhookCallError } from '../webhooks/call-webhook.ts'
import { DEADLINE, failureText } from '../webhooks/failure-text.ts'
import type { WebhookConnection } from '../webhooks/webhook-connection.ts'
import { postReview } from '../webhooks/connection.ts'
import { reviewIn } from '../webhooks/review-reply.ts'
import { authorizationCounts } from './authorization-counts.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import type { WebhookConfiguration } from './authorization-configuration.ts'
import type { Verdict } from './verdict.ts'
import { aggregate, noOpinion } from './verdict.ts'

const MILLISECOND = 1_000_000n
/** Milliseconds; kube-apiserver's defaults. */
const AUTHORIZED_FOR = 300_000
const UNAUTHORIZED_FOR = 30_000
/** The most cached decisions, and the most characters of their requests. Longer requests are never cached. */
const MAX_ANSWERS = 8_192
const MAX_ASKED = 10_000

const TOO_LATE = failureText({ code: DEADLINE, message: '' })

type Plane = Pick<ControlPlane, 'env' | 'tenant' | 'gone'>

export class WebhookAuthorizer {
  private readonly answers = new BoundedMap<string, Expiring<SubjectAccessReviewStatus>>({
    entries: MAX_ANSWERS,
    size: 16 * 1024 * 1024,
  })
  private readonly keptFor: { readonly allowed: number; readonly refused: number }

  constructor(
    readonly name: string,
    private readonly configuration: WebhookConfiguration,
    private readonly connection: WebhookConnection,
    private readonly conditions: readonly Expression[],
    private readonly clock: Clock,
  ) {
    const { authorizedTTL, unauthorizedTTL, cacheAuthorizedRequests, cacheUnauthorizedRequests } = configuration
    const milliseconds = (of: bigint, usual: number): number => (of === 0n ? usual : Number(of / MILLISECOND))
    this.keptFor = {
      allowed: cacheAuthorizedRequests ? milliseconds(authorizedTTL, AUTHORIZED_FOR) : 0,
      refused: cacheUnauthorizedRequests ? milliseconds(unauthorizedTTL, UNAUTHORIZED_FOR) : 0,
    }
  }

  async ask(plane: Plane, asked: AuthorizationAttributes): Promise<Verdict> {
    const spec = specOf(asked)
    try {
      if (!this.matches(plane, spec)) return noOpinion('')
      return verdictOf(await this.answer(plane, asked, spec))
    } catch (error) {
      if (!(error instanceof ExpressionFailed || error instanceof WebhookCallError)) throw error
      logError('Failed to make webhook authorizer request', { authorizer: this.name, error: error.message })
      // the webhook was not waited for, and a policy that asks would go on with a denial
      if (plane.gone?.().aborted === true) throw requestTimeout()
      const denied = this.configuration.failurePolicy === 'Deny'
      if (!denied && error instanceof WebhookCallError) {
        const { name } = this
        authorizationCounts(plane.tenant).webhookFailOpens.add({ name, result: resultOf(error) })
      }
      return { allowed: false, reason: '', error: error.message, ...(denied ? { denied } : {}) }
    }
  }

  /**
   * Whether all match conditions are true. One false condition is enough for no, even where others fail.
   * @throws ExpressionFailed
   */
  private matches({ tenant }: Plane, spec: SubjectAccessReviewSpec): boolean {
    if (this.conditions.length === 0) return true
    const { conditionErrors, conditionExclusions, conditionTimes } = authorizationCounts(tenant)
    const labels = { name: this.name, type: 'Webhook' }
    const began = this.clock()
    try {
      const isMet = this.meets(spec)
      if (!isMet) conditionExclusions.add(labels)
      return isMet
    } catch (error) {
      conditionErrors.add(labels)
      throw error
    } finally {
      conditionTimes.observe(this.name, (this.clock() - began) / 1000, () => labels)
    }
  }

  private meets(spec: SubjectAccessReviewSpec): boolean {
    const subject = subjectOf(spec)
    const failures: string[] = []
    for (const condition of this.conditions) {
      try {
        if (condition.evaluate(subject) !== true) return false
      } catch (error) {
        if (!(error instanceof ExpressionFailed)) throw error
        failures.push(error.message)
      }
    }
    if (failures.length > 0) throw new ExpressionFailed(aggregate(failures))
    return true
  }

  /** @throws WebhookCallError */
  private async answer(
    plane: Plane,
    asked: AuthorizationAttributes,
    spec: SubjectAccessReviewSpec,
  ): Promise<SubjectAccessReviewStatus> {
    // the review does not name the control plane, but the key does, so that none gets the decisions of another
    const key = JSON.stringify([plane.tenant.uid, spec])
    const known = unexpired(this.answers.get(key), this.clock())
    if (known !== undefined) return known
    const status = await this.counted(plane, () => this.review(plane, spec))
    const keptFor = status.allowed ? this.keptFor.allowed : this.keptFor.refused
    if (keptFor > 0 && lengthOf(asked) < MAX_ASKED) this.answers.set(key, expiring(status, this.clock(), keptFor))
    return status
  }

  private async counted<Answer>({ tenant, gone }: Plane, ask: () => Promise<Answer>): Promise<Answer> {
    const began = this.clock()
    const { name } = this
    let result = 'success'
    try {
      return await ask()
    } catch (error) {
      result = gone?.().aborted === true ? 'canceled' : resultOf(error)
      throw error
    } finally {
      const { webhooks, webhookTimes } = authorizationCounts(tenant)
      webhooks.add({ name, result })
      webhookTimes.observe(`${name} ${result}`, (this.clock() - began) / 1000, () => ({ name, result }))
    }
  }

  /** @throws WebhookCallError */
  private async review({ env, gone }: Plane, spec: SubjectAccessReviewSpec): Promise<SubjectAccessReviewStatus> {
    const { timeout, subjectAccessReviewVersion: version } = this.configuration
    const kind = 'SubjectAccessReview'
    const apiVersion = `authorization.k8s.io/${version}`
    const { groups, ...rest } = spec
    // v1beta1 calls the groups `group`
    const sent = version === 'v1' ? spec : { ...rest, group: groups }
    const review = { kind, apiVersion, metadata: {}, spec: sent, status: { allowed: false } }
    const answer = await postReview(env, this.connection, review, {
      timeoutMs: Number(timeout / MILLISECOND),
      timeout: formatDuration(timeout),
      clock: this.clock,
      gone: gone?.(),
    })
    // decoded as a SubjectAccessReview
    const { status = {} } = (await reviewIn(answer, { group: 'authorization.k8s.io', version, kind })) as {
      status?: SubjectAccessReviewStatus
    }
    return status
  }
}

const resultOf = (error: unknown): string =>
  error instanceof Error && error.message.endsWith(TOO_LATE) ? 'timeout' : 'error'

function verdictOf({ allowed = false, denied = false, reason = '' }: SubjectAccessReviewStatus): Verdict {
  if (denied && allowed)
    return {
      allowed: false,
      denied,
      reason,
      error: 'webhook subject access review returned both allow and deny response',
    }
  return denied ? { allowed: false, denied, reason } : { allowed, reason }
}

const lengthOf = ({
  namespace,
  verb,
  apiGroup,
  apiVersion,
  resource,
  subresource,
  name,
  path,
}: AuthorizationAttributes) =>
  [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path].reduce(
    (sum, { length }) => sum + length,
    0,
  )

/** Leaves out empty fields, as Go does. */
const filled = <Of extends object>(of: Of): Partial<Of> =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== '' && value !== undefined)) as Partial<Of>

function specOf(asked: AuthorizationAttributes): SubjectAccessReviewSpec {
  const { user, verb, namespace, apiGroup, apiVersion, resource, subresource, name, path } = asked
  return {
    ...(asked.isResourceRequest
      ? {
          resourceAttributes: {
            ...filled({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }),
            ...selectorsOf(asked),
          },
        }
      : { nonResourceAttributes: filled({ path, verb }) }),
    ...filled({ user: user.name }),
    ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
    ...(Object.keys(user.extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]])) }),
    ...filled({ uid: user.uid }),
  }
}

/** The parsed selectors. One that cannot be read restricts nothing. */
function selectorsOf({ fields, labelSelector }: AuthorizationAttributes) {
  const labels = readableLabels(labelSelector)
  return {
    ...(fields.length === 0
      ? {}
      : {
          fieldSelector: {
            requirements: fields.map(({ field, operator, value }) => ({
              key: field,
              operator: operator === '=' ? 'In' : 'NotIn',
              values: [value],
            })),
          },
        }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  }
}

function readableLabels(selector: AuthorizationAttributes['labelSelector']) {
  return parsedLabels(selector).flatMap(({ key, operator, values }) =>
    // reviews know no other operators
    operator === 'Gt' || operator === 'Lt'
      ? []
      : [{ key, operator, ...(values.length === 0 ? {} : { values: [...values] }) }],
  )
}

function parsedLabels(selector: AuthorizationAttributes['labelSelector']): readonly LabelRequirement[] {
  if (typeof selector !== 'string') return selector
  try {
    return parseLabelSelector(selector)
  } catch {
    return []
  }
}

/** The variables of expressions. Texts are always present, even where they are empty. */
function subjectOf({ resourceAttributes, nonResourceAttributes, ...spec }: SubjectAccessReviewSpec): JsonLike {
  const { user = '', groups = [], extra = {}, uid = '' } = spec
  const texts = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' }
  const subject: object = {
    user,
    groups,
    uid,
    extra,
    ...(resourceAttributes && { resourceAttributes: { ...texts, ...resourceAttributes } }),
    ...(nonResourceAttributes && { nonResourceAttributes: { path: '', verb: '', ...nonResourceAttributes } }),
  }
  return subject as JsonLike // specOf makes it from JSON only
}
