import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import { append } from '../../base/append.ts'
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '../../api/flowcontrol/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { problems, requiredText, validateSubdomain } from '../../validation/field-rules.ts'
import { dns1123Label } from '../../validation/names.ts'
import { sameValue } from '../../validation/same-value.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { flowSchemaPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { conditionErrors, conditionsAlone } from './conditions.ts'
import { EXEMPT, mandatoryFlowSchemas } from './mandatory-objects.ts'
import { work } from '../work/work.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const SPEC_TYPE = 'io.k8s.api.flowcontrol.v1.FlowSchemaSpec'
const MAX_PRECEDENCE = 10_000
const ALL = '*'

export const flowSchemas: BuiltInDefinition<FlowSchema & KubeObject> = {
  printer: flowSchemaPrinter,
  work: ({ object }) => [
    ...(object === undefined ? [] : work('flow-schema-status', '')),
    ...work('flow-object-written', ''),
  ],
  hasGeneration: true,
  resetFields: { status: withoutSpecAndMetadata },
  validate: flowSchemaErrors,
  validateUpdate: flowSchemaErrors,
  metadataOnUpdate: 'as new',
  subresources: { status: conditionsAlone },
}

function flowSchemaErrors({ metadata: { name = '' }, spec = {}, status }: FlowSchema & KubeObject): FieldError[] {
  const at = path('spec')
  const errors = specErrors(name, spec, at)
  const fixed = mandatoryFlowSchemas.get(name)
  if (fixed !== undefined && !sameValue(SPEC_TYPE, spec, fixed))
    errors.push(invalidValue(at, internalJson(SPEC_TYPE, spec), `spec of '${name}' must equal the fixed value`))
  return [...errors, ...conditionErrors(status?.conditions)]
}

function specErrors(name: string, spec: FlowSchemaSpec, at: FieldPath): FieldError[] {
  const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules = [] } = spec
  const errors: FieldError[] = []
  const wrongPrecedence = (why: string) =>
    errors.push(invalidValue(at.child('matchingPrecedence'), matchingPrecedence, why))
  if (matchingPrecedence <= 0) wrongPrecedence('must be a positive value')
  if (matchingPrecedence > MAX_PRECEDENCE) wrongPrecedence(`must not be greater than ${MAX_PRECEDENCE}`)
  if (matchingPrecedence === 1 && name !== EXEMPT)
    wrongPrecedence(`only the schema named '${EXEMPT}' may have matchingPrecedence 1`)
  const methods = ['ByNamespace', 'ByUser']
  const method = distinguisherMethod?.type ?? ''
  if (distinguisherMethod !== undefined && !methods.includes(method))
    errors.push(notSupported(at.child('distinguisherMethod', 'type'), { Type: method }, methods))
  const level = priorityLevelConfiguration?.name ?? ''
  const levelAt = at.child('priorityLevelConfiguration', 'name')
  append(
    errors,
    level === '' ? [required(levelAt, 'must reference a priority level')] : validateSubdomain(levelAt, level),
  )
  return [...errors, ...errorsOf(rules, (rule, index) => ruleErrors(rule, at.child('rules').index(index)))]
}

function ruleErrors(rule: PolicyRulesWithSubjects, at: FieldPath): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule
  const errors =
    subjects.length === 0
      ? [required(at.child('subjects'), 'subjects must contain at least one value')]
      : errorsOf(subjects, (subject, index) => subjectErrors(subject, at.child('subjects').index(index)))
  if (resourceRules.length === 0 && nonResourceRules.length === 0)
    errors.push(required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  return [
    ...errors,
    ...errorsOf(resourceRules, (one, index) => resourceRuleErrors(one, at.child('resourceRules').index(index))),
    ...errorsOf(nonResourceRules, (one, index) =>
      nonResourceRuleErrors(one, at.child('nonResourceRules').index(index)),
    ),
  ]
}

type SubjectField = 'serviceAccount' | 'user' | 'group'
const kindOfField: Readonly<Record<SubjectField, string>> = {
  serviceAccount: 'ServiceAccount',
  user: 'User',
  group: 'Group',
}
// kube-apiserver reports the fields of the other kinds in this order
const fieldsOfKind: ReadonlyMap<string, readonly [own: SubjectField, ...others: SubjectField[]]> = new Map([
  ['Group', ['group', 'serviceAccount', 'user']],
  ['ServiceAccount', ['serviceAccount', 'user', 'group']],
  ['User', ['user', 'serviceAccount', 'group']],
])

