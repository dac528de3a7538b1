/** SubjectAccessReview, SelfSubjectAccessReview, LocalSubjectAccessReview: answers whether a user may do something. */
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../api/authorization/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { invalid } from '../../api/status.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { AuthorizationAttributes } from '../../authorization/attributes.ts'
import { pathAttributes, resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import { walked } from '../../request/turns.ts'
import type { ApiRequest } from '../../request/context.ts'
import { parseFieldSelector } from '../../storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../../storage/selectors/label-selector.ts'
import type { FieldRequirement, LabelRequirement } from '../../storage/selectors/selection.ts'
import type { Review } from '../review.ts'
import { fieldRequirementErrors, labelRequirementErrors } from './selector-requirements.ts'
import { metadataJson } from '../../validation/pod/internal-json.ts'
import { errorsOf } from '../../validation/errors-of.ts'

interface AccessReview extends KubeObject {
  spec?: SubjectAccessReviewSpec
  status?: SubjectAccessReviewStatus
}

/** kube-apiserver names no kind in these errors. */
const NO_KIND = { group: 'authorization.k8s.io', kind: '' }
const SPEC = path('spec')

export const subjectAccessReview: Review = async (request, object, admitted) => {
  const review: AccessReview = object // only reviews have this path
  const { spec = {} } = review
  refuse(
    await walked(request, () => [
      ...attributeErrors(spec),
      ...subjectErrors(spec),
      ...selectorErrors(spec),
      ...metadataErrors(review.metadata),
    ]),
  )
  await admitted()
  return answered(request, review, subjectOf(spec))
}

export const selfSubjectAccessReview: Review = async (request, object, admitted) => {
  const review: AccessReview = object
  const { spec = {} } = review
  refuse(
    await walked(request, () => [
      ...attributeErrors(spec),
      ...selectorErrors(spec),
      ...metadataErrors(review.metadata),
    ]),
  )
  await admitted()
  return answered(request, review, request.user)
}

export const localSubjectAccessReview: Review = async (request, object, admitted) => {
  const review: AccessReview = object
  const { spec = {}, metadata } = review
  refuse(
    await walked(request, () => [
      ...attributeErrors(spec),
      ...subjectErrors(spec),
      ...selectorErrors(spec),
      ...localMetadataErrors(metadata),
      ...localErrors(spec, metadata.namespace ?? ''),
    ]),
  )
  await admitted()
  return answered(request, review, subjectOf(spec))
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(NO_KIND, '', errors)
}

const subjectOf = ({ user = '', groups = [], uid = '', extra = {} }: SubjectAccessReviewSpec): UserInfo => ({
  name: user,
  groups,
  uid,
  extra,
})

async function answered(request: ApiRequest, review: AccessReview, user: UserInfo): Promise<KubeObject> {
  const { asked, problems } = askedOf(user, review.spec ?? {})
  const { allowed, denied, reason, error } = await verdictOn(request, asked)
  if (error !== undefined) problems.unshift('an authorizer could not be asked')
  const status: SubjectAccessReviewStatus = {
    allowed,
    ...(denied ? { denied } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(problems.length === 0 ? {} : { evaluationError: problems.join('; ') }),
  }
  const answer: AccessReview = { ...review, status }
  return answer
}

interface Question {
  readonly asked: AuthorizationAttributes
  /** Parts of the selectors that the review ignores. It then asks for more than the client meant. */
  readonly problems: string[]
}

function askedOf(user: UserInfo, spec: SubjectAccessReviewSpec): Question {
  const { resourceAttributes: about, nonResourceAttributes } = spec
  if (about === undefined) {
    const { verb = '', path = '' } = nonResourceAttributes ?? {}
    return { asked: pathAttributes(user, verb, path), problems: [] }
  }
  const { verb = '', namespace = '', group = '', version = '', resource = '', subresource = '', name = '' } = about
  const selected = fieldsOf(about)
  const { labels, problem: labelProblem } = labelsOf(about)
  const asked = resourceAttributes(user, verb, {
    namespace,
    apiGroup: group,
    apiVersion: version === '' ? '*' : version,
    resource,
    subresource,
    name,
    fields: selected.fields,
    labelSelector: labels,
  })
  const problems = [selected.problem, labelProblem].filter((problem) => problem !== undefined)
  return { asked, problems }
}

const ignored = (selector: string, extent: 'partially ' | '' = ''): string =>
  `spec.resourceAttributes.${selector} ${extent}ignored due to parse error`

function fieldsOf({ fieldSelector }: ResourceAttributes): { fields: FieldRequirement[]; problem?: string } {
  const { rawSelector = '', requirements = [] } = fieldSelector ?? {}
  if (requirements.length > 0) {
    const fields = requirements.flatMap(({ key = '', operator, values = [] }): FieldRequirement[] => {
      if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return []
      return [{ field: key, operator: operator === 'In' ? '=' : '!=', value: values[0]! }]
    })
    if (fields.length === requirements.length) return { fields }
    return { fields, problem: ignored('fieldSelector', fields.length > 0 ? 'partially ' : '') }
  }
  try {
    return { fields: parseFieldSelector(rawSelector) }
  } catch {
    return { fields: [], problem: ignored('fieldSelector') }
  }
}

/** The review reports an invalid selector, though only authorization webhooks read labels. */
function labelsOf({ labelSelector }: ResourceAttributes): {
  labels: AuthorizationAttributes['labelSelector']
  problem?: string
} {
  const { rawSelector = '', requirements = [] } = labelSelector ?? {}
  if (requirements.length === 0) return isLabelSelector(rawSelector) ? { labels: rawSelector } : unreadable(rawSelector)
  const labels = requirements.flatMap(({ key = '', operator, values = [] }): LabelRequirement[] =>
    isOperator(operator) ? [{ key, operator, values }] : [],
  )
  if (labels.length === requirements.length) return { labels }
  return { labels, problem: ignored('labelSelector', labels.length > 0 ? 'partially ' : '') }
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const

const isOperator = (operator: string | undefined): operator is (typeof OPERATORS)[number] =>
  (OPERATORS as readonly (string | undefined)[]).includes(operator)

const unreadable = (labels: string) => ({ labels, problem: ignored('labelSelector') })

function isLabelSelector(text: string): boolean {
  try {
    parseLabelSelector(text)
    return true
  } catch {
    return false
  }
}

function attributeErrors({ resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined)
    return [
      invalidValue(
        SPEC.child('nonResourceAttributes'),
        // kube-apiserver prints the Go names of the fields
        { Path: nonResourceAttributes.path ?? '', Verb: nonResourceAttributes.verb ?? '' },
        'cannot be specified in combination with resourceAttributes',
      ),
    ]
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return []
  return [
    invalidValue(
      SPEC.child('resourceAttributes'),
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ]
}

const subjectErrors = ({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldError[] =>
  user === '' && groups.length === 0
    ? [invalidValue(SPEC.child('user'), '', 'at least one of user or group must be specified')]
    : []

function selectorErrors({ resourceAttributes }: SubjectAccessReviewSpec): FieldError[] {
  const at = SPEC.child('resourceAttributes')
  const { fieldSelector, labelSelector } = resourceAttributes ?? {}
  const fieldsAt = at.child('fieldSelector')
  const labelsAt = at.child('labelSelector')
  return [
    ...formErrors(fieldSelector, fieldsAt),
    ...errorsOf(fieldSelector?.requirements ?? [], (requirement, index) =>
      fieldRequirementErrors(requirement, fieldsAt.child('requirements').index(index)),
    ),
    ...formErrors(labelSelector, labelsAt),
    ...errorsOf(labelSelector?.requirements ?? [], (requirement, index) =>
      labelRequirementErrors(requirement, labelsAt.child('requirements').index(index)),
    ),
  ]
}

function formErrors(selector: FieldSelectorAttributes | LabelSelectorAttributes | undefined, at: FieldPath) {
  if (selector === undefined) return []
  const { rawSelector = '', requirements = [] } = selector
  if (rawSelector !== '' && requirements.length > 0)
    return [invalidValue(at.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements')]
  if (rawSelector !== '' || requirements.length > 0) return []
  return [required(at.child('requirements'), `when ${at} is specified, requirements or rawSelector is required`)]
}

const metadataErrors = (metadata: ObjectMeta): FieldError[] =>
  isEmpty(metadata, []) ? [] : [invalidValue(path('metadata'), metadataJson(metadata), 'must be empty')]

const localMetadataErrors = (metadata: ObjectMeta): FieldError[] =>
  isEmpty(metadata, ['namespace'])
    ? []
    : [invalidValue(path('metadata'), metadataJson(metadata), 'must be empty except for namespace')]

const isEmpty = (metadata: ObjectMeta, but: readonly string[]): boolean =>
  Object.entries(metadata).every(
    // few: names that callers write down
    ([name, value]) => name === 'managedFields' || but.includes(name) || value === undefined || value === '',
  )

function localErrors({ resourceAttributes, nonResourceAttributes }: SubjectAccessReviewSpec, namespace: string) {
  const errors: FieldError[] = []
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace)
    errors.push(
      invalidValue(
        SPEC.child('resourceAttributes', 'namespace'),
        resourceAttributes.namespace ?? '',
        'must match metadata.namespace',
      ),
    )
  if (nonResourceAttributes !== undefined) {
    const { path: at = '', verb = '' } = nonResourceAttributes
    errors.push(
      invalidValue(SPEC.child('nonResourceAttributes'), { Path: at, Verb: verb }, 'disallowed on this kind of request'),
    )
  }
  return errors
}
