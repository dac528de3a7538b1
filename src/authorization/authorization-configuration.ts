/** AuthorizationConfiguration of apiserver.config.k8s.io: the authorizers in their order, and its validation. */
import * as z from 'zod/mini'
import type { FieldError, FieldPath } from '../api/field.ts'
import {
  duplicate,
  internalFieldError,
  invalidValue,
  messageOf,
  notSupported,
  path,
  required,
  tooMany,
} from '../api/field.ts'
import type { CompileExpression, Expression } from '../authentication/expression.ts'
import { BadConfiguration, listOf, readConfiguration, structOf, text } from '../authentication/configuration-text.ts'
import { formatDuration, parseDuration } from '../schema/time.ts'
import { dns1123Subdomain } from '../validation/names.ts'

const yes = z.pipe(
  z.optional(z.nullable(z.boolean())),
  z.transform((value: boolean | null | undefined): boolean => value ?? true),
)

/** Nanoseconds; 0 for none. An empty text is no duration, and null is one. */
const duration = z.pipe(
  z.optional(z.nullable(z.string())),
  z.transform((value: string | null | undefined, context): bigint => {
    try {
      return value === undefined ? 0n : parseDuration(value ?? '')
    } catch (error) {
      context.issues.push({ code: 'custom', message: error instanceof Error ? error.message : '', input: value })
      return z.NEVER
    }
  }),
)

const webhook = z.strictObject({
  authorizedTTL: duration,
  cacheAuthorizedRequests: yes,
  unauthorizedTTL: duration,
  cacheUnauthorizedRequests: yes,
  timeout: duration,
  subjectAccessReviewVersion: text,
  matchConditionSubjectAccessReviewVersion: text,
  failurePolicy: text,
  connectionInfo: structOf({ type: text, kubeConfigFile: z.optional(z.nullable(z.string())) }),
  matchConditions: listOf(structOf({ expression: text })),
})

const schema = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  authorizers: listOf(structOf({ type: text, name: text, webhook: z.optional(z.nullable(webhook)) })),
})