function subjectErrors(subject: Subject, at: FieldPath): FieldError[] {
  const { kind = '' } = subject
  const fields = fieldsOfKind.get(kind)
  if (fields === undefined) return [notSupported(at.child('kind'), kind, [...fieldsOfKind.keys()])]
  const [own, ...others] = fields
  const value = subject[own]
  const errors =
    value === undefined
      ? [required(at.child(own), `${own} is required when subject kind is '${kind}'`)]
      : own === 'serviceAccount'
        ? serviceAccountErrors(value, at.child(own))
        : requiredText(at.child(own, 'name'), value.name)
  const misplaced = others
    .filter((other) => subject[other] !== undefined)
    .map((other) =>
      forbiddenField(at.child(other), `${other} is forbidden when subject kind is not '${kindOfField[other]}'`),
    )
  return [...errors, ...misplaced]
}

function serviceAccountErrors({ name = '', namespace = '' }: ServiceAccountSubject, at: FieldPath): FieldError[] {
  const nameAt = at.child('name')
  const namespaceAt = at.child('namespace')
  return [
    ...(name === '' ? [required(nameAt)] : name === ALL ? [] : validateSubdomain(nameAt, name)),
    ...(namespace === ''
      ? [required(namespaceAt, 'must specify namespace for service account')]
      : problems(namespaceAt, namespace, dns1123Label(namespace))),
  ]
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']

function verbErrors(verbs: readonly string[], at: FieldPath): FieldError[] {
  if (verbs.length === 0) return [required(at, 'verbs must contain at least one value')]
  if (verbs.includes(ALL)) return notAlone(verbs, at, 'verbs')
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(at, verbs, VERBS)]
}

/** @param what plural noun for the values, for the message */
const notAlone = (values: readonly string[], at: FieldPath, what: string): FieldError[] =>
  values.length > 1 && values.includes(ALL)
    ? [invalidValue(at, values, `if '*' is present, must not specify other ${what}`)]
    : []

function resourceRuleErrors(rule: ResourcePolicyRule, at: FieldPath): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], clusterScope = false, namespaces = [] } = rule
  return [
    ...verbErrors(verbs, at.child('verbs')),
    ...(apiGroups.length === 0
      ? [required(at.child('apiGroups'), 'resource rules must supply at least one api group')]
      : notAlone(apiGroups, at.child('apiGroups'), 'api groups')),
    ...(resources.length === 0
      ? [required(at.child('resources'), 'resource rules must supply at least one resource')]
      : notAlone(resources, at.child('resources'), 'resources')),
    ...namespaceErrors(namespaces, clusterScope, at.child('namespaces')),
  ]
}

function namespaceErrors(namespaces: readonly string[], clusterScope: boolean, at: FieldPath): FieldError[] {
  if (namespaces.length === 0 && !clusterScope)
    return [required(at, 'resource rules that are not cluster scoped must supply at least one namespace')]
  if (namespaces.includes(ALL)) return notAlone(namespaces, at, 'namespaces')
  const why = "each member of this list must be '*' or a DNS-1123 label; "
  return errorsOf(namespaces, (namespace, index) =>
    problems(
      at.index(index),
      namespace,
      dns1123Label(namespace).map((text) => why + text),
    ),
  )
}

function nonResourceRuleErrors(
  { verbs = [], nonResourceURLs = [] }: NonResourcePolicyRule,
  at: FieldPath,
): FieldError[] {
  const urlsAt = at.child('nonResourceURLs')
  const errors = verbErrors(verbs, at.child('verbs'))
  if (nonResourceURLs.length === 0) errors.push(required(urlsAt, 'nonResourceURLs must contain at least one value'))
  else if (nonResourceURLs.includes(ALL)) append(errors, notAlone(nonResourceURLs, urlsAt, 'non-resource URLs'))
  else
    append(
      errors,
      errorsOf(nonResourceURLs, (url, index) => {
        const errors: FieldError[] = []
        const problem = urlProblem(url)
        if (problem !== undefined) errors.push(invalidValue(urlsAt.index(index), url, problem))
        return errors
      }),
    )
  return errors
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const star = url.indexOf(ALL)
  return star < 0 || (star === url.length - 1 && url.endsWith('/*'))
    ? undefined
    : 'wildcard can only do suffix matching'
}
