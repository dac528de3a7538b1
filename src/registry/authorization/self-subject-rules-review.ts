import type { SelfSubjectRulesReview } from '../../api/authorization/v1.ts'
import { append } from '../../base/append.ts'
import type { KubeObject } from '../../api/object.ts'
import type { PolicyRule } from '../../api/rbac/v1.ts'
import type { Authorizer } from '../../authorization/chain.ts'
import { currentChain } from '../../authorization/chain.ts'
import { WebhookAuthorizer } from '../../authorization/webhook-authorizer.ts'
import { badRequest } from '../../api/status.ts'
import { nodeOf } from '../../authorization/node.ts'
import { rulesFor } from '../../authorization/rbac.ts'
import { aggregate } from '../../authorization/verdict.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { Review } from '../review.ts'

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The most values of rules that are shown again for other bindings of the same role, as kube-apiserver shows all. */
const MOST_REPEATED = 20_000

/** Answers with the user's rules in a namespace. It ignores other fields of the sent object. */
export const selfSubjectRulesReview: Review = async (request, object, admitted) => {
  // only a SelfSubjectRulesReview has this path
  const { spec, kind, apiVersion } = object as KubeObject & SelfSubjectRulesReview
  const namespace = spec?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  await admitted()
  const { user } = request
  const chain = await currentChain(request.env, (work) => request.waitUntil(work))
  const asks = (authorizer: Authorizer): boolean => chain?.authorizers.includes(authorizer) ?? true
  const { rules, errors } = asks('RBAC')
    ? rulesFor(await freshControlSnapshot(request), user, namespace, { repeated: MOST_REPEATED })
    : { rules: [], errors: [] }
  if (chain?.authorizers.includes('AlwaysAllow')) append(rules, EVERYTHING)
  const isNode = asks('Node') && nodeOf(user) !== undefined
  const asksOthers = chain?.authorizers.some((one) => one instanceof WebhookAuthorizer) ?? false
  const problems = [
    ...(isNode ? ['node authorizer does not support user rule resolution'] : []),
    ...(asksOthers ? ['webhook authorizer does not support user rule resolution'] : []),
    ...errors,
  ]
  const answer: KubeObject & SelfSubjectRulesReview = {
    kind,
    apiVersion,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules
        .filter(({ resources = [] }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: isNode || asksOthers,
      ...(problems.length === 0 ? {} : { evaluationError: aggregate(problems) }),
    },
  }
  return answer
}