const TYPE = {
  kind: 'AuthorizationConfiguration',
  versions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`),
  schema,
}

export type AuthorizationConfiguration = Pick<z.infer<typeof schema>, 'authorizers'>
export type AuthorizerConfiguration = AuthorizationConfiguration['authorizers'][number]
export type WebhookConfiguration = NonNullable<AuthorizerConfiguration['webhook']>

/** Nanoseconds. */
const SECOND = 1_000_000_000n
const MAX_TIMEOUT = 30n * SECOND
const MAX_CONDITIONS = 64

/** The match conditions of webhooks, by the index of their authorizer. */
export type MatchConditions = ReadonlyMap<number, readonly Expression[]>

/** @throws BadConfiguration with kube-apiserver's text */
export async function readAuthorizationConfiguration(
  configuration: string,
  compile: CompileExpression,
): Promise<{ readonly authorizers: readonly AuthorizerConfiguration[]; readonly conditions: MatchConditions }> {
  let read: AuthorizationConfiguration
  try {
    // an empty file is a configuration without authorizers
    read = configuration === '' ? { authorizers: [] } : await readConfiguration(configuration, TYPE)
  } catch (error) {
    if (!(error instanceof BadConfiguration)) throw error
    throw new BadConfiguration(`failed to load AuthorizationConfiguration from file: ${error.message}`)
  }
  const conditions = new Map<number, Expression[]>()
  const errors = authorizerErrors(read.authorizers, conditions, compile)
  if (errors.length > 0) throw new BadConfiguration(messageOf(errors))
  const names = read.authorizers.flatMap(({ type, name }) =>
    type === 'Webhook' || name === type.toLowerCase()
      ? []
      : [`expected name ${type.toLowerCase()} for authorizer ${type} instead of ${name}`],
  )
  if (names.length > 0) throw new BadConfiguration(names.length === 1 ? names[0]! : `[${names.join(', ')}]`)
  return { authorizers: read.authorizers, conditions }
}

const TYPES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']

function authorizerErrors(
  authorizers: readonly AuthorizerConfiguration[],
  conditions: Map<number, Expression[]>,
  compile: CompileExpression,
): FieldError[] {
  const root = path('authorizers')
  const errors: FieldError[] = []
  if (authorizers.length === 0) errors.push(required(root, 'at least one authorization mode must be defined'))
  const [types, names] = [new Set<string>(), new Set<string>()]
  for (const [index, { type, name, webhook: of }] of authorizers.entries()) {
    const at = root.index(index)
    if (type === '') errors.push(required(at.child('type')))
    else if (!TYPES.includes(type)) errors.push(notSupported(at.child('type'), type, TYPES))
    else if (types.has(type) && type !== 'Webhook') errors.push(duplicate(at.child('type'), type))
    else {
      types.add(type)
      const problems = name === '' ? [] : dns1123Subdomain(name)
      if (name === '') errors.push(required(at.child('name')))
      else if (names.has(name)) errors.push(duplicate(at.child('name'), name))
      else if (problems.length > 0)
        errors.push(invalidValue(at.child('name'), name, `authorizer name is invalid: ${problems.join(', ')}`))
      names.add(name)
      if (type === 'Webhook') {
        if (of === undefined || of === null) errors.push(required(at.child('webhook'), 'required when type=Webhook'))
        else {
          const compiled: Expression[] = []
          for (const error of [...webhookErrors(of, at), ...conditionErrors(of, at, compiled, compile)])
            errors.push(error)
          conditions.set(index, compiled)
        }
      } else if (of !== undefined && of !== null)
        errors.push(invalidValue(at.child('webhook'), 'non-null', 'may only be specified when type=Webhook'))
    }
  }
  return errors
}

function webhookErrors(of: WebhookConfiguration, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const timeoutAt = at.child('timeout')
  if (of.timeout === 0n) errors.push(required(timeoutAt))
  else if (of.timeout > MAX_TIMEOUT || of.timeout < 0n)
    errors.push(invalidValue(timeoutAt, formatDuration(of.timeout), 'must be > 0s and <= 30s'))
  for (const name of ['authorizedTTL', 'unauthorizedTTL'] as const)
    if (of[name] < 0n) errors.push(invalidValue(at.child(name), formatDuration(of[name]), 'must be > 0s'))
  const version = of.subjectAccessReviewVersion
  if (version === '') errors.push(required(at.child('subjectAccessReviewVersion')))
  else if (version !== 'v1' && version !== 'v1beta1')
    errors.push(notSupported(at.child('subjectAccessReviewVersion'), version, ['v1', 'v1beta1']))
  const matched = of.matchConditionSubjectAccessReviewVersion
  const matchedAt = at.child('matchConditionSubjectAccessReviewVersion')
  if (matched === '') {
    if (of.matchConditions.length > 0) errors.push(required(matchedAt, 'required if match conditions are specified'))
  } else if (matched !== 'v1') errors.push(notSupported(matchedAt, matched, ['v1']))
  const policy = of.failurePolicy
  if (policy === '') errors.push(required(at.child('failurePolicy')))
  else if (policy !== 'NoOpinion' && policy !== 'Deny')
    errors.push(notSupported(at.child('failurePolicy'), policy, ['NoOpinion', 'Deny']))
  return [...errors, ...connectionErrors(of, at.child('connectionInfo'))]
}

function connectionErrors({ connectionInfo }: WebhookConfiguration, at: FieldPath): FieldError[] {
  const { type, kubeConfigFile: file = null } = connectionInfo
  const fileAt = at.child('kubeConfigFile')
  switch (type) {
    case '':
      return [required(at.child('type'))]
    case 'InClusterConfig':
      return file === null ? [] : [invalidValue(fileAt, file, 'can only be set when type=KubeConfigFile')]
    case 'KubeConfigFile':
      if (file === null || file === '') return [required(fileAt)]
      return file.startsWith('/') ? [] : [invalidValue(fileAt, file, 'must be an absolute path')]
    default:
      // kube-apiserver shows all of Go's struct
      return [
        notSupported(at.child('type'), { Type: type, KubeConfigFile: file }, ['InClusterConfig', 'KubeConfigFile']),
      ]
  }
}

function conditionErrors(
  { matchConditions }: WebhookConfiguration,
  at: FieldPath,
  compiled: Expression[],
  compile: CompileExpression,
): FieldError[] {
  const root = at.child('matchConditions')
  if (matchConditions.length > MAX_CONDITIONS) return [tooMany(root, matchConditions.length, MAX_CONDITIONS)]
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, { expression }] of matchConditions.entries()) {
    const expressionAt = root.index(index).child('expression')
    if (expression.trim() === '') errors.push(required(expressionAt))
    else if (seen.has(expression)) errors.push(duplicate(expressionAt, expression))
    else {
      seen.add(expression)
      const made = compile(expression, 'access review to a bool')
      if (!('problem' in made)) compiled.push(made)
      else
        errors.push(
          made.isInternal
            ? internalFieldError(expressionAt, made.problem)
            : invalidValue(expressionAt, expression, made.problem),
        )
    }
  }
  return errors
}
