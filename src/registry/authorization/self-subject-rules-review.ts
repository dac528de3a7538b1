import type { SelfSubjectRulesReview } from '../../api/authorization/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { badRequest } from '../../api/status.ts'
import { nodeOf } from '../../authorization/node.ts'
import { rulesFor } from '../../authorization/rbac.ts'
import { aggregate } from '../../authorization/verdict.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { Review } from '../review.ts'

/** What may I do in this namespace? Nothing of what was sent comes back. */
export const selfSubjectRulesReview: Review = async (request, object, admitted) => {
  // only this kind is decoded at its path
  const { spec, kind, apiVersion } = object as KubeObject & SelfSubjectRulesReview
  const namespace = spec?.namespace ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  await admitted()
  const { user } = request
  const { rules, errors } = rulesFor(await freshControlSnapshot(request), user, namespace)
  const isNode = nodeOf(user) !== undefined
  const problems = [...(isNode ? ['node authorizer does not support user rule resolution'] : []), ...errors]
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
      incomplete: isNode,
      ...(problems.length === 0 ? {} : { evaluationError: aggregate(problems) }),
    },
  }
  return answer
}
