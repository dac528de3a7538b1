/**
 * The CEL environments for each use of expressions. An environment is created when the first expression of its use is
 * compiled. This module is loaded with the first expression of any use.
 */
import { lazy } from '../base/lazy.ts'
import type { Library, VariableDeclaration } from '../cel/declarations.ts'
import { Environment } from '../cel/environment.ts'
import { bindings } from '../cel/library/bindings.ts'
import { extendedLists, kubernetesLists } from '../cel/library/lists.ts'
import { optionals } from '../cel/library/optional.ts'
import { regex } from '../cel/library/regex.ts'
import { sets } from '../cel/library/sets.ts'
import { standardLibrary } from '../cel/library/standard.ts'
import { strings } from '../cel/library/strings.ts'
import { twoVariableFolds } from '../cel/library/two-variable-folds.ts'
import type { Type, TypeProvider } from '../cel/checker/type.ts'
import { ANY, DYN, listOf, mapOf, optionalOf, STRING, structNamed } from '../cel/checker/type.ts'
import { ADMISSION_REQUEST, admissionTypes, NAMESPACE, recordTypes } from './admission-types.ts'
import { AUTHORIZER, authorizer, RESOURCE_CHECK } from './library/authorizer.ts'
import { cidr } from './library/cidr.ts'
import { equality } from './library/equality.ts'
import { format } from './library/format.ts'
import { includes } from './library/includes.ts'
import { ip } from './library/ip.ts'
import { jsonPatch } from './library/json-patch.ts'
import { quantity } from './library/quantity.ts'
import { semver } from './library/semver.ts'
import { url } from './library/url.ts'
import { mutationTypes } from './mutation-types.ts'
import type { DeclaredType } from './schema-types.ts'
import { typesOf } from './schema-types.ts'

/** The cost limit of one evaluation. */
export const PER_CALL_LIMIT = 1_000_000
/** The cost limit of all rules of a custom resource, or of all expressions of a policy binding. */
export const RUNTIME_BUDGET = 10_000_000
/** The cost limit of all match conditions of a webhook or a policy. */
export const MATCH_CONDITIONS_BUDGET = 2_500_000

/** The libraries that kube-apiserver 1.36 gives to every expression. */
export const baseEnvironment = lazy(() =>
  Environment.empty.extend({
    libraries: [
      standardLibrary,
      equality,
      url,
      regex,
      kubernetesLists,
      authorizer,
      optionals,
      quantity,
      strings,
      sets,
      ip,
      cidr,
      format,
      twoVariableFolds,
      semver,
      extendedLists,
    ],
    optionalSyntax: true,
  }),
)

const variable = (name: string, type: Type): VariableDeclaration => ({ name, type })

/**
 * The environment of a custom resource's rules and message expressions.
 * @param optionalOldSelf the field of the rule
 */
export const ruleEnvironment = ({ type, provider }: DeclaredType, optionalOldSelf: boolean): Environment =>
  baseEnvironment().extend({
    variables: [variable('self', type), variable('oldSelf', optionalOldSelf ? optionalOf(type) : type)],
    types: provider,
  })

export interface AdmissionVariables {
  /** Whether there is a variable `params`. Webhooks and policies without paramKind have none. */
  readonly params?: boolean
  /** Whether there is an `authorizer`. In kube-apiserver's type checking it has no requestResource. */
  readonly authorizer?: boolean | 'without requestResource'
  /** Whether the expressions belong to a mutating policy. */
  readonly mutation?: boolean
  /** The declared types of `object`, `oldObject` and `params`, if known. Only type checking uses them. */
  readonly objectType?: DeclaredType | undefined
  readonly paramsType?: DeclaredType | undefined
  /**
   * The variables that the policy has declared so far. The array grows, and later expressions see the new variables.
   */
  readonly variables?: readonly VariableDeclaration[]
}

