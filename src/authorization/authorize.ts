/**
 * Step 3 of a request: authorization. Members of system:masters may do everything. For others the node authorizer and
 * RBAC are asked, or the authorizers of a configuration; the first that allows or denies decides.
 */
import { internalError } from '../api/status.ts'
import type { UserInfo } from '../request/user-info.ts'
import { settingsOf } from '../settings.ts'
import { SYSTEM_MASTERS } from '../request/user-info.ts'
import type { ApiRequest } from '../request/context.ts'
import type { ControlPlane, ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { controlSnapshot, snapshotBeforeRefusal } from '../tenancy/control-snapshot.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import { authorizationCounts } from './authorization-counts.ts'
import type { Authorized } from './authorized.ts'
import type { Authorizer, Chain } from './chain.ts'
import { currentChain } from './chain.ts'
import { forbiddenBy } from './forbidden.ts'
import { nodeAuthorizer } from './node.ts'
import { isPrivilegedPath } from './privileged-paths.ts'
import { rbac } from './rbac.ts'
import type { Verdict } from './verdict.ts'
import { ALLOWED, aggregate, noOpinion } from './verdict.ts'

/** @throws StatusError 403 */
export async function authorize(
  plane: ControlPlane & Partial<Pick<ApiRequest, 'record' | 'clock'>>,
  asked: AuthorizationAttributes,
): Promise<Authorized> {
  const { record, clock } = plane
  const began = clock?.()
  const verdict = mayEverything(asked.user) ? ALLOWED : await verdictOn(plane, asked)
  countAttempt(plane, verdict, clock && began !== undefined ? (clock() - began) / 1000 : undefined)
  const { allowed, reason, error } = verdict
  record?.annotate('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid')
  record?.annotate('authorization.k8s.io/reason', reason)
  // 500 rather than 403, because the authorizer that failed might have allowed it; the log has the reason
  if (!allowed && error !== undefined)
    throw internalError(`an authorizer could not be asked: ${asked.verb} ${asked.path}`)
  if (!allowed) throw forbiddenBy(asked, reason)
  return asked as Authorized // only here an `Authorized` is made
}

function countAttempt({ tenant }: ControlPlane, verdict: Verdict, seconds: number | undefined): void {
  const { attempts, durations } = authorizationCounts(tenant)
  const result = resultOf(verdict)
  attempts.add({ result })
  if (seconds !== undefined) durations.observe(result, seconds, () => ({ result }))
}

function resultOf({ allowed, denied = false, error }: Verdict): string {
  if (allowed) return 'allowed'
  if (error !== undefined) return 'error'
  return denied ? 'denied' : 'no-opinion'
}

/** Counts decisions as in kube-apiserver, where `no opinion` is none. */
function countDecision({ tenant }: ControlPlane, type: string, name: string, { allowed, denied }: Verdict): void {
  if (allowed || denied)
    authorizationCounts(tenant).decisions.add({ decision: allowed ? 'allowed' : 'denied', name, type })
}

/** Authorizes in the middle of a request: for reviews, impersonation, admission, and `authorizer` in expressions. */
export async function verdictOn(plane: ControlPlane, asked: AuthorizationAttributes): Promise<Verdict> {
  if (settingsOf(plane.env).authorizationConfig !== undefined) return new Question(plane, asked).verdict()
  const snapshot = await controlSnapshot(plane)
  const verdict = await ask(plane, snapshot, asked)
  if (verdict.allowed) return verdict
  // before a denial, because the right may have been granted a moment ago
  const fresh = await snapshotBeforeRefusal(plane)
  return fresh === snapshot ? verdict : ask(plane, fresh, asked)
}

const mayEverything = ({ groups }: UserInfo): boolean => groups.includes(SYSTEM_MASTERS)

async function ask(plane: ControlPlane, snapshot: ControlSnapshot, asked: AuthorizationAttributes): Promise<Verdict> {
  if (mayEverything(asked.user)) return ALLOWED
  if (!asked.isResourceRequest && isPrivilegedPath(asked.path)) return noOpinion('')
  const node = await nodeAuthorizer(plane, asked)
  countDecision(plane, 'Node', 'node', node)
  if (node.allowed) return node
  const byRoles = rbac(snapshot, asked)
  countDecision(plane, 'RBAC', 'rbac', byRoles)
  if (byRoles.allowed) return byRoles
  return noOpinion([node.reason, byRoles.reason].filter((reason) => reason !== '').join('\n'))
}

/** One request to the authorizers of a configuration. */
class Question {
  /** Answers of webhooks, so that each is asked once. Bound: the authorizers of the configuration. */
  private readonly said = new Map<Authorizer, Verdict>()

  constructor(
    private readonly plane: ControlPlane,
    private readonly asked: AuthorizationAttributes,
  ) {}

  async verdict(): Promise<Verdict> {
    const { plane, asked } = this
    if (mayEverything(asked.user)) return ALLOWED
    if (!asked.isResourceRequest && isPrivilegedPath(asked.path)) return noOpinion('')
    const chain = await currentChain(plane.env, (work) => plane.waitUntil?.(work))
    if (chain === undefined) throw new Error('assertion failed: a configuration without authorizers')
    const snapshot = await controlSnapshot(plane)
    const verdict = await this.askAll(chain, snapshot)
    if (verdict.allowed || !chain.types.has('RBAC')) return verdict
    const fresh = await snapshotBeforeRefusal(plane)
    return fresh === snapshot ? verdict : this.askAll(chain, fresh)
  }

  private async askAll({ authorizers, names }: Chain, snapshot: ControlSnapshot): Promise<Verdict> {
    const reasons: string[] = []
    const errors: string[] = []
    for (const authorizer of authorizers) {
      const verdict = await this.ask(authorizer, snapshot)
      const type = typeof authorizer === 'string' ? authorizer : 'Webhook'
      const name = typeof authorizer === 'string' ? (names.get(type) ?? '') : authorizer.name
      countDecision(this.plane, type, name, verdict)
      if (verdict.allowed || verdict.denied) return verdict
      if (verdict.reason !== '') reasons.push(verdict.reason)
      if (verdict.error !== undefined) errors.push(verdict.error)
    }
    const reason = reasons.join('\n')
    return { allowed: false, reason, ...(errors.length === 0 ? {} : { error: aggregate(errors) }) }
  }

  private async ask(authorizer: Authorizer, snapshot: ControlSnapshot): Promise<Verdict> {
    switch (authorizer) {
      case 'Node':
        return nodeAuthorizer(this.plane, this.asked)
      case 'RBAC':
        return rbac(snapshot, this.asked)
      case 'AlwaysAllow':
        return ALLOWED
      case 'AlwaysDeny':
        return noOpinion('Everything is forbidden.')
      default: {
        const said = this.said.get(authorizer) ?? (await authorizer.ask(this.plane, this.asked))
        this.said.set(authorizer, said)
        return said
      }
    }
  }
}