/** The environment of admission policies' expressions and of match conditions. */
export function admissionEnvironment(asked: AdmissionVariables): Environment {
  const object = asked.objectType?.type ?? DYN
  const composed = asked.variables && variablesTypes(asked.variables)
  const providers = [
    admissionTypes,
    ...(asked.mutation === true ? [mutationTypes] : []),
    ...(composed === undefined ? [] : [composed]),
    ...[asked.objectType, asked.paramsType].flatMap((declared) => (declared === undefined ? [] : [declared.provider])),
  ]
  return baseEnvironment().extend({
    libraries: asked.mutation === true ? [jsonPatch] : [],
    variables: [
      variable('object', object),
      variable('oldObject', object),
      variable('namespaceObject', NAMESPACE),
      variable('request', ADMISSION_REQUEST),
      ...(asked.params === true ? [variable('params', asked.paramsType?.type ?? DYN)] : []),
      ...(asked.authorizer ? [variable('authorizer', AUTHORIZER)] : []),
      ...(asked.authorizer === true ? [variable('authorizer.requestResource', RESOURCE_CHECK)] : []),
      ...(composed === undefined ? [] : [variable('variables', structNamed(VARIABLES))]),
    ],
    types: typesOf(...providers),
  })
}

const VARIABLES = 'kubernetes.variables'

const variablesTypes = (variables: readonly VariableDeclaration[]): TypeProvider => ({
  findStruct: (name) => (name === VARIABLES ? structNamed(VARIABLES) : undefined),
  // the last of two variables with the same name wins
  findField: (_struct, field) => variables.findLast(({ name }) => name === field)?.type,
  fieldNames: () => variables.map(({ name }) => name),
})

const DEVICE = structNamed('kubernetes.DRADevice')

/** The environment of device selectors. */
export const deviceEnvironment = lazy(() => environmentOfDevices(ANY, []))

/** The same with the feature DRAListTypeAttributes. */
export const deviceEnvironmentWithLists = lazy(() => environmentOfDevices(DYN, [includes]))

const environmentOfDevices = (attribute: Type, libraries: readonly Library[]) =>
  baseEnvironment().extend({
    libraries: [bindings, ...libraries],
    variables: [variable('device', DEVICE)],
    types: recordTypes({
      'kubernetes.DRADevice': {
        driver: STRING,
        // the type of an attribute is known only at run time
        attributes: mapOf(STRING, mapOf(STRING, attribute)),
        capacity: mapOf(STRING, mapOf(STRING, structNamed('kubernetes.Quantity'))),
        allowMultipleAllocations: { kind: 'bool' },
      },
    }),
  })

/** The environment of authentication expressions about the claims of a token. */
export const claimsEnvironment = lazy(() =>
  baseEnvironment().extend({ variables: [variable('claims', mapOf(STRING, ANY))] }),
)

/** The environment of authentication expressions about the user to which the claims were mapped. */
export const userEnvironment = lazy(() =>
  baseEnvironment().extend({ variables: [variable('user', ADMISSION_USER)], types: admissionTypes }),
)
const ADMISSION_USER = structNamed('kubernetes.UserInfo')

/** The environment of match conditions of authorization webhooks. */
export const accessReviewEnvironment = lazy(() =>
  baseEnvironment().extend({
    variables: [variable('request', structNamed('kubernetes.SubjectAccessReviewSpec'))],
    types: accessReviewTypes,
  }),
)

const STRINGS = listOf(STRING)
const selector = { rawSelector: STRING, requirements: listOf(structNamed('kubernetes.SelectorRequirement')) }
const accessReviewTypes = recordTypes({
  'kubernetes.SubjectAccessReviewSpec': {
    resourceAttributes: structNamed('kubernetes.ResourceAttributes'),
    nonResourceAttributes: structNamed('kubernetes.NonResourceAttributes'),
    user: STRING,
    groups: STRINGS,
    extra: mapOf(STRING, STRINGS),
    uid: STRING,
  },
  'kubernetes.ResourceAttributes': {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
    fieldSelector: structNamed('kubernetes.FieldSelectorAttributes'),
    labelSelector: structNamed('kubernetes.LabelSelectorAttributes'),
  },
  'kubernetes.FieldSelectorAttributes': selector,
  'kubernetes.LabelSelectorAttributes': selector,
  'kubernetes.SelectorRequirement': { key: STRING, operator: STRING, values: STRINGS },
  'kubernetes.NonResourceAttributes': { path: STRING, verb: STRING },
})
